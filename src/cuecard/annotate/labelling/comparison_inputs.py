"""The data behind a comparison: items with machines' decisions and people's labels, given or read from the workspace."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from cuecard.annotate.agreement.ratings import most_said
from cuecard.annotate.families.registry import element_of
from cuecard.core.engine.messages import CheckpointStatus, PlayerRef
from cuecard.core.evaluation.decisions import OF_USER, decisions_of
from cuecard.core.evaluation.plans import no_exam
from cuecard.core.label_records import Adjudication, Label, LabelValue, SetItem, VerdictRecord
from cuecard.core.records import TrialRecord
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Decision, Item, ItemKind

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


Subject = Literal["gold", "predicted", "row", "cue", "leak", "status"]
"""What the labels of one comparison are about. Different subjects are different questions, and are never
pooled.
"""
SUBJECTS: tuple[Subject, ...] = get_args(Subject)
KINDS: dict[Subject, tuple[ItemKind, ...]] = {
    "gold": (ItemKind.TRIPLE, ItemKind.CELL, ItemKind.ANSWER),
    "predicted": (ItemKind.PREDICTED,),
    "row": (ItemKind.ROW,),
    "cue": (ItemKind.CUE,),
    "leak": (ItemKind.LEAK,),
    "status": (ItemKind.STATUS,),
}
GroupBy = Literal["family", "language", "relation", "agent", "kind"]
GROUPINGS: tuple[GroupBy, ...] = get_args(GroupBy)


def subject_of(kind: ItemKind) -> Subject:
    return next(subject for subject, kinds in KINDS.items() if kind in kinds)


def domain_of(subject: Subject) -> tuple[str, ...]:
    """The possible labels, used or not. "Cannot tell" is a missing label."""
    if subject == "status":
        return tuple(status.value for status in CheckpointStatus)
    return (Decision.YES.value, Decision.NO.value)


class Scope(Frozen):
    """Which items: of these runs (empty: all), or of a labelling set, whose sampling probabilities then weight them."""

    runs: tuple[int, ...] = ()
    set_id: int | None = None
    subject: Subject | None = None


@dataclass(frozen=True)
class Case:
    """A labelled item. `decisions`: by judge, without those left unjudged; `labels`: blind ones by person, without
    "cannot tell"; `people`: everybody who gave one, "cannot tell" included; `revealed`: what they said after seeing the
    decision; `cause`: of the error that adjudication found. `weight`: the inverse of the probability with which it was
    drawn, 1 if that is unknown.
    """

    trial_id: int
    item: Item
    task: str = ""
    revision: int = 0
    family: str = ""
    language: str = ""
    relation: str = ""
    agent: str = ""
    decisions: Mapping[str, str] = field(default_factory=dict[str, str])
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    people: frozenset[str] = frozenset()
    revealed: Mapping[str, str] = field(default_factory=dict[str, str])
    adjudicated: str = ""
    cause: str = ""
    weight: float = 1

    @property
    def name(self) -> str:
        return f"{self.trial_id}/{self.item.key}"

    @property
    def key(self) -> tuple[int, str]:
        return self.trial_id, self.item.key

    @property
    def majority(self) -> str:
        """The most frequent label; "" for none, or a tie."""
        return most_said(self.labels.values())

    def group(self, by: GroupBy) -> str:
        return self.item.kind.value if by == "kind" else getattr(self, by)


@dataclass(frozen=True)
class ComparisonInputs:
    """`population`: how many items machines decided on, labelled or not (None: not counted). `unsure`: how many labels
    say "cannot tell"; `unjudged`: how many decisions judges left open. `subjects`: labelled items by subject. `drawn`:
    the items of this subject in the labelling set, if there is one, labelled or not.
    """

    subject: Subject
    cases: tuple[Case, ...]
    judges: tuple[str, ...]
    people: tuple[str, ...]
    baselines: tuple[str, ...] = ()
    population: int | None = None
    unsure: int = 0
    unjudged: int = 0
    subjects: Mapping[Subject, int] = field(default_factory=dict["Subject", int])
    drawn: tuple[SetItem, ...] = ()
    from_set: bool = False

    @property
    def domain(self) -> tuple[str, ...]:
        return domain_of(self.subject)

    @property
    def weighted(self) -> bool:
        """Whether items weigh differently because they were drawn, or labelled, with different probabilities."""
        return self.weights(self.cases, lambda case: bool(case.labels)) is not None

    def weights(
        self, cases: Sequence[Case], labelled: Callable[[Case], bool]
    ) -> tuple[float, ...] | None:
        """The weight of each case if people labelled those for which `labelled` holds; None if all weigh the same."""
        known = weights_of(self.drawn, {case.key for case in self.cases if labelled(case)})
        weights = tuple(known.get(case.key, 0.0) if self.drawn else case.weight for case in cases)
        return weights if len({round(weight, 9) for weight in weights}) > 1 else None

    @property
    def bare(self) -> dict[str, float]:
        """Strata (or kinds) of the set in which nothing is labelled, with the share of all items that each represents."""
        found: dict[str, float] = defaultdict(float)
        labelled = {case.key for case in self.cases if case.labels}
        for (stratum, kind), share in bare_classes(self.drawn, labelled).items():
            found[stratum or kind.value] += share
        return dict(found)

    def judged_by(self, names: Collection[str]) -> tuple[Case, ...]:
        """The cases that all of these judges decided."""
        return tuple(c for c in self.cases if all(name in c.decisions for name in names))


def inputs_of(records: Sequence[VerdictRecord], labels: Sequence[Label]) -> ComparisonInputs:
    """Inputs from verdicts and labels. Of a person's labels on an item the newest counts. Verdicts of several judges on
    the same item of a trial make one case.
    """
    items: dict[tuple[int, str], Item] = {(r.trial_id, r.item.key): r.item for r in records}
    decisions: dict[tuple[int, str], dict[str, str]] = defaultdict(dict)
    open_ = 0
    for record in sorted(records, key=lambda record: record.verdict_id):
        if record.decision is Decision.UNJUDGED:
            open_ += 1
        else:
            key = (record.trial_id, record.item.key)
            decisions[key][record.judge.name] = record.decision.value
    tasks = {record.trial_id: record.task_id for record in records}
    by_verdict = {r.verdict_id: (r.trial_id, r.item.key) for r in records}
    given: dict[tuple[int, str], dict[str, str]] = defaultdict(dict)
    for label in sorted(labels, key=lambda label: label.created_at):
        if label.verdict_id in by_verdict:
            given[by_verdict[label.verdict_id]][label.person] = label.value.value
    return ComparisonInputs(
        subject="gold",
        cases=tuple(
            Case(
                trial_id=key[0],
                item=items[key],
                task=tasks[key[0]],
                decisions=decisions[key],
                labels={w: v for w, v in said.items() if v != LabelValue.UNSURE},
                people=frozenset(said),
            )
            for key, said in sorted(given.items())
        ),
        judges=tuple(sorted({record.judge.name for record in records})),
        people=tuple(sorted({name for said in given.values() for name in said})),
        baselines=tuple(sorted({r.judge.name for r in records if r.judge.baseline})),
        population=len(items),
        unsure=sum(v == LabelValue.UNSURE for said in given.values() for v in said.values()),
        unjudged=open_,
    )


Key = tuple[int, str]
Tell = Callable[[int, int], None]
_MOST_IDS = 5000
"""With more trials than this, a query does not name them but reads all labels and filters."""


def gather(workspace: Workspace, scope: Scope, tell: Tell | None = None) -> ComparisonInputs:
    """The inputs for one subject: the scope's, or the first with labels. `tell(done, all)` is called as tasks are read.
    Raises `NotFound` for an unknown run or set.
    """
    drawn = workspace.label_sets.items(scope.set_id) if scope.set_id else []
    weights = weights_of(drawn) if scope.set_id else None
    trials = _trials(workspace, scope, weights)
    workspace.roles.check_whole({trial.run_id for trial in trials.values()})
    blind = _labels(workspace, trials, weights)
    counts: Counter[Subject] = Counter(subject_of(Item.of_key(key).kind) for _trial, key in blind)
    labelled: list[Subject] = [each for each in SUBJECTS if counts[each]]
    subject: Subject = scope.subject or (labelled[0] if labelled else SUBJECTS[0])
    kinds = KINDS[subject]
    blind = {key: said for key, said in blind.items() if Item.of_key(key[1]).kind in kinds}
    revealed = _labels(workspace, trials, weights, revealed=True)
    decided = _decided(workspace, scope, subject, {trial for trial, _key in blind}, trials)
    settled = {
        (each.trial_id, each.item_key): each
        for each in workspace.adjudications.newest(if_few(trials))
    }
    tasks = _tasks(workspace, [trials[id] for id in sorted({trial for trial, _key in blind})], tell)
    cases = tuple(
        _case(
            trials[key[0]],
            tasks[key[0]],
            Item.of_key(key[1]),
            decisions=decided.values.get(key, {}),
            labels=said,
            revealed=_said(revealed.get(key, {})),
            settled=settled.get(key),
            weight=weights[key] if weights else 1,
        )
        for key, said in sorted(blind.items())
    )
    return ComparisonInputs(
        subject=subject,
        cases=cases,
        judges=tuple(sorted({name for case in cases for name in case.decisions})),
        people=tuple(sorted({name for said in blind.values() for name in said})),
        baselines=tuple(sorted(decided.baselines)),
        population=_population(workspace, scope, subject, weights),
        unsure=sum(
            value == LabelValue.UNSURE for said in blind.values() for value in said.values()
        ),
        unjudged=decided.open,
        subjects={each: counts[each] for each in labelled},
        drawn=tuple(item for item in drawn if item.item.kind in kinds),
        from_set=weights is not None,
    )


@dataclass
class _Decided:
    """By item and judge. `open`: how many decisions on labelled items were left open."""

    values: dict[Key, dict[str, str]] = field(
        default_factory=lambda: defaultdict[Key, dict[str, str]](dict)
    )
    baselines: set[str] = field(default_factory=set[str])
    open: int = 0

    def add(self, key: Key, by: PlayerRef, value: str) -> None:
        if by.baseline:
            self.baselines.add(by.name)
        if value == Decision.UNJUDGED:
            self.open += 1
        else:
            self.values[key][by.name] = value


def _decided(
    workspace: Workspace,
    scope: Scope,
    subject: Subject,
    labelled: Collection[int],
    trials: dict[int, TrialRecord],
) -> _Decided:
    found = _Decided()
    if subject == "gold":
        runs = {trials[trial].run_id for trial in labelled} if scope.set_id else scope.runs
        for record in workspace.verdicts.labelled_records(runs or None):
            if record.trial_id in labelled:
                found.add((record.trial_id, record.item.key), record.judge, record.decision.value)
        return found
    kinds = KINDS[subject]
    for trial in sorted(labelled):
        judges = [""]
        if not set(kinds) & set(OF_USER):
            judges = sorted({r.judgement.judge.name for r in workspace.verdicts.of_trial(trial)})
        for judge in judges:
            for decision in decisions_of(workspace, trial, kinds, judge):
                found.add((trial, decision.item.key), decision.by, decision.value.value)
    return found


def _trials(
    workspace: Workspace, scope: Scope, weights: dict[Key, float] | None
) -> dict[int, TrialRecord]:
    if weights is not None:
        wanted = {trial for trial, _key in weights}
        runs: Iterable[int] = ()
    else:
        wanted = set[int]()
        asked = [no_exam(workspace.runs.get(run)) for run in scope.runs]
        runs = [run.id for run in asked or workspace.runs.all() if not run.is_exam]
    found = {trial.id: trial for run in dict.fromkeys(runs) for trial in workspace.runs.trials(run)}
    for trial_id in sorted(wanted):
        if trial_id not in found:
            run = workspace.runs.trial(trial_id).run_id
            found |= {trial.id: trial for trial in workspace.runs.trials(run)}
    return found


def if_few(trials: Collection[int]) -> Collection[int] | None:
    """These ids for a query; None, for all, where they are too many to be named in one."""
    return trials if len(trials) <= _MOST_IDS else None


def _labels(
    workspace: Workspace,
    trials: Collection[int],
    weights: dict[Key, float] | None,
    *,
    revealed: bool = False,
) -> dict[Key, dict[str, str]]:
    """Each person's newest value by item, "cannot tell" included."""
    found: dict[Key, dict[str, str]] = defaultdict(dict)
    labels: list[Label] = workspace.verdicts.item_labels(
        if_few(trials), phase="revealed" if revealed else "blind"
    )
    for label in labels:
        key = (label.trial_id, label.item_key)
        if label.trial_id in trials and (weights is None or key in weights):
            found[key][label.person] = label.value.value
    return found


