"""The world's hit log beside a transcript."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from cuecard.core.i18n import _, ngettext
from cuecard.core.tasks import FactWorld, Graph, Task
from cuecard.core.text import one_line
from cuecard.results.trial.hit_log import HitEntry, HitLog
from cuecard.tui.state.entries import Paragraph, Piece
from cuecard.tui.state.trial_lines import PaneLine, PaneText, work_entry


def hits_text(task: Task, log: HitLog) -> PaneText:
    if not log.entries:
        return PaneText(_("The agent called no tool."))
    values = _values(task)
    turns = len({entry.turn for entry in log.entries}) > 1
    lines: list[PaneLine] = []
    for turn, group in groupby(log.entries, key=lambda entry: entry.turn):
        entries = list(group)
        if turns:
            lines.append(_heading(turn, entries))
        lines += [_line(log, entry, values) for entry in entries]
    return PaneText(_note(log), lines)


def _values(task: Task) -> dict[str, str]:
    """What stands behind a key that worlds log: a fact's value, a gold triple."""
    match task.gold:
        case FactWorld(facts=facts):
            return {fact.key: f"{fact.value} {fact.unit}".strip() for fact in facts}
        case Graph() as graph:
            named = enumerate(map(graph.named, graph.triples))
            return {f"triple/{index}": " — ".join(names) for index, names in named}
        case _:
            return {}


def _name(key: str) -> str:
    """A fact's own key; numbers of gold triples, rows and checkpoints as they stand elsewhere, from 1."""
    kind, _slash, rest = key.partition("/")
    number, _slash, more = rest.partition("/")
    if number.isdecimal():
        n = int(number) + 1
        match kind:
            case "triple" if not more:
                return _("triple {n}").format(n=n)
            case "cell" if more:
                return _("row {n}, {column}").format(n=n, column=one_line(more, 40))
            case "checkpoint" if not more:
                return _("step {n}").format(n=n)
            case "checkpoint" if more == "readings":
                return _("step {n}, its readings").format(n=n)
            case _:
                pass
    return one_line(key, 60)


def _heading(turn: int, entries: Sequence[HitEntry]) -> PaneLine:
    n, hits = len(entries), sum(bool(entry.hit) for entry in entries)
    told = [
        ngettext("{n} tool call", "{n} tool calls", n).format(n=n),
        ngettext("{n} hit", "{n} hits", hits).format(n=hits),
    ]
    head = [
        Piece(_("turn {n}").format(n=turn + 1), "strong"),
        Piece(" · " + " · ".join(told), "muted"),
    ]
    return PaneLine(work_entry(head, turn=turn), seq=entries[0].seq, place=f"turn/{turn}")


def _note(log: HitLog) -> str:
    n = len(log.entries)
    said = [ngettext("{n} tool call", "{n} tool calls", n).format(n=n)]
    if any(entry.hit is not None for entry in log.entries):
        said.append(ngettext("{n} hit", "{n} hits", log.hits).format(n=log.hits))
    else:
        said.append(_("this world keeps no hit log"))
    if log.facts:
        found = _("{n} of {all} facts found (FCR {share})")
        said.append(found.format(n=log.found, all=log.facts, share=f"{log.found / log.facts:.2f}"))
    return " · ".join(said)


def _line(log: HitLog, entry: HitEntry, values: Mapping[str, str]) -> PaneLine:
    mark = "✓" if entry.hit else "✗" if entry.hit is False or not entry.ok else "·"
    tone = "good" if entry.hit else "bad" if mark == "✗" else "muted"
    head = [
        Piece(f"{mark} ", tone),
        Piece(f"{entry.call}. ", "muted"),
        Piece(one_line(entry.query or entry.tool, 160), "plain" if entry.hit else "muted"),
    ]
    if not entry.ok:
        head.append(Piece(" · " + _("refused"), "bad"))
    if entry.compound:
        head.append(Piece(" · " + _("compound"), "bad"))
    for match in entry.matched:
        key = _name(match.key)
        if match.first:
            head.append(Piece(f" · + {key}", "good"))
        else:
            again = _("{key} again") if match.known else _("{key}: no fact of this task")
            head.append(Piece(" · " + again.format(key=key), "muted"))
    share = log.coverage(entry)
    if share is not None and entry.fresh:
        head.append(Piece(f" · {entry.found}/{log.facts} = {share:.2f}", "strong"))
    fold = [Paragraph(_("tool: {name}").format(name=one_line(entry.tool, 60)), "muted", 4)]
    for match in entry.matched:
        value = values.get(match.key, "")
        fold.append(Paragraph(f"{match.key}: {value}" if value else match.key, "good", 4))
    if entry.reason:
        reason = _("the world's reason: {reason}").format(reason=entry.reason)
        fold.append(Paragraph(reason, "muted", 4))
    if share is not None:
        by_then = _("facts found by then: {n} of {all}")
        fold.append(Paragraph(by_then.format(n=entry.found, all=log.facts), "muted", 4))
    entry_ = work_entry(head, *fold, turn=entry.turn)
    return PaneLine(entry_, seq=entry.seq, place=f"event/{entry.seq}")
