"""What a run spends, and the budget that ends it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cuecard.core.calls import RecordedCall
from cuecard.core.config import Config
from cuecard.core.errors import BudgetSpent
from cuecard.core.i18n import _
from cuecard.core.run import RunControl
from cuecard.core.run_events import CallAnswered, RunEvent
from cuecard.lab.plans import check_prices, models_in, settings_of
from cuecard.store.records import RunRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class Budget:
    """What a run may cost in all, None: whatever it takes. May be changed on any thread while it is played."""

    def __init__(self, amount: float | None = None) -> None:
        self._amount = amount
        self._changed: Callable[[], None] = lambda: None

    @property
    def amount(self) -> float | None:
        return self._amount

    def change(self, amount: float | None) -> None:
        """Takes effect at once: less than what is spent pauses the run."""
        self._amount = amount
        self._changed()

    def when_changed(self, listener: Callable[[], None]) -> None:
        self._changed = listener


class Meter:
    """Adds up what calls cost and pauses the run when the budget is spent. Calls that are under way
    then are finished and recorded, so a run may go over its budget by as many.
    """

    def __init__(self, spent: float, budget: Budget | float | None, control: RunControl) -> None:
        self.spent = spent
        self._budget = budget if isinstance(budget, Budget) else Budget(budget)
        self._control = control
        self._budget.when_changed(self._check)
        self._check()

    def told(self, event: RunEvent) -> None:
        if isinstance(event, CallAnswered):
            self.add(event.cost)

    def judged(self, call: RecordedCall) -> None:
        self.add(call.reply.cost)

    def add(self, cost: float | None) -> None:
        self.spent += cost or 0.0
        self._check()

    def _check(self) -> None:
        budget = self._budget.amount
        if budget is not None and self.spent >= budget:
            self._control.pause(
                BudgetSpent(
                    _("The budget is spent"),
                    _("{spent:.4f} of {budget:.4f}").format(spent=self.spent, budget=budget),
                    _("go on with a larger --budget"),
                    in_app=_("b gives it a larger budget, r goes on"),
                )
            )


def budget_of(run: RunRecord) -> float | None:
    """What the run may cost, as it was entered or changed since."""
    return settings_of(run).budget


def change_budget(workspace: Workspace, run_id: int, amount: float | None, config: Config) -> None:
    """Keep another budget with the run, for whoever goes on with it. Raises `NotFound`, `ConfigError` where a
    model that the run calls has no price, and `ValueError` unless the amount is above 0.
    """
    if amount is not None and amount <= 0:
        raise ValueError("a budget is above 0")
    run = workspace.runs.get(run_id)
    settings = settings_of(run).model_copy(update={"budget": amount})
    if amount is not None:
        agents = {trial.agent.name for trial in workspace.runs.trials(run_id)}
        check_prices(models_in(sorted(agents), settings, config), config)
    workspace.runs.set_plan(run_id, settings.model_dump(mode="json"))


def spent_on(workspace: Workspace, run_id: int) -> float:
    """What the run's calls have cost so far, as far as their models have a price."""
    return sum(used.cost or 0.0 for used in workspace.runs.usage(run_id))
