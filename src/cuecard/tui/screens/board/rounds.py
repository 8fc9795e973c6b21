"""What a figure counts: the decided rounds behind it, and what was said in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual import on
from textual.app import ComposeResult
from textual.widgets import Footer, Static

from cuecard.annotate.review.decided import DecidedRound
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen
from cuecard.tui.state.board_figures import FiguresView
from cuecard.tui.widgets.fitted_table import FittedColumn
from cuecard.tui.widgets.grid import Grid, GridCell
from cuecard.tui.widgets.list_table import ListTable

COLUMNS = (
    FittedColumn("", 2),
    FittedColumn(N_("Task"), 14, grow=2),
    FittedColumn(N_("Rev"), 3, right=True),
    FittedColumn(N_("Reviews"), 30, grow=3),
)


class RoundsScreen(CuecardScreen[None]):
    """Disagreements come first, with a mark; Enter reads the reviews of the task."""

    CSS_PATH = "board.tcss"
    BINDINGS = keys(
        Key("rounds.open", "enter", "open", N_("Read"), N_("Read the reviews of this task")),
        Key("rounds.back", "escape", "dismiss", N_("Back"), N_("Back to the figures")),
    )

    def __init__(
        self,
        figures: FiguresView,
        measure: str,
        rounds: Sequence[DecidedRound],
        titles: Mapping[str, str],
        head: str,
    ) -> None:
        super().__init__()
        self._figures = figures
        self._measure = measure
        self._rounds = rounds
        self._titles = titles
        self._head = head

    def compose(self) -> ComposeResult:
        yield Static(one_line(self._head), id="title", markup=False)
        differ = sum(self._figures.differ(r, self._measure) for r in self._rounds)
        told = _("{n} revisions, {differ} with disagreement (≠)")
        text = told.format(n=len(self._rounds), differ=differ)
        yield Static(text, id="heading", markup=False)
        yield ListTable(COLUMNS)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        table = self.query_one(ListTable)
        table.fill([self._cells(round_) for round_ in self._rounds])
        table.focus()

    @on(Grid.Chosen)
    def _chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self.action_open()

    def action_open(self) -> None:
        from cuecard.tui.screens.review_task import ReviewTaskScreen

        round_ = self._rounds[self.query_one(ListTable).cursor_row]
        self.app.push_screen(ReviewTaskScreen(round_.task_id))

    def _cells(self, round_: DecidedRound) -> tuple[str | GridCell, ...]:
        said = (
            f"{given.reviewer} {self._figures.said(given, self._measure)}"
            for given in round_.reviews
        )
        differ = self._figures.differ(round_, self._measure)
        return (
            GridCell("≠" if differ else "", "warn"),
            self._titles.get(round_.task_id, round_.task_id),
            str(round_.revision),
            " · ".join(said),
        )
