"""What judges and user parts decided on a trial, item by item, as labellers are to check it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from cuecard.core.engine.events import Event, UserSpoke
from cuecard.core.engine.messages import CheckpointStatus, FlagKind, PlayerRef, UserReply
from cuecard.core.engine.trial import prediction_of
from cuecard.core.families.graph.judge import supporting_triples
from cuecard.core.predictions import Prediction
from cuecard.core.records import first_judge
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement

if TYPE_CHECKING:
    from cuecard.core.archive import Archive

JUDGED = (ItemKind.TRIPLE, ItemKind.CELL, ItemKind.ANSWER)
DERIVED = (ItemKind.ROW, ItemKind.PREDICTED)
OF_USER = (ItemKind.STATUS, ItemKind.CUE, ItemKind.LEAK)


class MachineDecision(Frozen):
    """A decision on one item. `value`: yes, no or unjudged; for a status item, the status. `by`: the judge or the user
    part that decided.
    """

    item: Item
    value: Decision | CheckpointStatus
    by: PlayerRef
    rationale: str = ""


def decisions_of(
    workspace: Archive, trial_id: int, kinds: Collection[ItemKind], judge: str = ""
) -> tuple[MachineDecision, ...]:
    """The decisions on items of these kinds in one trial, by kind and index. Judged items are taken from the newest
    judgement of `judge` ("": of the trial's first, see `first_judge`); without a judgement there are none. Raises
    `NotFound`.
    """
    found: list[MachineDecision] = []
    events: Sequence[Event] = ()
    if set(kinds) & {*OF_USER, ItemKind.PREDICTED}:
        events = workspace.runs.outline(trial_id).events
    if set(kinds) & {*JUDGED, *DERIVED}:
        judgement = _judgement(workspace, trial_id, judge)
        if judgement is not None:
            found += _from_judgement(judgement, prediction_of(events), kinds)
    if set(kinds) & set(OF_USER):
        user = workspace.runs.trial(trial_id).user
        found += (d for d in _from_user(replies_in(events), user) if d.item.kind in kinds)
    order = list(ItemKind)
    return tuple(sorted(found, key=lambda d: (order.index(d.item.kind), d.item.index)))


def decided_items(judgement: Judgement, prediction: Prediction) -> Iterator[Item]:
    """The items that a judgement decides on, with the rows and predicted triples whose decisions follow from it."""
    kinds = {verdict.item.kind for verdict in judgement.verdicts}
    yield from (v.item for v in judgement.verdicts if v.item.kind in JUDGED)
    if ItemKind.CELL in kinds:
        yield from (Item(kind=ItemKind.ROW, index=index) for index, _decision in rows_of(judgement))
    if ItemKind.TRIPLE in kinds:
        yield from map(_predicted, range(len(prediction.lines)))


def turn_items(replies: Iterable[tuple[int, UserReply]]) -> Iterator[Item]:
    """The items (statuses, cues, leaks) that the user part's replies, given with their turns, decide on."""
    for decision in _from_user(replies, PlayerRef(name="", kind="")):
        yield decision.item


def replies_in(events: Sequence[Event]) -> list[tuple[int, UserReply]]:
    """The user part's replies, by turn."""
    return [(e.body.turn, e.body.reply) for e in events if isinstance(e.body, UserSpoke)]


def rows_of(judgement: Judgement) -> Iterator[tuple[int, Decision]]:
    """Gold rows with their decisions: a row is right if all its cells are (WideSearch), unjudged if a cell is unjudged
    and none is wrong.
    """
    cells: dict[int, list[Decision]] = defaultdict(list)
    for verdict in judgement.verdicts:
        if verdict.item.kind is ItemKind.CELL:
            cells[verdict.item.index].append(verdict.decision)
    for index, decisions in sorted(cells.items()):
        if Decision.NO in decisions:
            yield index, Decision.NO
        elif Decision.UNJUDGED in decisions:
            yield index, Decision.UNJUDGED
        else:
            yield index, Decision.YES


@lru_cache(maxsize=8192)
def _predicted(index: int) -> Item:
    return Item(kind=ItemKind.PREDICTED, index=index)


def _judgement(workspace: Archive, trial_id: int, judge: str) -> Judgement | None:
    records = workspace.verdicts.of_trial(trial_id)
    names = dict.fromkeys(record.judgement.judge.name for record in reversed(records))
    name = judge or next(iter(names), "")
    if not judge and len(names) > 1:
        entered = first_judge(workspace.runs.get(workspace.runs.trial(trial_id).run_id).plan)
        name = entered if entered in names else name
    return next((r.judgement for r in records if r.judgement.judge.name == name), None)


def _from_judgement(
    judgement: Judgement, prediction: Prediction, kinds: Collection[ItemKind]
) -> Iterator[MachineDecision]:
    for verdict in judgement.verdicts:
        if verdict.item.kind in kinds:
            yield MachineDecision(
                item=verdict.item,
                value=verdict.decision,
                by=judgement.judge,
                rationale=verdict.rationale,
            )
    if ItemKind.ROW in kinds:
        for index, decision in rows_of(judgement):
            item = Item(kind=ItemKind.ROW, index=index)
            yield MachineDecision(item=item, value=decision, by=judgement.judge)
    of_triples = any(verdict.item.kind is ItemKind.TRIPLE for verdict in judgement.verdicts)
    if ItemKind.PREDICTED in kinds and of_triples:
        count = len(prediction.lines)
        supporting = set(supporting_triples(judgement.verdicts, count))
        unjudged = any(v.decision is Decision.UNJUDGED for v in judgement.verdicts)
        # A triple that supports no judged gold triple may still support an unjudged one.
        otherwise = Decision.UNJUDGED if unjudged else Decision.NO
        for index in range(count):
            yield MachineDecision(
                item=_predicted(index),
                value=Decision.YES if index in supporting else otherwise,
                by=judgement.judge,
            )


def _from_user(
    replies: Iterable[tuple[int, UserReply]], user: PlayerRef
) -> Iterator[MachineDecision]:
    for turn, reply in replies:

        def decided(
            kind: ItemKind, value: Decision | CheckpointStatus, why: str = "", at: int = turn
        ) -> MachineDecision:
            return MachineDecision(
                item=Item(kind=kind, index=at), value=value, by=user, rationale=why
            )

        if reply.status is not None:
            yield decided(ItemKind.STATUS, reply.status, reply.reason)
        if reply.cue_met is not None:
            met = Decision.YES if reply.cue_met else Decision.NO
            yield decided(ItemKind.CUE, met, reply.reason)
        if reply.text.strip():
            leaks = [flag.found for flag in reply.flags if flag.kind is FlagKind.LEAK]
            yield decided(ItemKind.LEAK, Decision.YES if leaks else Decision.NO, ", ".join(leaks))
