"""What a run spends, and the budget that ends it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.core.calls import RecordedCall
from cuecard.core.errors import BudgetSpent
from cuecard.core.i18n import _
from cuecard.core.run import RunControl
from cuecard.core.run_events import CallAnswered, RunEvent

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class Meter:
    """Adds up what calls cost and pauses the run when the budget is spent. Calls that are under way
    then are finished and recorded, so a run may go over its budget by as many.
    """

    def __init__(self, spent: float, budget: float | None, control: RunControl) -> None:
        self.spent = spent
        self._budget = budget
        self._control = control
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
        if self._budget is not None and self.spent >= self._budget:
            self._control.pause(
                BudgetSpent(
                    _("The budget is spent"),
                    _("{spent:.4f} of {budget:.4f}").format(spent=self.spent, budget=self._budget),
                    _("go on with a larger --budget"),
                )
            )


def spent_on(workspace: Workspace, run_id: int) -> float:
    """What the run's calls have cost so far, as far as their models have a price."""
    return sum(used.cost or 0.0 for used in workspace.runs.usage(run_id))
