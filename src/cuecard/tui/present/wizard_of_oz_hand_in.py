"""Parses what a person who plays the agent types or pastes as the final prediction."""

import re

from cuecard.annotate.authoring.graph_ops import columns_of
from cuecard.annotate.authoring.paste import parse_rows
from cuecard.core.agents.briefing import PublicTask
from cuecard.core.families.common import NOTHING
from cuecard.core.formats.extraction import find_triples
from cuecard.core.i18n import _, ngettext
from cuecard.core.text import normalise, one_line, storable
from cuecard.core.verdicts import (
    AnswerPrediction,
    PredictedTriple,
    TablePrediction,
    TriplesPrediction,
    UnusablePrediction,
)
from cuecard.tui.families import TUI, HandIn

_ARROWS = re.compile(r"\s*(?:-{1,2}>|→|=>|\||·)\s*")
_BULLET = re.compile(r"\A\s*(?:[-*•]|\d{1,4}[.)])\s+")
_ANSWER = re.compile(r"\A\s*(?:final answer|answer|最终答案|答案)\s*[:：]\s*", re.IGNORECASE)
_SHOWN = 3


def read_hand_in(task: PublicTask, text: str) -> HandIn:
    """What `text` hands in. Never raises; slow for very long texts, so call it from a thread."""
    raw = storable(text)
    if not raw.strip():
        return HandIn(UnusablePrediction(reason=NOTHING), _("Nothing yet"))
    return TUI[task.family].read(task, raw)


def answer_typed(task: PublicTask, raw: str) -> HandIn:
    """The final answer that somebody typed."""
    del task
    answer = _ANSWER.sub("", raw).strip()
    lines = [line for line in answer.split("\n") if line.strip()]
    wrong = (_("An answer is one line."),) if len(lines) > 1 else ()
    told = _("Answer: {answer}").format(answer=one_line(answer, 60) or "-")
    return HandIn(AnswerPrediction(answer=answer, raw=raw), told, wrong)


def triples_typed(task: PublicTask, raw: str) -> HandIn:
    """The triples that somebody typed or pasted."""
    del task
    return _triples(raw)


def _triples(raw: str) -> HandIn:
    found, bad = _rows_of_triples(raw)
    kept: dict[tuple[str, ...], PredictedTriple] = {}
    twice = 0
    for head, relation, tail in found:
        triple = PredictedTriple(head=head, relation=relation, tail=tail)
        key = (normalise(head), normalise(relation), normalise(tail))
        twice += key in kept
        kept.setdefault(key, triple)
    told = ngettext("{n} triple", "{n} triples", len(kept)).format(n=len(kept))
    problems = list(_unread(bad))
    if twice:
        text = ngettext("{n} stands twice and counts once", "{n} stand twice and count once", twice)
        problems.append(text.format(n=twice))
    if not kept:
        return HandIn(UnusablePrediction(reason=NOTHING, raw=raw), told, tuple(problems))
    return HandIn(TriplesPrediction(triples=tuple(kept.values()), raw=raw), told, tuple(problems))


def _rows_of_triples(raw: str) -> tuple[list[tuple[str, str, str]], list[str]]:
    """The triples, and lines that are none."""
    if raw.lstrip()[:1] in "[{`" and (triples := find_triples(raw)):
        return triples, []
    lines = [_BULLET.sub("", line).strip() for line in raw.split("\n")]
    lines = [line for line in lines if line]
    by_arrow = [_arrowed(line) for line in lines]
    if sum(row is not None for row in by_arrow) * 2 >= len(lines) and raw.lstrip()[:1] != "|":
        bad = [line for line, row in zip(lines, by_arrow, strict=True) if row is None]
        return [row for row in by_arrow if row], bad
    pasted = parse_rows("\n".join(lines), ("head", "relation", "tail"))
    columns = columns_of(pasted.header, pasted.rows)
    parts = [
        columns.index(name) if name in columns else -1 for name in ("head", "relation", "tail")
    ]
    found: list[tuple[str, str, str]] = []
    bad: list[str] = []
    for row in pasted.rows:
        head, relation, tail = (row[at].strip() if 0 <= at < len(row) else "" for at in parts)
        if head and relation and tail:
            found.append((head, relation, tail))
        else:
            bad.append(" ".join(row))
    return found, bad


def _arrowed(line: str) -> tuple[str, str, str] | None:
    """`head -> relation -> tail`, `head | relation | tail` or `(head, relation, tail)`."""
    inner = line.strip("()（）") if line[:1] in "(（" and line[-1:] in ")）" else ""
    for cells in (_ARROWS.split(line), re.split(r"\s*[,，]\s*", inner) if inner else []):
        if len(cells) == 3 and all(cells):
            return cells[0], cells[1], cells[2]
    return None


def table_typed(task: PublicTask, raw: str) -> HandIn:
    pasted = parse_rows(raw, task.columns)
    problems = list(pasted.problems)
    header = pasted.header
    rows = pasted.rows
    if header is None and task.columns and pasted.width == len(task.columns):
        header = task.columns
        names = ", ".join(task.columns)
        problems.append(_("No line names the columns; taken as {names}.").format(names=names))
    elif header is None and len(rows) > 1:
        header, rows = rows[0], rows[1:]
        problems.append(_("Its first line is taken as the names of the columns."))
    n = len(rows)
    told = ngettext("a table of {n} row", "a table of {n} rows", n).format(n=n)
    if header is None:
        problems.append(_("A table needs a line that names its columns."))
        return HandIn(UnusablePrediction(reason=NOTHING, raw=raw), told, tuple(problems))
    known = {normalise(name) for name in header}
    if missing := [name for name in task.columns if normalise(name) not in known]:
        names = ", ".join(missing)
        problems.append(
            _("These columns were named and are not there: {names}").format(names=names)
        )
    told += " · " + ", ".join(one_line(name, 20) for name in header)
    return HandIn(TablePrediction(columns=header, rows=rows, raw=raw), told, tuple(problems))


def _unread(lines: list[str]) -> list[str]:
    if not lines:
        return []
    shown = "; ".join(f"“{one_line(line, 40)}”" for line in lines[:_SHOWN])
    text = ngettext(
        "{n} line is no triple: {shown}", "{n} lines are no triples: {shown}", len(lines)
    )
    return [text.format(n=len(lines), shown=shown)]
