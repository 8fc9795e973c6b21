"""What a labeller may see of an item (dialogue, evidence, surrounding gold), and the decision revealed after labelling."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from cuecard.annotate.authoring.graph_view import Neighbourhood, TripleIndex
from cuecard.annotate.families.registry import ANNOTATE
from cuecard.core.engine.events import (
    AgentSpoke,
    Event,
    Marked,
    ModelReplied,
    ToolAnswered,
    UserSpoke,
)
from cuecard.core.engine.messages import CheckpointStatus, PlayerRef, UserReply
from cuecard.core.engine.trial import prediction_of
from cuecard.core.evaluation.decisions import decisions_of
from cuecard.core.evaluation.items import (
    OF_TURN,
    GoldItem,
    PredictedItem,
    Utterance,
    closest_items,
    gold_items,
    predicted_items,
    subject_of,
    until_decided,
    utterances_around,
)
from cuecard.core.families.graph.gold import Graph
from cuecard.core.i18n import _
from cuecard.core.label_records import Label, LabelValue
from cuecard.core.predictions import Prediction, UnusablePrediction, triples_of
from cuecard.core.records import Outline
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Family, Task
from cuecard.core.text import contains_term
from cuecard.core.verdicts import Decision, Item, ItemKind, Verdict

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class Target:
    """An item of a trial that is to be labelled. `verdict_id`: of a verdict on it, 0 if none is known."""

    trial_id: int
    item: Item
    verdict_id: int = 0


class Draft(Frozen):
    """A comment on an item before it is labelled; it is saved with the label."""

    comment: str = ""
    gold_wrong: bool = False


class Drafts(Protocol):
    """A store of drafts until their items are labelled."""

    def load(self, target: Target) -> Draft: ...

    def save(self, target: Target, draft: Draft) -> None: ...

    def give(self, target: Target, label: Label) -> bool:
        """Keep a label that the database cannot take now, to be delivered when it can; whether that is possible."""
        ...


class MemoryDrafts:
    """Drafts kept in memory, for one session."""

    def __init__(self) -> None:
        self._drafts: dict[Target, Draft] = {}

    def load(self, target: Target) -> Draft:
        return self._drafts.get(target, Draft())

    def save(self, target: Target, draft: Draft) -> None:
        self._drafts[target] = draft

    def give(self, target: Target, label: Label) -> bool:
        return False


class LabelView(Frozen):
    """What a labeller may see of an item. `gold`: the item; `closest`: the predicted items most similar to it (for a
    predicted triple, gold triples); `said`: the words of the dialogue that it is about. `predicted`: how many items the
    agent handed in; `unusable`: why there are none. `mine`: this person's label; `draft`: what goes with the next one.
    `revealed`: this person has seen the decision in this session.
    """

    verdict_id: int
    trial_id: int
    task_id: str
    revision: int
    title: str
    family: Family
    query: str
    gold: GoldItem
    closest: tuple[PredictedItem, ...]
    said: tuple[Utterance, ...] = ()
    predicted: int
    unusable: str
    mine: Label | None = None
    draft: Draft = Draft()
    revealed: bool = False


class Revealed(Frozen):
    """The decision and its grounds, shown only after labelling. `judge`: the judge or the trial's user, None if no
    machine decided. `agrees`: with the label; None if either side is undecided.
    """

    judge: PlayerRef | None
    decision: Decision | CheckpointStatus
    supporting: tuple[PredictedItem, ...] = ()
    rationale: str = ""
    agrees: bool | None = None


class Pace(Frozen):
    """A labeller's speed: `seconds` of work, without idle times, on the `timed` items whose time is known."""

    timed: int = 0
    seconds: float = 0

    @property
    def per_hour(self) -> float | None:
        """Items an hour; None before any item's time is known."""
        return 3600 * self.timed / self.seconds if self.timed else None

    @property
    def each(self) -> float | None:
        """Seconds an item."""
        return self.seconds / self.timed if self.timed else None


KeyT = TypeVar("KeyT", bound=Hashable)
ValueT = TypeVar("ValueT")
_TASKS, _TRIALS, _VIEWS = 50, 60, 400
CLOSEST = 30
"""Items handed in that are shown beside the one to label, as far as there is room."""
FEW = 8
"""The same where there is little room, and in files."""


