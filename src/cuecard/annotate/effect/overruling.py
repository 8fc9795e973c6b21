"""A judgement as it would be if people had decided on the items that they labelled. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cuecard.core.events import Event, UserSpoke
from cuecard.core.parts import CheckpointStatus
from cuecard.core.tasks import Table, Task
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, TableMatch, Verdict

By = Mapping[str, Decision]
"""People's decisions by the item's key."""


def overruled(task: Task, judgement: Judgement, said: By) -> Judgement:
    """The judgement with people's decisions in place of the judge's; what they did not decide stays.

    - A verdict keeps its supporting triples, which count when its gold triple is covered. A triple that
      only people hold for covered and that the judge named no support for adds to recall and not to
      precision, which is then a lower bound.
    - What people say of a predicted triple goes before what follows from support.
    - People who find a cell of a row covered say that the row has a partner; it gets a free one if there
      is any. People who find a key cell not covered, and no other cell covered, say that it has none.
    - A row that people find right has all its cells right. Of a row that they find wrong it is not known
      which cell is wrong: rows and success change, cells do not.
    """
    verdicts = {verdict.item.key: verdict for verdict in judgement.verdicts}
    decided = dict(said)
    if isinstance(task.gold, Table):
        decided = {**_cells_of_rows(task.gold, said), **said}
    for key, decision in decided.items():
        item = Item.of_key(key)
        before = verdicts.get(key)
        verdicts[key] = (
            before.model_copy(update={"decision": decision})
            if before
            else Verdict(item=item, decision=decision)
        )
    table = judgement.table
    if isinstance(task.gold, Table) and table is not None and table.usable:
        table = _rejoined(task.gold, table, decided)
    return judgement.model_copy(update={"verdicts": tuple(verdicts.values()), "table": table})


def reread(events: Sequence[Event], said: Mapping[int, CheckpointStatus]) -> tuple[Event, ...]:
    """The log with people's status of the agent's turn, by the user's turn that carries it, in place of the
    responder's. What was said and done stays.
    """
    return tuple(_with_status(event, said) for event in events)


def _with_status(event: Event, said: Mapping[int, CheckpointStatus]) -> Event:
    body = event.body
    if not isinstance(body, UserSpoke) or body.reply.status is None or body.turn not in said:
        return event
    reply = body.reply.model_copy(update={"status": said[body.turn]})
    return event.model_copy(update={"body": body.model_copy(update={"reply": reply})})


def _cells_of_rows(table: Table, said: By) -> dict[str, Decision]:
    found: dict[str, Decision] = {}
    for key, decision in said.items():
        item = Item.of_key(key)
        if item.kind is ItemKind.ROW and decision is Decision.YES:
            for name in table.column_names:
                cell = Item(kind=ItemKind.CELL, index=item.index, column=name)
                found[cell.key] = Decision.YES
    return found


def _rejoined(table: Table, match: TableMatch, decided: By) -> TableMatch:
    covered: set[int] = set()
    without_key: set[int] = set()
    for key, decision in decided.items():
        item = Item.of_key(key)
        if item.kind is not ItemKind.CELL:
            continue
        if decision is Decision.YES:
            covered.add(item.index)
        elif item.column in table.unique_columns:
            without_key.add(item.index)
    apart = without_key - covered
    joined = [pair for pair in match.joined if pair[0] not in apart]
    free = iter(sorted(set(range(match.predicted_rows)) - {partner for _row, partner in joined}))
    have = {row for row, _partner in joined}
    joined += list(zip(sorted(covered - have), free, strict=False))
    return match.model_copy(update={"joined": tuple(sorted(joined))})
