from __future__ import annotations

import pytest

from cuecard.core.config import EMBEDDED
from cuecard.core.engine.run_control import RunControl
from cuecard.core.errors import BudgetSpent, NotFound, PausedByPerson
from cuecard.core.evaluation.plans import RunPlan, create_run
from cuecard.core.evaluation.runs import budget_of, change_budget, resume_run
from cuecard.core.evaluation.sharing import Budget, Meter
from cuecard.store.workspace import Workspace

pytestmark = pytest.mark.both_databases


def test_a_budget_that_is_raised_in_time_stops_nothing_and_one_that_is_lowered_stops_at_once() -> (
    None
):
    control, budget = RunControl(), Budget(2.0)
    meter = Meter(1.5, budget, control)
    budget.change(5.0)
    meter.add(1.0)
    assert control.halt is None
    budget.change(None)
    meter.add(100.0)
    assert control.halt is None
    budget.change(50.0)
    assert isinstance(control.halt, BudgetSpent)


def test_another_budget_is_kept_with_the_run(workspace: Workspace) -> None:
    run = create_run(workspace, RunPlan(tasks=("espresso",)), by="ann")
    assert budget_of(run) is None
    change_budget(workspace, run.id, 3.5, EMBEDDED)
    changed = workspace.runs.get(run.id)
    assert budget_of(changed) == 3.5
    assert {**changed.plan, "budget": None} == run.plan
    change_budget(workspace, run.id, None, EMBEDDED)
    assert workspace.runs.get(run.id).plan == run.plan
    with pytest.raises(ValueError, match="above 0"):
        change_budget(workspace, run.id, 0.0, EMBEDDED)
    with pytest.raises(NotFound):
        change_budget(workspace, 99, 1.0, EMBEDDED)


async def test_a_run_that_somebody_holds_is_paused_and_one_that_is_drained_is_stopped(
    workspace: Workspace,
) -> None:
    run = create_run(workspace, RunPlan(tasks=("espresso",)), by="ann")
    for halt, state in ((PausedByPerson("The run is paused"), "paused"), (None, "cancelled")):
        control = RunControl()
        control.pause(halt)
        outcome = await resume_run(workspace, run.id, control=control)
        assert (outcome.run.state, outcome.run.finished) == (state, 0)
