"""Adjudication of disputed items: where decisions differ, a third person's decision, counts of causes, and an
adjudicator's walk through the disputes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from cuecard.annotate.labelling.views import EvidenceRoom, LabelView, Target
from cuecard.annotate.task_feedback import GOLD_WRONG, comment_on_gold
from cuecard.core.engine.messages import CheckpointStatus, PlayerRef
from cuecard.core.evaluation.decisions import DERIVED, JUDGED, decisions_of
from cuecard.core.evaluation.items import PredictedItem, predicted_items
from cuecard.core.i18n import N_
from cuecard.core.label_records import Adjudication, Cause, Label, LabelValue
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Family
from cuecard.core.verdicts import Decision, Item, ItemKind

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


Reason = Literal["people", "judge", "gold"]
"""Why an item is disputed: people differ; people and a machine differ; somebody says the gold is wrong."""
REASONS: tuple[Reason, ...] = ("people", "judge", "gold")
UNDECIDED = (LabelValue.UNSURE.value, Decision.UNJUDGED.value)
"""Values that leave an item open, and so do not make a dispute."""
Place = tuple[int, str]
"""An item: its trial's id and its key."""


class MachineSide(Frozen):
    """The decision of a judge, or of the trial's user. `supporting`: indices of the predicted triples it rests on."""

    by: PlayerRef
    value: str
    rationale: str = ""
    supporting: tuple[int, ...] = ()


class Dispute(Frozen):
    """A disputed item. `labels`: everybody's newest, blind ones first. `reasons` is empty if the item was adjudicated
    (`decided`) and is disputed no more.
    """

    trial_id: int
    run_id: int
    task_id: str
    title: str
    family: Family
    revision: int
    item: Item
    reasons: tuple[Reason, ...]
    labels: tuple[Label, ...]
    machines: tuple[MachineSide, ...]
    decided: Adjudication | None = None

    @property
    def place(self) -> Place:
        return self.trial_id, self.item.key

    @property
    def parties(self) -> frozenset[str]:
        """The people whose blind labels are a side of the dispute."""
        return frozenset(x.person for x in self.labels if x.phase == "blind" and _side(x.value))


def disputes(
    workspace: Workspace,
    run_ids: Collection[int] | None = None,
    set_id: int | None = None,
    include: Collection[Reason] = REASONS,
) -> tuple[Dispute, ...]:
    """Items that are disputed for one of the reasons in `include`, and adjudicated items: of these runs, of a labelling
    set, or of everything; by task, then by gold item, so that the same item of several trials comes together. Only
    labelled or adjudicated items are read.

    People differ if their newest blind labels do. People and machine differ if a machine's decision is not that of most
    people (or of the only one); `unsure` and `unjudged` do not count. Raises `NotFound` for an unknown run or set.
    """
    wanted = _Wanted(workspace, run_ids, set_id)
    labels = wanted.labels()
    decided = wanted.decided()
    machines = machine_sides(workspace, labels.keys() | decided.keys(), run_ids)
    found: list[tuple[Place, tuple[Reason, ...]]] = []
    for place in labels.keys() | decided.keys():
        given = labels.get(place, [])
        why = reasons_of(given, machines.get(place, ()))
        reasons: tuple[Reason, ...] = tuple(reason for reason in why if reason in include)
        if reasons or place in decided:
            found.append((place, reasons))
    trials = {id: workspace.runs.trial(id) for id in {trial_id for (trial_id, _key), _r in found}}
    result = [
        Dispute.from_fields(
            trials[place[0]],
            trial_id=place[0],
            item=Item.of_key(place[1]),
            reasons=reasons,
            labels=tuple(labels.get(place, ())),
            machines=tuple(machines.get(place, ())),
            decided=decided.get(place),
        )
        for place, reasons in found
    ]
    return tuple(sorted(result, key=_order))


def reasons_of(labels: Iterable[Label], machines: Iterable[MachineSide]) -> tuple[Reason, ...]:
    """Why an item with these labels and decisions is disputed; empty if it is not. Labels given after a reveal count
    only for what they say about the gold.
    """
    labels = tuple(labels)
    values = [_side(label.value) for label in labels if label.phase == "blind"]
    sides = [value for value in values if value]
    most = majority(sides)
    found: list[Reason] = []
    if len(set(sides)) > 1:
        found.append("people")
    if most and any(m.value != most for m in machines if m.value not in UNDECIDED):
        found.append("judge")
    if any(label.gold_wrong for label in labels):
        found.append("gold")
    return tuple(found)


def majority(values: Iterable[str]) -> str:
    """The most frequent value; "" for none, or a tie."""
    ranked = Counter(values).most_common(2)
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return ""
    return ranked[0][0]