class RecentCache(Generic[KeyT, ValueT]):
    """A cache of the values used last. Two threads may compute one value twice, without harm."""

    def __init__(self, make: Callable[[KeyT], ValueT], limit: int) -> None:
        self._make, self._limit = make, limit
        self._kept: OrderedDict[KeyT, ValueT] = OrderedDict()

    def __contains__(self, key: KeyT) -> bool:
        return key in self._kept

    def get(self, key: KeyT) -> ValueT:
        if key in self._kept:
            return self._kept[key]
        value = self._kept[key] = self._make(key)
        while len(self._kept) > self._limit:
            self._kept.popitem(last=False)
        return value


@dataclass(frozen=True)
class Evidence:
    """A trial's task revision, its prediction, and its effective log without large texts."""

    task: Task
    revision: int
    prediction: Prediction
    outline: Outline


class EvidenceRoom:
    """Reads and caches evidence, and makes views of items from it."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._tasks: RecentCache[tuple[str, int], Task] = RecentCache(
            lambda key: workspace.tasks.revision(*key).task, _TASKS
        )
        self._trials: RecentCache[int, Evidence] = RecentCache(self._read, _TRIALS)
        self._views: RecentCache[Target, LabelView] = RecentCache(self._view, _VIEWS)

    def of(self, trial_id: int) -> Evidence:
        """Raises `NotFound`."""
        return self._trials.get(trial_id)

    def view(self, target: Target) -> LabelView:
        """The item as it is before labelling. Raises `NotFound`."""
        return self._views.get(target)

    def has(self, target: Target) -> bool:
        """Whether the view is in the cache."""
        return target in self._views

    def _read(self, trial_id: int) -> Evidence:
        trial = self._workspace.runs.trial(trial_id)
        outline = self._workspace.runs.outline(trial_id)
        return Evidence(
            task=self._tasks.get((trial.task_id, trial.revision)),
            revision=trial.revision,
            prediction=prediction_of(outline.events),
            outline=outline,
        )

    def _view(self, target: Target) -> LabelView:
        evidence, item = self.of(target.trial_id), target.item
        task, prediction, events = evidence.task, evidence.prediction, evidence.outline.events
        unusable = isinstance(prediction, UnusablePrediction)
        try:
            gold = subject_of(task, item, prediction, events)
            closest = closest_items(task, item, prediction, CLOSEST)
            said = utterances_around(item, events)
        except (IndexError, ValueError):
            # Labels may come from outside, on items that this revision or trial does not have.
            gold = GoldItem(
                item=item, text=_("{item}: there is no such item").format(item=item.key)
            )
            closest, said = (), ()
        return LabelView(
            verdict_id=target.verdict_id,
            trial_id=target.trial_id,
            task_id=task.id,
            revision=evidence.revision,
            title=task.title,
            family=task.family,
            query=task.query,
            gold=gold,
            closest=closest,
            said=said,
            predicted=len(predicted_items(prediction)),
            unusable=prediction.reason if unusable else "",
        )


@dataclass(frozen=True)
class GoldAround:
    """`around`: neighbourhoods of the entities that the item names; `items`: all of the gold."""

    around: tuple[Neighbourhood, ...]
    items: tuple[PredictedItem, ...]


def gold_around(task: Task, view: LabelView) -> GoldAround:
    """The whole gold and, for graphs, the neighbourhoods of the item's entities."""
    return GoldAround(
        _trees(task.gold, view) if isinstance(task.gold, Graph) else (), gold_items(task)
    )


def _trees(graph: Graph, view: LabelView) -> tuple[Neighbourhood, ...]:
    named = [graph.named(triple) for triple in graph.triples]
    surroundings = TripleIndex([{"head": h, "relation": r, "tail": t} for h, r, t in named])
    item = view.gold.item
    if item.kind is ItemKind.TRIPLE:
        numbers = [item.index]
    elif item.kind is ItemKind.PREDICTED:
        numbers = [near.index for near in view.closest[:1]]
    else:
        return ()
    entities = dict.fromkeys(end for n in numbers for end in (named[n][0], named[n][2]))
    return tuple(surroundings.around(entity) for entity in entities)


