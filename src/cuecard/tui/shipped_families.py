"""What the screens know of the four families that ship with us, and how what a person types or pastes as the final
prediction is parsed.
"""

import re

from cuecard.annotate.authoring.graph_ops import columns_of
from cuecard.annotate.authoring.paste import parse_rows
from cuecard.core.agents.briefing import PublicTask
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.families.common import NOTHING
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.families.graph.gold import Graph
from cuecard.core.families.table.gold import Table
from cuecard.core.formats.extraction import find_triples
from cuecard.core.i18n import N_, _, listed, ngettext, plural
from cuecard.core.predictions import (
    AnswerPrediction,
    PredictedTriple,
    TablePrediction,
    TriplesPrediction,
    UnusablePrediction,
)
from cuecard.core.text import normalise, one_line
from cuecard.tui.families import HandIn, TuiFamily, each_by
from cuecard.tui.present.independent_gold import (
    chain_side,
    given_columns,
    graph_versions,
    table_versions,
    world_side,
)
from cuecard.tui.present.tasks import chain_elements, graph_elements, table_elements, world_elements

_ARROWS = re.compile(r"\s*(?:-{1,2}>|→|=>|\||·)\s*")
_BULLET = re.compile(r"\A\s*(?:[-*•]|\d{1,4}[.)])\s+")
_ANSWER = re.compile(r"\A\s*(?:final answer|answer|最终答案|答案)\s*[:：]\s*", re.IGNORECASE)
_SHOWN = 3


def answer_typed(_task: PublicTask, raw: str) -> HandIn:
    """The final answer that somebody typed."""
    answer = _ANSWER.sub("", raw).strip()
    lines = [line for line in answer.split("\n") if line.strip()]
    wrong = (_("An answer is one line."),) if len(lines) > 1 else ()
    told = _("Answer: {answer}").format(answer=one_line(answer, 60) or "-")
    return HandIn(AnswerPrediction(answer=answer, raw=raw), told, wrong)


def triples_typed(_task: PublicTask, raw: str) -> HandIn:
    """The triples that somebody typed or pasted."""
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
        names = listed(task.columns)
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
        names = listed(missing)
        problems.append(
            _("These columns were named and are not there: {names}").format(names=names)
        )
    told += " · " + listed(one_line(name, 20) for name in header)
    return HandIn(TablePrediction(columns=header, rows=rows, raw=raw), told, tuple(problems))


def _unread(lines: list[str]) -> list[str]:
    if not lines:
        return []
    shown = _("; ").join(f"“{one_line(line, 40)}”" for line in lines[:_SHOWN])
    text = ngettext(
        "{n} line is no triple: {shown}", "{n} lines are no triples: {shown}", len(lines)
    )
    return [text.format(n=len(lines), shown=shown)]


def _graph_counts(gold: Graph) -> list[str]:
    triples = ngettext("{n} triple", "{n} triples", len(gold.triples))
    nodes = ngettext("{n} node", "{n} nodes", len(gold.node_ids))
    return [triples.format(n=len(gold.triples)), nodes.format(n=len(gold.node_ids))]


def _graph_values(gold: Graph) -> dict[str, str]:
    return {f"triple/{index}": line for index, line in enumerate(gold.lines)}


GRAPH = TuiFamily(
    badge=("◆", "family-graph", N_("graph")),
    about=N_("graph: triples, disclosed in stages"),
    counts=_graph_counts,
    gold=graph_elements,
    tabs=("graph", "nodes"),
    first_tab=("triples",),
    asked=N_(
        "{user} wants to find something out and says more of it as you talk. Look things up, tell what you found, and ask back where a detail is missing."
    ),
    ends=N_("At the end you hand in all facts that belong to it as triples: head, relation, tail."),
    hint=N_("One triple a line: head | relation | tail. Pasted CSV, tables or JSON will do."),
    read=triples_typed,
    build=N_("Find all triples that a complete answer has, with their sources, and type them."),
    versions=graph_versions,
    values=_graph_values,
)


def _table_counts(gold: Table) -> list[str]:
    rows = ngettext("{n} row", "{n} rows", len(gold.rows))
    return [rows.format(n=len(gold.rows)), plural("{n} column", "{n} columns", len(gold.columns))]


TABLE = TuiFamily(
    badge=("▦", "family-table", N_("table")),
    about=N_("table: rows and columns"),
    counts=_table_counts,
    gold=table_elements,
    tabs=("table", "columns"),
    first_tab=("rows",),
    asked=N_(
        "{user} wants a table and says more of what is to be in it as you talk. Look things up, tell what you found, and ask back where a detail is missing."
    ),
    ends=N_("At the end you hand in one table with exactly the columns that were asked for."),
    hint=N_(
        "Paste or type a table: a line of column names, then the rows. CSV, Markdown or cells of a spreadsheet."
    ),
    read=table_typed,
    build=N_("Find all rows that a complete answer has, and type them into the given columns."),
    given=given_columns,
    versions=table_versions,
    values=lambda gold: {},
)


def _chain_counts(gold: CheckpointChain) -> list[str]:
    ambiguous = sum(step.ambiguity is not None for step in gold.steps)
    steps = ngettext("{n} checkpoint", "{n} checkpoints", len(gold.steps))
    return [steps.format(n=len(gold.steps)), _("{n} ambiguous").format(n=ambiguous)]


CHECKPOINTS = TuiFamily(
    badge=("≡", "family-checkpoints", N_("checkpoints")),
    about=N_("checkpoints: ambiguous sub-questions"),
    counts=_chain_counts,
    gold=chain_elements,
    tabs=("steps", "chain"),
    first_tab=("steps",),
    asked=N_(
        "{user} leads you through a chain of questions; each answer is needed for the next. End every turn with the answer to the present question, or with a question of your own where it can mean several things."
    ),
    ends=N_("At the end you hand in the answer to the last question."),
    hint=N_("The answer to the last question, in a few words."),
    read=answer_typed,
    build=N_("Find the steps that lead to the answer, with their targets, and the answer."),
    versions=each_by(chain_side),
    values=lambda gold: {},
)


def _world_counts(gold: FactWorld) -> list[str]:
    rules = sum(fact.kind.value == "rule" for fact in gold.facts)
    parts = [plural("{n} fact", "{n} facts", len(gold.facts))]
    if rules:
        parts.append(ngettext("{n} rule", "{n} rules", rules).format(n=rules))
    return parts


def _world_values(gold: FactWorld) -> dict[str, str]:
    return {fact.key: f"{fact.value} {fact.unit}".strip() for fact in gold.facts}


FACTS = TuiFamily(
    badge=("◎", "family-facts", N_("facts")),
    about=N_("facts: a closed world and one answer"),
    counts=_world_counts,
    gold=world_elements,
    tabs=("facts", "answer"),
    first_tab=("facts",),
    asked=N_(
        "{user} asks something that must be worked out from several facts. Look them up one by one: this world may differ from the one you know."
    ),
    ends=N_("At the end you hand in the answer alone."),
    hint=N_("The answer alone."),
    read=answer_typed,
    build=N_("The facts of this world are given. Find the answer, and say how it follows."),
    versions=each_by(world_side),
    values=_world_values,
)