def machine_sides(
    workspace: Workspace, places: Collection[Place], run_ids: Collection[int] | None = None
) -> dict[Place, list[MachineSide]]:
    """Machines' decisions on these items: every judge's newest verdict, what follows from it for rows and predicted
    triples, and decisions of trials' users. `run_ids`: the runs with these items, if known.
    """
    found: dict[Place, list[MachineSide]] = defaultdict(list)
    kinds: dict[int, set[ItemKind]] = defaultdict(set)
    for trial_id, key in places:
        kinds[trial_id].add(Item.of_key(key).kind)
    if any(each & set(JUDGED) for each in kinds.values()):
        for record in workspace.verdicts.labelled_records(run_ids):
            place = (record.trial_id, record.item.key)
            if place in places:
                side = MachineSide(
                    by=record.judge,
                    value=record.decision.value,
                    rationale=record.rationale,
                    supporting=record.supporting,
                )
                found[place].append(side)
    for trial_id, asked in kinds.items():
        for place, side in _others(workspace, trial_id, asked - set(JUDGED)):
            if place in places:
                found[place].append(side)
    return found


def _others(
    workspace: Workspace, trial_id: int, kinds: set[ItemKind]
) -> Iterator[tuple[Place, MachineSide]]:
    if not kinds:
        return
    derived = kinds & set(DERIVED)
    judges: Sequence[str] = ()
    if derived:
        records = workspace.verdicts.of_trial(trial_id)
        judges = sorted({record.judgement.judge.name for record in records})
    asked = [(derived, judge) for judge in judges] + [(kinds - derived, "")]
    for which, judge in asked:
        for decision in decisions_of(workspace, trial_id, which, judge) if which else ():
            side = MachineSide(
                by=decision.by, value=decision.value.value, rationale=decision.rationale
            )
            yield (trial_id, decision.item.key), side


class _Wanted:
    """The labels and adjudications of a scope."""

    def __init__(
        self, workspace: Workspace, run_ids: Collection[int] | None, set_id: int | None
    ) -> None:
        self._workspace = workspace
        self._places: frozenset[Place] | None = None
        self._trials: frozenset[int] | None = None
        if set_id is not None:
            items = workspace.label_sets.items(set_id)
            self._places = frozenset((item.trial_id, item.item.key) for item in items)
            self._trials = frozenset(trial_id for trial_id, _key in self._places)
        if run_ids is not None:
            for run_id in run_ids:
                workspace.runs.get(run_id)
            trials = frozenset(t.id for run_id in run_ids for t in workspace.runs.trials(run_id))
            self._trials = trials if self._trials is None else self._trials & trials

    def labels(self) -> dict[Place, list[Label]]:
        found: dict[Place, list[Label]] = defaultdict(list)
        for phase in ("blind", "revealed"):
            for label in self._workspace.verdicts.item_labels(self._trials, phase):
                place = (label.trial_id, label.item_key)
                if self._places is None or place in self._places:
                    found[place].append(label)
        return found

    def decided(self) -> dict[Place, Adjudication]:
        newest = self._workspace.adjudications.newest(self._trials)
        found = {(each.trial_id, each.item_key): each for each in newest}
        return {p: a for p, a in found.items() if self._places is None or p in self._places}


def _side(value: object) -> str:
    return "" if str(value) in UNDECIDED else str(value)


def _order(dispute: Dispute) -> tuple[str, int, int, int, str, int]:
    kind = list(ItemKind).index(dispute.item.kind)
    item = dispute.item
    return dispute.task_id, dispute.revision, kind, item.index, item.column, dispute.trial_id


Why = Cause | Literal[""]
CAUSES: dict[Why, tuple[str, str, str]] = {
    "alias": ("a", N_("alias"), N_("judge: another name of the same thing")),
    "granularity": ("g", N_("granularity"), N_("judge: one side is coarser or finer")),
    "composition": ("c", N_("composition"), N_("judge: one item follows from several")),
    "contradiction": ("o", N_("contradiction"), N_("judge: whether the two sides contradict")),
    "format": ("f", N_("format"), N_("judge: spelling, units or dates")),
    "gold_wrong": ("w", N_("gold wrong"), N_("the gold itself; its authors are told")),
    "prompt_ambiguous": ("p", N_("prompt ambiguous"), N_("the judge's instructions leave it open")),
    "human_slip": ("h", N_("human slip"), N_("a wrong key, or something misread")),
    "": ("e", N_("nobody erred"), N_("both readings can be held")),
}
"""By cause: its letter, its name and what it means."""


class Outcome(Frozen):
    """An adjudication that was recorded. `told`: it opened a comment on the task."""

    adjudication: Adjudication
    told: bool = False