def _said(labels: dict[str, str]) -> dict[str, str]:
    return {who: value for who, value in labels.items() if value != LabelValue.UNSURE}


def _tasks(
    workspace: Workspace, trials: Iterable[TrialRecord], tell: Tell | None
) -> dict[int, Task]:
    by_revision: dict[tuple[str, int], list[int]] = defaultdict(list)
    for trial in trials:
        by_revision[trial.task_id, trial.revision].append(trial.id)
    found: dict[int, Task] = {}
    for done, (revision, ids) in enumerate(by_revision.items(), 1):
        found |= dict.fromkeys(ids, workspace.tasks.revision(*revision).task)
        if tell:
            tell(done, len(by_revision))
    return found


def _case(
    trial: TrialRecord,
    task: Task,
    item: Item,
    *,
    decisions: dict[str, str],
    labels: dict[str, str],
    revealed: dict[str, str],
    settled: Adjudication | None,
    weight: float,
) -> Case:
    element = element_of(task, item)
    return Case(
        trial_id=trial.id,
        item=item,
        task=trial.task_id,
        revision=trial.revision,
        family=trial.family,
        language=task.language,
        relation=element.relation if element else "",
        agent=trial.agent.name,
        decisions=decisions,
        labels=_said(labels),
        people=frozenset(labels),
        revealed=revealed,
        adjudicated=settled.value.value if settled and settled.value != LabelValue.UNSURE else "",
        cause=settled.cause if settled else "",
        weight=weight,
    )


