"""Trials scored twice: as judged, and with people's decisions in place of the judge's."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from cuecard.annotate.families.registry import ANNOTATE
from cuecard.annotate.labelling.adjudication import majority
from cuecard.core.engine.events import Event, UserSpoke
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.engine.trial import prediction_of
from cuecard.core.evaluation.scores import TrialScores
from cuecard.core.label_records import Adjudication, Label, LabelValue
from cuecard.core.predictions import triples_of
from cuecard.core.records import TrialRecord
from cuecard.core.scoring.trial_score import judged_by_end, rejudged, score_trial
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task
from cuecard.core.text import normalise
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Measure, Verdict

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


_BATCH = 100
ItemId = tuple[int, str]
"""Trial and key of an item."""


class SettledLabel(Frozen):
    """People's decision on an item. `value` None: they cannot tell, or there is a tie. `gold_wrong`: somebody says the
    gold item itself is wrong.
    """

    value: Decision | CheckpointStatus | None
    adjudicated: bool = False
    gold_wrong: bool = False


def settled_labels(
    workspace: Workspace, trial_ids: Collection[int] | None
) -> dict[ItemId, SettledLabel]:
    """People's decisions on every item of these trials, or of all, with a blind label or an adjudication."""
    return settle(
        workspace.verdicts.item_labels(trial_ids), workspace.adjudications.newest(trial_ids)
    )


def settle(
    labels: Iterable[Label], adjudications: Iterable[Adjudication]
) -> dict[ItemId, SettledLabel]:
    """People's decisions: the adjudication if there is one, else the most frequent label, without "cannot tell".
    `labels` holds one label for each person and item.
    """
    votes: dict[ItemId, list[Decision | CheckpointStatus]] = defaultdict(list)
    flagged: set[ItemId] = set()
    for label in labels:
        key = (label.trial_id, label.item_key)
        votes[key] += filter(None, [_decided(label.value)])
        if label.gold_wrong:
            flagged.add(key)
    found = {
        key: SettledLabel(value=_most(counted), gold_wrong=key in flagged)
        for key, counted in votes.items()
    }
    for record in adjudications:
        key = (record.trial_id, record.item_key)
        wrong = record.cause == "gold_wrong"
        found[key] = SettledLabel(value=_decided(record.value), adjudicated=True, gold_wrong=wrong)
    return found


def _decided(value: LabelValue | CheckpointStatus) -> Decision | CheckpointStatus | None:
    match value:
        case CheckpointStatus():
            return value
        case LabelValue.YES:
            return Decision.YES
        case LabelValue.NO:
            return Decision.NO
        case LabelValue.UNSURE:
            return None


def _most(given: Sequence[Decision | CheckpointStatus]) -> Decision | CheckpointStatus | None:
    most = majority(given)
    return next((value for value in given if value == most), None)


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
    return ANNOTATE[task.family].corrected(task.gold, judgement, said)


def replaced(judgement: Judgement, said: By) -> Judgement:
    """The judgement with these decisions in place of the judge's, each with the support that the judge named."""
    verdicts = {verdict.item.key: verdict for verdict in judgement.verdicts}
    for key, decision in said.items():
        item = Item.of_key(key)
        before = verdicts.get(key)
        verdicts[key] = (
            before.model_copy(update={"decision": decision})
            if before
            else Verdict(item=item, decision=decision)
        )
    return judgement.model_copy(update={"verdicts": tuple(verdicts.values())})


def reread(events: Sequence[Event], said: Mapping[int, CheckpointStatus]) -> tuple[Event, ...]:
    """The log with people's statuses in place of the responder's. `said`: statuses of the agent's turns, by the number
    of the user's turn that carries them. Everything else stays.
    """
    return tuple(_with_status(event, said) for event in events)


def _with_status(event: Event, said: Mapping[int, CheckpointStatus]) -> Event:
    body = event.body
    if not isinstance(body, UserSpoke) or body.reply.status is None or body.turn not in said:
        return event
    reply = body.reply.model_copy(update={"status": said[body.turn]})
    return event.model_copy(update={"body": body.model_copy(update={"reply": reply})})


class DecidedItem(NamedTuple):
    """An item that people decided. `machine` None: the machine left it open. `no_support`: see `overruled`. `part`: the
    fraction of one item that it counts as in scores: less than 1 if the trial predicted it several times, 0 in an
    unusable table.
    """

    item: Item
    machine: Decision | CheckpointStatus | None
    people: Decision | CheckpointStatus
    adjudicated: bool = False
    no_support: bool = False
    part: float = 1

    @property
    def changed(self) -> bool:
        return self.machine is not self.people


@dataclass(frozen=True)
class Rescored:
    """A judged trial with its measures by the judge and by people (equal without labels). `open`: items that people
    labelled without a decision; `waiting`: items that the judge decided and people did not; `gold_wrong`: items whose
    gold they doubt.
    """

    trial: TrialRecord
    judge: Sequence[Measure]
    people: Sequence[Measure]
    settled: tuple[DecidedItem, ...] = ()
    open: tuple[Item, ...] = ()
    gold_wrong: tuple[Item, ...] = field(default=())
    waiting: tuple[Item, ...] = ()


