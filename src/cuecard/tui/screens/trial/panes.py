"""What stands beside a trial's transcript."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from cuecard.core.i18n import N_, _
from cuecard.core.tasks import CheckpointChain
from cuecard.lab.trial_view import TrialView
from cuecard.tui.state.labels import player_label
from cuecard.tui.state.trial import (
    SHOWN,
    Shown,
    measure_rows,
    stage_entries,
    step_entries,
    verdict_counts,
    verdict_entries,
)
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.fitted_table import FittedColumn, FittedTable

_SHOWN_LABEL: dict[Shown, str] = {
    "all": N_("all"),
    "no": N_("only ✗"),
    "yes": N_("only ✓"),
    "unjudged": N_("only ?"),
}


class StagesPane(Vertical):
    """The stage timeline of a persona task, or the ladder of a checkpoint task."""

    def compose(self) -> ComposeResult:
        yield Static("", id="stages-note", classes="muted", markup=False)
        yield EntryList(id="stage-list")

    def load(self, view: TrialView) -> None:
        gold = view.task.gold
        if isinstance(gold, CheckpointChain):
            entries = step_entries(gold, view.messages)
        else:
            entries = stage_entries(view.stages, view.task.stages)
        note = self.query_one("#stages-note", Static)
        note.update("" if entries else _("This task has no stages: the user asks once."))
        note.display = not entries
        self.query_one(EntryList).load(entries)


class VerdictsPane(Vertical):
    """The judge's decisions on every gold item."""

    def __init__(self) -> None:
        super().__init__()
        self._view: TrialView | None = None
        self._shown: Shown = "all"

    def compose(self) -> ComposeResult:
        yield Static("", id="verdict-note", markup=False)
        yield EntryList(id="verdict-list")

    def load(self, view: TrialView) -> None:
        self._view = view
        self.query_one(EntryList).load(verdict_entries(view.verdicts, self._shown))
        self.query_one("#verdict-note", Static).update(self._note(view))

    def show_next(self) -> None:
        """The next filter."""
        self._shown = SHOWN[(SHOWN.index(self._shown) + 1) % len(SHOWN)]
        if self._view:
            self.load(self._view)

    def _note(self, view: TrialView) -> str:
        if view.judge is None:
            if view.trial.termination is None:
                return _("A trial is judged when it has ended.")
            return _("Nobody has judged this trial yet: j has it judged.")
        counts = verdict_counts(view.verdicts)
        lines = [f"{player_label(view.judge)}", f"{counts} · {_(_SHOWN_LABEL[self._shown])}"]
        return "\n".join(lines)


class MeasuresPane(Vertical):
    """The trial's numbers, each with its n."""

    def compose(self) -> ComposeResult:
        yield Static("", id="measures-note", markup=False)
        yield FittedTable(
            (
                FittedColumn(N_("Measure"), 10, grow=1),
                FittedColumn(N_("Value"), 8, right=True),
                FittedColumn("n", 6, right=True),
            ),
            id="measures",
        )

    def load(self, view: TrialView) -> None:
        rows = measure_rows(view.measures)
        self.query_one(FittedTable).fill([(row.label, row.value, row.n) for row in rows])
        note = self.query_one("#measures-note", Static)
        reasons = dict.fromkeys(row.reason for row in rows if row.reason)
        if not rows:
            note.update(_("Numbers come with the judgement."))
        else:
            note.update("\n".join(_("– : {reason}").format(reason=reason) for reason in reasons))
        note.display = not rows or bool(reasons)