def _population(
    workspace: Workspace, scope: Scope, subject: Subject, weights: dict[Key, float] | None
) -> int | None:
    if weights is not None:
        return sum(Item.of_key(key).kind in KINDS[subject] for _trial, key in weights)
    if subject != "gold":
        return None
    progress = workspace.verdicts.progress("")
    return sum(run.verdicts for run in progress if not scope.runs or run.run_id in scope.runs)


WeightingClass = tuple[str, ItemKind]
"""Stratum and kind of item. Within such a class, unlabelled items are assumed to be like labelled ones."""


def weights_of(
    items: Iterable[SetItem], labelled: Collection[Key] | None = None
) -> dict[Key, float]:
    """The weights of the `labelled` items (None: all) of a drawn set: the inverse probability of being drawn (Horvitz &
    Thompson 1952), times drawn / labelled items of the stratum and kind (weighting classes, Särndal, Swensson & Wretman
    1992, ch. 15).
    """
    drawn = list(items)
    known = [item for item in drawn if labelled is None or _key(item) in labelled]
    every, have = Counter(map(class_of, drawn)), Counter(map(class_of, known))
    return {
        _key(item): every[class_of(item)] / have[class_of(item)] / item.probability
        for item in known
    }


def bare_classes(
    items: Iterable[SetItem], labelled: Collection[Key]
) -> dict[WeightingClass, float]:
    """Classes without labelled items, with the share of the population that each represents."""
    drawn = list(items)
    have = {class_of(item) for item in drawn if _key(item) in labelled}
    sizes: dict[WeightingClass, float] = defaultdict(float)
    for item in drawn:
        sizes[class_of(item)] += 1 / item.probability
    total = sum(sizes.values())
    return {name: size / total for name, size in sizes.items() if name not in have}


def class_of(item: SetItem) -> WeightingClass:
    return item.stratum, item.item.kind


def _key(item: SetItem) -> Key:
    return item.trial_id, item.item.key
