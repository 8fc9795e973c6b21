"""What a labelling set can be drawn from, and drawing one into the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.annotate.sampling.draw import Unit, draw
from cuecard.annotate.sampling.plan import SamplingPlan
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _
from cuecard.core.tasks import Graph, Task
from cuecard.core.verdicts import Item, ItemKind
from cuecard.lab.decisions import JUDGED, decisions_of
from cuecard.store.records import LabelSet, TrialRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


def population_of(workspace: Workspace, plan: SamplingPlan) -> list[Unit]:
    """Every item of the plan's runs that machines decided on and the plan asks for. Raises `NotFound` for
    an unknown run.
    """
    trials = [t for run in dict.fromkeys(plan.runs) for t in workspace.runs.trials(run)]
    kinds = plan.kinds or JUDGED
    tasks: dict[tuple[str, int], Task] = {}
    if set(kinds) <= set(JUDGED):
        decided = _judged(workspace, plan)
    else:
        decided = {
            trial.id: [
                (d.item, d.value.value)
                for d in decisions_of(workspace, trial.id, kinds, plan.judge)
            ]
            for trial in trials
            if trial.termination is not None
        }
    units: list[Unit] = []
    for trial in trials:
        version = (trial.task_id, trial.revision)
        if trial.id in decided and version not in tasks:
            tasks[version] = workspace.tasks.revision(*version).task
        units += (
            _unit(trial, tasks[version], item, value)
            for item, value in decided.get(trial.id, ())
            if item.kind in kinds
        )
    return units


def make_set(workspace: Workspace, plan: SamplingPlan, *, name: str, by: str) -> LabelSet:
    """Draw a labelling set and keep it with its plan. Raises `CuecardError` if there is nothing to draw."""
    items = draw(population_of(workspace, plan), plan)
    if not items:
        raise CuecardError(
            _("There is nothing to label"),
            _("no item of these runs has been decided on"),
            _("Judge the runs first: `cuecard judge`."),
        )
    return workspace.label_sets.create(
        name=name.strip() or _("Set of run {run}").format(run=plan.runs[0]),
        created_by=by,
        items=items,
        plan=plan.model_dump(mode="json"),
    )


def _judged(workspace: Workspace, plan: SamplingPlan) -> dict[int, list[tuple[Item, str]]]:
    """Verdicts by trial, of the plan's judge or of the first that each trial has, in one reading."""
    found: dict[int, list[tuple[Item, str]]] = {}
    judges: dict[int, str] = {}
    for run in dict.fromkeys(plan.runs):
        for record in workspace.verdicts.records(run):
            name = judges.setdefault(record.trial_id, plan.judge or record.judge.name)
            if record.judge.name == name:
                found.setdefault(record.trial_id, []).append((record.item, record.decision.value))
    return found


def _unit(trial: TrialRecord, task: Task, item: Item, value: str) -> Unit:
    relation = ""
    if item.kind is ItemKind.TRIPLE and isinstance(task.gold, Graph):
        relation = task.gold.triples[item.index].relation
    return Unit(
        trial_id=trial.id,
        item=item,
        decision=value,
        family=trial.family,
        language=task.language,
        agent=trial.agent.name,
        relation=relation,
        task=trial.task_id,
    )