def rescored(
    workspace: Workspace,
    trials: Sequence[TrialScores],
    said: Mapping[tuple[int, str], SettledLabel],
) -> list[Rescored]:
    """These trials scored twice, without those that were not judged. Reads the logs of labelled ones, or their ends."""
    by_trial: dict[int, dict[str, SettledLabel]] = defaultdict(dict)
    for (trial_id, key), one in said.items():
        by_trial[trial_id][key] = one
    versions = dict.fromkeys(
        (one.trial.task_id, one.trial.revision)
        for one in trials
        if one.judge is not None and one.trial.id in by_trial
    )
    tasks = {(one.task_id, one.number): one.task for one in workspace.tasks.these(versions)}
    judgements: dict[tuple[int, str], Judgement] = {}
    ends: dict[int, tuple[Event, ...]] = {}
    labelled = sorted({one.trial.id for one in trials if one.trial.id in by_trial})
    for start in range(0, len(labelled), _BATCH):
        some = labelled[start : start + _BATCH]
        for record in workspace.verdicts.newest(some):
            judgements[record.trial_id, record.judgement.judge.name] = record.judgement
        ends |= workspace.runs.ends(some)
    found: list[Rescored] = []
    for scores in trials:
        if scores.judge is None:
            continue
        trial, judge = scores.trial, scores.judge.name
        mine = by_trial.get(trial.id)
        if not mine:
            found.append(Rescored(trial, scores.measures, scores.measures))
            continue
        judgement, task = judgements[trial.id, judge], tasks[trial.task_id, trial.revision]
        short = judged_by_end(task)
        events = ends.get(trial.id, ()) if short else workspace.runs.outline(trial.id).events
        found.append(rescore(trial, task, events, judgement, mine, scores.measures))
    return found


def rescore(
    trial: TrialRecord,
    task: Task,
    events: Sequence[Event],
    judgement: Judgement,
    said: Mapping[str, SettledLabel],
    judged: Sequence[Measure] | None = None,
) -> Rescored:
    """One trial scored twice. `said`: people's decisions by the item's key; those on unknown items are ignored. `judged`:
    the measures by the judge, if they are known; then the end of the log is enough where `judged_by_end`.
    """
    machine = _machine(task, events, judgement)
    known = {key: one for key, one in said.items() if key in machine and _fits(key, one)}
    statuses: dict[int, CheckpointStatus] = {}
    decisions: dict[str, Decision] = {}
    for key, one in known.items():
        match one.value:
            case CheckpointStatus():
                statuses[Item.of_key(key).index] = one.value
            case Decision():
                decisions[key] = one.value
            case None:
                pass
    changed = overruled(task, judgement, decisions)
    if judged is not None and judged_by_end(task):
        people = rejudged(task, events, changed, judged)
    else:
        people = score_trial(task, reread(events, statuses), changed)
    copies = _copies(events)
    usable = judgement.table is None or judgement.table.usable
    support = {v.item.key for v in judgement.verdicts if v.supporting}
    settled = tuple(
        DecidedItem(
            item=(item := Item.of_key(key)),
            machine=machine[key],
            people=one.value,
            adjudicated=one.adjudicated,
            no_support=(
                item.kind is ItemKind.TRIPLE
                and one.value is Decision.YES
                and machine[key] is not Decision.YES
                and key not in support
            ),
            part=1 / copies[item.index] if item.kind is ItemKind.PREDICTED else float(usable),
        )
        for key, one in sorted(known.items())
        if one.value is not None
    )
    return Rescored(
        trial,
        score_trial(task, events, judgement) if judged is None else judged,
        people,
        settled,
        tuple(Item.of_key(key) for key, one in sorted(known.items()) if one.value is None),
        tuple(Item.of_key(key) for key, one in sorted(known.items()) if one.gold_wrong),
        tuple(
            Item.of_key(key)
            for key, decided in sorted(machine.items())
            if decided is not None and (key not in known or known[key].value is None)
        ),
    )


def _fits(key: str, said: SettledLabel) -> bool:
    """Statuses of checkpoints are one vocabulary, yes and no another."""
    if said.value is None:
        return True
    return key.startswith(ItemKind.STATUS) == isinstance(said.value, CheckpointStatus)


def _machine(
    task: Task, events: Sequence[Event], judgement: Judgement
) -> dict[str, Decision | CheckpointStatus | None]:
    """The machine's decision on every item of the trial that scores depend on."""
    found = dict(ANNOTATE[task.family].decided(task.gold, events, judgement))
    for verdict in judgement.verdicts:
        found[verdict.item.key] = or_none(verdict.decision)
    return found


def or_none(decision: Decision) -> Decision | None:
    """What is unjudged is not decided."""
    return None if decision is Decision.UNJUDGED else decision


def _predicted(events: Sequence[Event]) -> list[tuple[str, ...]]:
    return [
        tuple(normalise(text) or text.strip() for text in (t.head, t.relation, t.tail))
        for t in triples_of(prediction_of(events)) or ()
    ]


def _copies(events: Sequence[Event]) -> list[int]:
    predicted = _predicted(events)
    counts = Counter(predicted)
    return [counts[triple] for triple in predicted]