def revealed_of(
    workspace: Workspace,
    target: Target,
    person: str,
    mine: Label | None,
    prediction: Prediction,
    judge: str = "",
) -> Revealed:
    """The decision of `judge` ("": of the first there is) or of the trial's user; saves that `person` has seen it.
    Raises `NotAllowed` before they have labelled the item.
    """
    workspace.verdicts.note_reveal(target.trial_id, target.item, person)
    found = _verdict(workspace, target, judge)
    if found is not None:
        by, verdict = found
        every = predicted_items(prediction, target.item.column)
        return Revealed(
            judge=by,
            decision=verdict.decision,
            supporting=tuple(every[i] for i in verdict.supporting if 0 <= i < len(every)),
            rationale=verdict.rationale,
            agrees=_agrees(mine, verdict.decision),
        )
    decided = decisions_of(workspace, target.trial_id, [target.item.kind], judge)
    decision = next((d for d in decided if d.item == target.item), None)
    if decision is None:
        return Revealed(judge=None, decision=Decision.UNJUDGED)
    return Revealed(
        judge=decision.by,
        decision=decision.value,
        rationale=decision.rationale,
        agrees=_agrees(mine, decision.value),
    )


def _verdict(workspace: Workspace, target: Target, judge: str) -> tuple[PlayerRef, Verdict] | None:
    """The newest verdict of `judge`, or, without a name, of the judge who judged first."""
    records = workspace.verdicts.of_trial(target.trial_id)
    name = judge or (records[-1].judgement.judge.name if records else "")
    newest = next((r.judgement for r in records if r.judgement.judge.name == name), None)
    if newest is None:
        return None
    verdict = next((v for v in newest.verdicts if v.item == target.item), None)
    return (newest.judge, verdict) if verdict else None


def _agrees(mine: Label | None, decision: Decision | CheckpointStatus) -> bool | None:
    if mine is None or mine.value is LabelValue.UNSURE or decision is Decision.UNJUDGED:
        return None
    return mine.value.value == decision.value


@dataclass(frozen=True)
class BlindTranscript:
    """A dialogue for labellers. `left_out`: numbers of events whose large texts are cut short; `turn`: the one the item
    comes from, -1 if there is none.
    """

    trial_id: int
    events: tuple[Event, ...]
    left_out: frozenset[int]
    turn: int


def without_decisions(events: Sequence[Event]) -> tuple[Event, ...]:
    """The events with only the words of the trial's user: without decisions, reasons, flags and the model calls behind
    them.
    """
    kept: list[Event] = []
    for event in events:
        match event.body:
            case UserSpoke(turn=turn, reply=reply):
                body = UserSpoke(turn=turn, reply=UserReply(text=reply.text))
                kept.append(event.model_copy(update={"body": body}))
            case ModelReplied(part="user") | ToolAnswered(part="user") | Marked(part="user"):
                pass
            case _:
                kept.append(event)
    return tuple(kept)


def visible(target: Target, events: Sequence[Event], *, labelled: bool) -> tuple[Event, ...]:
    """What `target`'s labeller may read of an effective log: until a cue or a checkpoint is labelled, only up to where
    the trial's user decided on it.
    """
    return without_decisions(events if labelled else until_decided(target.item, events))


def turn_of(target: Target, task: Task, prediction: Prediction, events: Sequence[Event]) -> int:
    """The turn that an item is about, or in which the agent or a tool named it first."""
    if target.item.kind in OF_TURN:
        return target.item.index - (target.item.kind is not ItemKind.LEAK)
    terms = [term for term in _terms(target, task, prediction) if term.strip()]
    for term in terms:
        for event in events:
            match event.body:
                case AgentSpoke(turn=turn, reply=reply) if contains_term(reply.text, term):
                    return turn
                case ToolAnswered(turn=turn, answer=answer) if contains_term(answer.text, term):
                    return turn
                case _:
                    pass
    return -1


def _terms(target: Target, task: Task, prediction: Prediction) -> tuple[str, ...]:
    """Terms to look for, the most specific first."""
    item = target.item
    if item.kind is ItemKind.PREDICTED:
        triples = triples_of(prediction)
        return (triples[item.index].tail, triples[item.index].head) if triples else ()
    return ANNOTATE[task.family].terms(task.gold, item, prediction)
