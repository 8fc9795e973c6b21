"""Trials scored twice: as judged, and with people's decisions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from cuecard.annotate.effect.overruling import overruled, reread
from cuecard.annotate.effect.people import Said
from cuecard.core.events import Event, UserSpoke
from cuecard.core.parts import CheckpointStatus
from cuecard.core.prediction import TriplesPrediction
from cuecard.core.scoring.graph import supporting_triples
from cuecard.core.scoring.measures import Measure
from cuecard.core.scoring.trial_score import score_trial
from cuecard.core.tasks import Graph, Table, Task
from cuecard.core.text import normalise
from cuecard.core.trial import prediction_of
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement
from cuecard.lab.decisions import rows_of
from cuecard.lab.scores import TrialScores
from cuecard.store.records import TrialRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

SCORED = (
    ItemKind.TRIPLE,
    ItemKind.CELL,
    ItemKind.ANSWER,
    ItemKind.ROW,
    ItemKind.PREDICTED,
    ItemKind.STATUS,
)
"""Kinds that scores follow from; of cues and leaks there is no score."""


class Settled(NamedTuple):
    """An item on which people decided. `machine` None: it did not decide. `part`: how much of one item it
    is to scores: less if the trial handed the same in several times, 0 in a table that cannot be used.
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
    """A judged trial: its measures by the judge and by people, the same where people said nothing. `open`
    and `gold_wrong`: items that people labelled and did not decide on, or whose gold they doubt.
    """

    trial: TrialRecord
    judge: tuple[Measure, ...]
    people: tuple[Measure, ...]
    settled: tuple[Settled, ...] = ()
    open: tuple[Item, ...] = ()
    gold_wrong: tuple[Item, ...] = field(default=())


def rescored(
    workspace: Workspace, trials: Sequence[TrialScores], said: Mapping[tuple[int, str], Said]
) -> list[Rescored]:
    """Every trial of these that was judged. Reads the logs of those that people labelled."""
    by_trial: dict[int, dict[str, Said]] = defaultdict(dict)
    for (trial_id, key), one in said.items():
        by_trial[trial_id][key] = one
    tasks: dict[tuple[str, int], Task] = {}
    found: list[Rescored] = []
    for scores in trials:
        if scores.judge is None:
            continue
        trial, name = scores.trial, scores.judge.name
        mine = by_trial.get(trial.id)
        if not mine:
            found.append(Rescored(trial, scores.measures, scores.measures))
            continue
        version = (trial.task_id, trial.revision)
        if version not in tasks:
            tasks[version] = workspace.tasks.revision(*version).task
        records = workspace.verdicts.of_trial(trial.id)
        judgement = next(r.judgement for r in records if r.judgement.judge.name == name)
        events = workspace.runs.outline(trial.id).events
        found.append(rescore(trial, tasks[version], events, judgement, mine))
    return found


def rescore(
    trial: TrialRecord,
    task: Task,
    events: Sequence[Event],
    judgement: Judgement,
    said: Mapping[str, Said],
) -> Rescored:
    """One trial, with what people said by the item's key. What is no item of this trial is left out."""
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
    people = score_trial(task, reread(events, statuses), changed)
    copies = _copies(events)
    usable = judgement.table is None or judgement.table.usable
    support = {v.item.key for v in judgement.verdicts if v.supporting}
    settled = tuple(
        Settled(
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
        score_trial(task, events, judgement),
        people,
        settled,
        tuple(Item.of_key(key) for key, one in sorted(known.items()) if one.value is None),
        tuple(Item.of_key(key) for key, one in sorted(known.items()) if one.gold_wrong),
    )


def _fits(key: str, said: Said) -> bool:
    """Statuses of checkpoints are one vocabulary, yes and no another."""
    if said.value is None:
        return True
    return key.startswith(ItemKind.STATUS) == isinstance(said.value, CheckpointStatus)


def _machine(
    task: Task, events: Sequence[Event], judgement: Judgement
) -> dict[str, Decision | CheckpointStatus | None]:
    """Every item of the trial that scores follow from, with the machine's decision."""
    found: dict[str, Decision | CheckpointStatus | None] = {}
    match task.gold:
        case Graph(triples=triples):
            for index in range(len(triples)):
                found[Item(kind=ItemKind.TRIPLE, index=index).key] = None
            predicted = _predicted(events)
            support = set(supporting_triples(judgement.verdicts, len(predicted)))
            unjudged = any(v.decision is Decision.UNJUDGED for v in judgement.verdicts)
            # What supports nothing that was judged may still support what was not.
            otherwise = None if unjudged else Decision.NO
            for index in range(len(predicted)):
                item = Item(kind=ItemKind.PREDICTED, index=index)
                found[item.key] = Decision.YES if index in support else otherwise
        case Table():
            for index, decision in rows_of(judgement):
                found[Item(kind=ItemKind.ROW, index=index).key] = _or_none(decision)
        case _:
            found[Item(kind=ItemKind.ANSWER).key] = None
            for event in events:
                body = event.body
                if isinstance(body, UserSpoke) and body.reply.status is not None:
                    found[Item(kind=ItemKind.STATUS, index=body.turn).key] = body.reply.status
    for verdict in judgement.verdicts:
        found[verdict.item.key] = _or_none(verdict.decision)
    return found


def _or_none(decision: Decision) -> Decision | None:
    return None if decision is Decision.UNJUDGED else decision


def _predicted(events: Sequence[Event]) -> list[tuple[str, ...]]:
    prediction = prediction_of(events)
    if not isinstance(prediction, TriplesPrediction):
        return []
    return [
        tuple(normalise(text) or text.strip() for text in (t.head, t.relation, t.tail))
        for t in prediction.triples
    ]


def _copies(events: Sequence[Event]) -> list[int]:
    predicted = _predicted(events)
    counts = Counter(predicted)
    return [counts[triple] for triple in predicted]
