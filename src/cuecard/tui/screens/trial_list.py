"""The trials behind a figure: what became of each, and from each to its dialogue."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Footer, Static

from cuecard.core.i18n import N_, _
from cuecard.core.prediction import UnusablePrediction
from cuecard.core.text import one_line
from cuecard.core.trial import prediction_of
from cuecard.results.pool import Row
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.state.trial_list import count_words, details, has_raw, row_cells
from cuecard.tui.widgets.empty import EmptyState
from cuecard.tui.widgets.fitted_table import FittedColumn
from cuecard.tui.widgets.grid import Grid
from cuecard.tui.widgets.list_table import ListTable
from cuecard.tui.widgets.plain import PlainText


class TrialListScreen(CuecardScreen[None]):
    """`rows` in the order in which they are listed; the scores shown are those of `measure` where a trial has it,
    else of its family's first headline.
    """

    CSS_PATH = "trial_list.tcss"
    AUTO_FOCUS = "#trials"
    VERTICAL_BREAKPOINTS = [(0, "-short"), (36, "-tall")]
    BINDINGS = keys(
        Key("trial_list.open", "enter", "open", N_("Trial"), N_("The dialogue, and what was made of it; + and - go through the list")),
        Key("trial_list.text", "t", "text", N_("Text"), N_("All that was handed in and could not be read")),
        Key("trial_list.back", "escape", "leave", N_("Back"), N_("Back to the figures")),
    )  # fmt: skip

    def __init__(self, title: str, rows: Sequence[Row], measure: str | None = None) -> None:
        super().__init__()
        self._title, self._rows, self._measure = title, tuple(rows), measure

    def compose(self) -> ComposeResult:
        runs = len({row.run.id for row in self._rows})
        yield Static(
            f"{one_line(self._title, 90)} · {count_words(self._rows)}", id="title", markup=False
        )
        yield ListTable(
            (
                FittedColumn(N_("Task"), 14, grow=3),
                FittedColumn(N_("Agent"), 8, grow=1),
                FittedColumn(N_("Run"), 10, grow=1, hidden_below=100 if runs > 1 else 10_000),
                FittedColumn(N_("Sample"), 6, right=True),
                FittedColumn(N_("Ended"), 12, hidden_below=90),
                FittedColumn(N_("Score"), 6, right=True),
                FittedColumn(N_("Cause"), 23),
            ),
            id="trials",
        )
        with VerticalScroll(id="details", can_focus=False):
            yield PlainText(id="detail")
        yield EmptyState(
            _("No trial is behind this figure"),
            _("It counts something that did not happen."),
            ("esc", _("Back to the figures")),
        )
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        table = self.query_one(ListTable)
        table.fill([row_cells(row, self._measure) for row in self._rows])
        for widget in self.query("#trials, #details"):
            widget.display = bool(self._rows)
        self.query_one(EmptyState).display = not self._rows
        self._explain()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        row = self._chosen
        if action == "open":
            return row is not None
        if action == "text":
            return row is not None and has_raw(row)
        return True

    def action_open(self) -> None:
        from cuecard.tui.screens.listed_trial import ListedTrialScreen

        if self._chosen is not None:
            trials = [row.trial.id for row in self._rows]
            at = self.query_one(ListTable).cursor_row
            self.app.push_screen(ListedTrialScreen(trials, at))

    @guarded("text")
    async def action_text(self) -> None:
        from cuecard.tui.screens.task.proposals.screen import RawDialog

        row = self._chosen
        if row is None:
            return
        trial = row.trial.id
        found = await self.services.ask(lambda ws: prediction_of(ws.runs.events(trial)))
        if isinstance(found, UnusablePrediction):
            await self.app.push_screen(RawDialog((found.raw,), found.reason))

    def action_leave(self) -> None:
        self.dismiss()

    def on_screen_resume(self) -> None:
        self.refresh_bindings()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self.action_open()

    def on_grid_cursor_moved(self, event: Grid.CursorMoved) -> None:
        event.stop()
        self._explain()

    @property
    def _chosen(self) -> Row | None:
        at = self.query_one(ListTable).cursor_row
        return self._rows[at] if at < len(self._rows) else None

    def _explain(self) -> None:
        if row := self._chosen:
            lines = details(row, self._measure)
            self.query_one("#detail", PlainText).load("\n".join(lines))
        self.refresh_bindings()
