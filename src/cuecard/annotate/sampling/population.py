"""What a labelling set can be drawn from, and drawing one into the workspace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuecard.annotate.sampling.draw import Unit, draw
from cuecard.annotate.sampling.plan import SamplingPlan
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _
from cuecard.core.tasks import Graph, Task
from cuecard.core.verdicts import Item, ItemKind
from cuecard.lab.decisions import JUDGED, decisions_of
from cuecard.store.label_records import LabelSet
from cuecard.store.records import TrialRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


def population_of(workspace: Workspace, plan: SamplingPlan) -> list[Unit]:
    """Every item of the plan's runs that machines decided on and the plan asks for, each once. Trials that
    were not judged have no items of judged kinds, those that go on none that the user part decided. Runs of quality probes are
    in only where the plan names them. Raises `NotFound` for an unknown run.
    """
    trials = [t for run in plan.runs for t in workspace.runs.trials(run)]
    kinds = plan.kinds or JUDGED
    decided = _judged(workspace, plan) if set(kinds) & set(JUDGED) else {}
    others = set(kinds) - set(JUDGED)
    tasks: dict[tuple[str, int], Task] = {}
    units: list[Unit] = []
    for trial in trials:
        found = [pair for pair in decided.get(trial.id, ()) if pair[0].kind in kinds]
        if others and trial.termination is not None:
            decisions = decisions_of(workspace, trial.id, others, plan.judge)
            found += ((d.item, d.value.value) for d in decisions)
        if not found:
            continue
        version = (trial.task_id, trial.revision)
        if version not in tasks:
            tasks[version] = workspace.tasks.revision(*version).task
        units += (_unit(trial, tasks[version], item, value) for item, value in found)
    return units


def make_set(
    workspace: Workspace,
    plan: SamplingPlan,
    *,
    name: str,
    by: str,
    units: Sequence[Unit] | None = None,
) -> LabelSet:
    """Draw a labelling set and keep it with its plan. `units`: the plan's population, if it is known.
    Raises `CuecardError` if there is nothing to draw.
    """
    items = draw(population_of(workspace, plan) if units is None else units, plan)
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
    """Verdicts by trial, of the plan's judge or of the one who judged the trial first."""
    found: dict[int, dict[Item, str]] = {}
    for trial_id, item, decision in workspace.verdict_pages.decided(plan.runs, plan.judge):
        found.setdefault(trial_id, {})[item] = decision.value
    return {trial_id: list(items.items()) for trial_id, items in found.items()}


def _unit(trial: TrialRecord, task: Task, item: Item, value: str) -> Unit:
    relation = ""
    if item.kind is ItemKind.TRIPLE and isinstance(task.gold, Graph):
        # A judgement from elsewhere may name a triple that this revision does not have.
        triples = task.gold.triples
        relation = triples[item.index].relation if item.index < len(triples) else ""
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