def adjudicate(
    workspace: Workspace,
    trial_id: int,
    item: Item,
    by: str,
    value: LabelValue | CheckpointStatus,
    cause: Why = "",
    comment: str = "",
) -> Outcome:
    """Record a decision; labels, verdicts and earlier decisions are kept. If the gold was found wrong, a comment tells
    the task's authors. Raises `NotFound`.
    """
    decided = workspace.adjudications.add(trial_id, item, by, value, cause, comment.strip())
    told = cause == GOLD_WRONG and comment_on_gold(workspace, trial_id, item, by, comment)
    return Outcome(adjudication=decided, told=bool(told))


class AdjudicationView(Frozen):
    """A dispute as an adjudicator sees it. `item`: what it is about, None if the revision has no such item;
    `supporting`: the predicted items each machine's decision rests on; `history`: all decisions, oldest first; `party`:
    a blind label of the adjudicator's is one of the sides; `comment`: goes with the next decision.
    """

    dispute: Dispute
    item: LabelView | None
    supporting: tuple[tuple[PredictedItem, ...], ...]
    history: tuple[Adjudication, ...]
    party: bool
    comment: str = ""


class AdjudicationSession:
    """One person's walk through disputes. Blocks on the database. What it shows is saved as seen by `person`, so that
    labels they give there later are not blind.
    """

    def __init__(
        self,
        workspace: Workspace,
        person: str,
        run_ids: Collection[int] | None = None,
        set_id: int | None = None,
    ) -> None:
        """Disputes of these runs, of a labelling set, or of everything. Raises `NotFound`."""
        self._workspace, self._person = workspace, person
        self._scope = run_ids, set_id
        self._evidence = EvidenceRoom(workspace)
        self._comments: dict[Place, str] = {}
        self._all: list[Dispute] = []
        self._queue: list[Dispute] = []
        self._position = 0
        self.with_decided = False
        self._load()

    @property
    def unseen(self) -> int:
        """Disputes that this person has neither labelled nor seen."""
        seen = self._workspace.adjudications.seen(self._person)
        return sum(
            d.place not in seen and all(x.person != self._person for x in d.labels)
            for d in self._queue
        )

    @property
    def current(self) -> AdjudicationView | None:
        """The dispute to decide; None at the end."""
        if self._position >= len(self._queue):
            return None
        dispute = self._queue[self._position]
        trial_id, item = dispute.trial_id, dispute.item
        history = self._workspace.adjudications.open(trial_id, item, self._person)
        every = predicted_items(self._evidence.of(trial_id).prediction, item.column)
        return AdjudicationView(
            dispute=dispute,
            item=self._item(dispute),
            supporting=tuple(
                tuple(every[at] for at in side.supporting if 0 <= at < len(every))
                for side in dispute.machines
            ),
            history=tuple(history),
            party=self._person in dispute.parties,
            comment=self._comments.get(dispute.place, ""),
        )

    @property
    def position(self) -> int:
        """How many disputes lie before the current one."""
        return self._position

    @property
    def total(self) -> int:
        return len(self._queue)

    @property
    def open(self) -> int:
        """Disputes of this walk that nobody has decided."""
        return sum(dispute.decided is None for dispute in self._queue)

    @property
    def decided(self) -> int:
        """Disputes that somebody has decided, in this walk or before."""
        return sum(dispute.decided is not None for dispute in self._all)

    def decide(
        self, place: Place, value: LabelValue | CheckpointStatus, cause: Why, comment: str = ""
    ) -> Outcome:
        """Record a decision on a dispute of this walk and go on to the next one."""
        at = next(i for i, dispute in enumerate(self._queue) if dispute.place == place)
        dispute = self._queue[at]
        said = comment or self._comments.get(place, "")
        outcome = adjudicate(
            self._workspace, dispute.trial_id, dispute.item, self._person, value, cause, said
        )
        self._comments.pop(place, None)
        self._queue[at] = dispute.model_copy(update={"decided": outcome.adjudication})
        self._all = [d if d.place != place else self._queue[at] for d in self._all]
        if at == self._position:
            self.next()
        return outcome

    def comment(self, place: Place, text: str) -> None:
        """Keep a comment for the next decision on this dispute."""
        self._comments[place] = text.strip()

    def next(self) -> None:
        self._position = min(self._position + 1, len(self._queue))

    def back(self) -> None:
        self._position = max(self._position - 1, 0)

    def toggle_decided(self) -> None:
        """Include decided disputes in the walk, or leave them out; reads again and starts anew."""
        self.with_decided = not self.with_decided
        self._position = 0
        self._load()

    def _load(self) -> None:
        run_ids, set_id = self._scope
        self._all = list(disputes(self._workspace, run_ids, set_id))
        self._queue = [d for d in self._all if self.with_decided or d.decided is None]

    def _item(self, dispute: Dispute) -> LabelView | None:
        try:
            return self._evidence.view(Target(dispute.trial_id, dispute.item))
        except LookupError:
            return None
