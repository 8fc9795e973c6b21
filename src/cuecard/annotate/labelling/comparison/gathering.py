"""Reading what is compared from the workspace: labelled items only, however many verdicts there are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cuecard.annotate.labelling.comparison.material import (
    KINDS,
    SUBJECTS,
    Case,
    Material,
    Scope,
    Subject,
    subject_of,
)
from cuecard.annotate.sampling import weights_of
from cuecard.core.parts import PlayerRef
from cuecard.core.tasks import Graph, Task
from cuecard.core.verdicts import Decision, Item, ItemKind
from cuecard.lab.decisions import OF_USER, decisions_of
from cuecard.store.label_records import Adjudication, Label, LabelValue
from cuecard.store.records import TrialRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

Key = tuple[int, str]
Tell = Callable[[int, int], None]
_MOST_IDS = 5000
"""More trials than this are not named in a query; all labels are read and sifted."""


def gather(workspace: Workspace, scope: Scope, tell: Tell | None = None) -> Material:
    """Everything labelled in the scope, of one subject: the scope's, else the first that has labels. `tell`
    hears how many of how many tasks have been read. Raises `NotFound` for an unknown run or set.
    """
    drawn = workspace.label_sets.items(scope.set_id) if scope.set_id else []
    weights = weights_of(drawn) if scope.set_id else None
    trials = _trials(workspace, scope, weights)
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
        for each in workspace.adjudications.newest(_named(trials))
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
    return Material(
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
        runs = scope.runs or [run.id for run in workspace.runs.all()]
    found = {trial.id: trial for run in dict.fromkeys(runs) for trial in workspace.runs.trials(run)}
    for trial_id in sorted(wanted):
        if trial_id not in found:
            run = workspace.runs.trial(trial_id).run_id
            found |= {trial.id: trial for trial in workspace.runs.trials(run)}
    return found


def _named(trials: Collection[int]) -> Collection[int] | None:
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
        _named(trials), phase="revealed" if revealed else "blind"
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
    relation = ""
    if item.kind is ItemKind.TRIPLE and isinstance(task.gold, Graph):
        triples = task.gold.triples
        relation = triples[item.index].relation if item.index < len(triples) else ""
    return Case(
        trial_id=trial.id,
        item=item,
        task=trial.task_id,
        revision=trial.revision,
        family=trial.family,
        language=task.language,
        relation=relation,
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
