"""Satisfaction against a score: sessions counted in a plane, and listed."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Footer, Static

from cuecard.annotate.fidelity.model import Correlation, Point
from cuecard.core.i18n import N_, NP_
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen
from cuecard.tui.state.scatter import (
    Scatter,
    figure_lines,
    here,
    plot_cells,
    plot_columns,
    plot_heading,
    scatter_of,
    session_cells,
    told,
)
from cuecard.tui.widgets.fitted_table import FittedColumn
from cuecard.tui.widgets.grid import Grid
from cuecard.tui.widgets.grid.source import ListSource
from cuecard.tui.widgets.list_table import FigureTable, ListTable
from cuecard.tui.widgets.plain import PlainText

_COLUMN = 5

SESSIONS = (
    FittedColumn(N_("Task"), 12, grow=2),
    FittedColumn(N_("Person"), 8, grow=1),
    FittedColumn(N_("Trial"), 6, right=True),
    FittedColumn(NP_("in a form", "Answer"), 7, right=True),
    FittedColumn(N_("Score"), 8, right=True),
)


class ScatterScreen(CuecardScreen[None]):
    """The plot; `t` lists its sessions, Enter those of the cell under the cursor. `scale`: the ends of the
    question's numbers, where they are known.
    """

    CSS_PATH = "fidelity.tcss"
    AUTO_FOCUS = "#plot"
    BINDINGS = keys(
        Key("scatter.open", "enter", "open", N_("Sessions"), N_("The sessions in this cell; of a listed one its trial")),
        Key("scatter.table", "t", "table", N_("Plot/table"), N_("The numbers behind the plot, and back")),
        Key("scatter.leave", "escape", "leave", N_("Back"), N_("Back")),
    )  # fmt: skip

    def __init__(self, found: Correlation, scale: tuple[int, int] | None = None) -> None:
        super().__init__()
        self._found, self._scale = found, scale
        self._scatter: Scatter | None = None
        self._listed: tuple[Point, ...] = ()

    def compose(self) -> ComposeResult:
        yield Static(told(self._found), id="title", markup=False)
        yield Static(plot_heading(self._found), id="heading", markup=False)
        yield FigureTable((), cursor="cell", fixed=1, id="plot")
        yield ListTable(SESSIONS, id="sessions")
        with VerticalScroll(id="details", can_focus=False):
            yield PlainText(id="detail")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one("#sessions").display = False
        self.call_after_refresh(self._draw)

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._draw)

    def action_open(self) -> None:
        plot, table = self.query_one("#plot", FigureTable), self.query_one("#sessions", ListTable)
        if table.display:
            from cuecard.tui.screens.trial import TrialScreen

            if table.cursor_row < len(self._listed):
                self.app.push_screen(TrialScreen(self._listed[table.cursor_row].trial_id))
        elif self._scatter is not None:
            column = plot.cursor_column - 1
            points = self._scatter.at(plot.cursor_row, column if column >= 0 else None)
            if points:
                self._list(points)

    def action_table(self) -> None:
        table = self.query_one("#sessions")
        if table.display:
            self._show_plot()
        else:
            self._list(self._found.points)

    def action_leave(self) -> None:
        if self.query_one("#sessions").display:
            self._show_plot()
        else:
            self.dismiss()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self.action_open()

    def on_grid_cursor_moved(self, event: Grid.CursorMoved) -> None:
        event.stop()
        self._explain()

    def _draw(self) -> None:
        grid = self.query_one("#plot", FigureTable)
        room = (self.size.width - 10) // (_COLUMN + 2)
        scatter = self._scatter = scatter_of(self._found.points, self._scale, room)
        grid.set_columns(plot_columns(scatter, _COLUMN), fixed=1)
        rows = [plot_cells(scatter, row) for row in range(len(scatter.answers))]
        grid.load(ListSource(rows), cursor=(grid.cursor_row, max(1, grid.cursor_column)))
        self._explain()

    def _list(self, points: Sequence[Point]) -> None:
        self._listed = tuple(sorted(points, key=lambda p: (-p.x, p.y)))
        table = self.query_one("#sessions", ListTable)
        table.fill([session_cells(point) for point in self._listed])
        self.query_one("#plot").display = False
        table.display = True
        table.focus()
        self._explain()

    def _show_plot(self) -> None:
        self.query_one("#sessions").display = False
        plot = self.query_one("#plot")
        plot.display = True
        plot.focus()
        self._explain()

    def _explain(self) -> None:
        plot, scatter = self.query_one("#plot", FigureTable), self._scatter
        if scatter is None:
            return
        if self.query_one("#sessions").display:
            points = self._listed
        else:
            column = plot.cursor_column - 1
            points = scatter.at(plot.cursor_row, column if column >= 0 else None)
        lines = [here(points), *figure_lines(self._found)]
        self.query_one("#detail", PlainText).load("\n".join(map(one_line, lines)))
