"""The Plots screen: one plot beside the list of all, with a cursor, its numbers as a table, and export."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from cuecard.annotate.results.plots.builders import AGENTS
from cuecard.annotate.results.plots.model import Plot
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.drawing import Horizontal, Vertical, VerticalScroll
from cuecard.tui.grid import Grid
from cuecard.tui.grid.cells import ListSource
from cuecard.tui.present.entries import ink
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.plot_canvas import START, Ink, PlotCursor, Way, kept, moved
from cuecard.tui.present.plot_pictures import picture
from cuecard.tui.present.plots import By, PlotsView
from cuecard.tui.present.tables import table_rows
from cuecard.tui.screens.figures import CountingScreen, PathDialog, write_file
from cuecard.tui.widgets.inputs import FigureTable, FittedColumn, ListTable
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import HeadLine, PlainText

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


_VARIABLES: dict[Ink, str] = {
    "muted": "muted",
    "s0": "secondary",
    "s1": "primary",
    "s2": "success",
    "s3": "family-table",
    "s4": "error",
}


class PlotView(Widget, can_focus=True):
    """`load` a plot. Enter is the screen's, as in `ListTable`."""

    BINDINGS = keys(
        Key("plot_view.left", Means.LEFT, "go('left')", N_("Left"), N_("The point before"), show=False),
        Key("plot_view.right", Means.RIGHT, "go('right')", N_("Right"), N_("The next point"), show=False),
        Key("plot_view.up", Means.UP, "go('up')", N_("Up"), N_("What is drawn above"), show=False),
        Key("plot_view.down", Means.DOWN, "go('down')", N_("Down"), N_("What is drawn below"), show=False),
        Key("plot_view.first", Means.START, "go('first')", N_("First"), N_("The first point"), show=False),
        Key("plot_view.last", Means.END, "go('last')", N_("Last"), N_("The last point"), show=False),
    )  # fmt: skip
    DEFAULT_CSS = """
    PlotView { width: 1fr; height: 1fr; }
    """

    class Moved(Message):
        """The cursor is at another place."""

        def __init__(self, view: PlotView, at: PlotCursor) -> None:
            super().__init__()
            self.view, self.at = view, at

        @property
        def control(self) -> PlotView:
            return self.view

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._plot: Plot | None = None
        self._at = START

    @property
    def at(self) -> PlotCursor:
        """Where the cursor is."""
        return self._at

    def load(self, plot: Plot, at: PlotCursor = START) -> None:
        self._plot, self._at = plot, kept(plot, at)
        self.refresh()

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self.refresh())

    def render(self) -> Text:
        if self._plot is None:
            return Text()
        variables = self.app.theme_variables
        text = Text(no_wrap=True, end="")
        for line in picture(self._plot, self.size.width, self.size.height, self._at):
            if text:
                text.append("\n")
            for segment in line:
                text.append(segment.text, self._style(segment.ink, variables))
        return text

    def action_go(self, way: Way) -> None:
        if self._plot is None:
            return
        at = moved(self._plot, self._at, way)
        if at != self._at:
            self._at = at
            self.refresh()
            self.post_message(self.Moved(self, at))

    @staticmethod
    def _style(name: Ink, variables: dict[str, str]) -> Style:
        if name == "cursor":
            return Style(reverse=True, bold=True)
        if name == "strong":
            return Style(bold=True)
        return (
            Style.parse(ink(variables, _VARIABLES[name]) or "none")
            if name in _VARIABLES
            else Style()
        )


_LISTING = "-listing"


class PlotsScreen(CountingScreen):
    """Of these runs. Enter opens the trials behind the point under the cursor."""

    CSS_PATH = "plots.tcss"
    AUTO_FOCUS = "#plot"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (36, "-tall")]
    BINDINGS = keys(
        Key("plots.shown", Means.OPEN, "unlist", N_("Show"), N_("The plot that the list is on")),
        Key("plots.open", Means.OPEN, "open", N_("Trials"), N_("The trials behind this point")),
        Key("plots.next", Means.NEXT, "step(1)", N_("Next"), N_("The next plot")),
        Key("plots.before", Means.BEFORE, "step(-1)", N_("Before"), N_("The plot before"), show=False),
        Key("plots.table", Means.DETAILS, "table", N_("Data"), N_("The numbers of this plot as a table, and back")),
        Key("plots.list", Means.VIEW, "list", N_("List"), N_("All plots; Enter shows one")),
        Key("plots.family", Means.ONLY, "family", N_("Family"), N_("The plots of the next family, then of all")),
        Key("plots.series", Means.COMMAND, "series", N_("Series"), N_("What makes a series: agents, or agents and what their trials differ in"), show=False, letter="s"),
        Key("plots.export", Means.EXPORT, "export", N_("Export"), N_("The plot as SVG, or its numbers as CSV, LaTeX or Markdown")),
        Key("plots.refresh", Means.REFRESH, "reload", N_("Refresh"), N_("Count again"), show=False),
        Key("plots.back", Means.UP_ONE, "leave", N_("Back"), N_("Back")),
    )  # fmt: skip

    def __init__(self, runs: Sequence[int], title: str) -> None:
        """`title`: what the runs are called."""
        super().__init__()
        self._runs, self._title = tuple(runs), title
        self._view: PlotsView | None = None

    @property
    def view(self) -> PlotsView | None:
        """What is looked at; None while trials are read."""
        return self._view

    def compose(self) -> ComposeResult:
        yield HeadLine("", id="title", markup=False)
        with Horizontal(id="body"):
            yield ListTable((FittedColumn(N_("Plot"), 20, grow=1),), id="list")
            with Vertical(id="main"):
                yield Static("", id="heading", markup=False)
                yield PlotView(id="plot")
                yield FigureTable((), cursor="cell", fixed=1, id="figures")
                with VerticalScroll(id="details", can_focus=False):
                    yield PlainText(id="detail")
        yield EmptyState(
            _("Nothing is judged yet"),
            _("Scores, what they cost and how facts were found are drawn from judged trials."),
            ("{REFRESH}", _("Count again, once trials have ended and are judged")),
            ("esc", hint(_("Back; in a run's trial, {MENU} j judges it"))),
        )
        yield KeyBar()

    def on_mount(self) -> None:
        for widget in self.query("#body, #figures, EmptyState"):
            widget.display = False
        self.load(AGENTS)

    def on_resize(self, event: events.Resize) -> None:
        if self._view is not None and self._view.as_table:
            self.call_after_refresh(self._fill)

    @property
    def _figures(self) -> FigureTable:
        return self.query_one("#figures", FigureTable)

    @property
    def _list(self) -> ListTable:
        return self.query_one("#list", ListTable)

    @guarded("plots")
    async def load(self, by: By) -> None:
        """Read the trials and draw anew."""
        runs, read = self._runs, self.counter(_("reading trials {done}/{all}"))

        def work(workspace: Workspace) -> PlotsView:
            pool = self.services.pool(workspace, runs, on_count=read)
            self.counting(_("counting"))
            return PlotsView(pool, by)

        self._take(await self.counted(_("reading trials"), work))

    @guarded("plots", background=True)
    async def regroup(self, by: By) -> None:
        """The same trials with other series."""
        if view := self._view:
            made = await self.counted(_("counting"), lambda _ws: PlotsView(view.pool, by))
            self._take(made)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        view = self._view
        if action in ("reload", "leave"):
            return True
        if view is None or not view.anything:
            return False
        match action:
            case "open":
                return not self._list.has_focus and bool(view.trials(*self._cell))
            case "unlist":
                return self._list.has_focus
            case "family":
                return len(view.families) > 1
            case "series":
                return len(view.choices) > 1
            case _:
                return True

    def action_open(self) -> None:
        from cuecard.tui.screens.errors import TrialListScreen

        view = self._view
        if view and (rows := view.rows(*self._cell)):
            self.app.push_screen(TrialListScreen(view.behind(*self._cell), rows))

    def action_unlist(self) -> None:
        self._unlist()

    def action_step(self, by: int) -> None:
        if self._view is not None:
            self._view.go(self._view.at + by)
            self._fill()

    def action_table(self) -> None:
        if self._view is not None:
            self._view.as_table = not self._view.as_table
            self._fill()
            self._unlist()

    def action_list(self) -> None:
        if self._list.has_focus:
            self._unlist()
        else:
            self.add_class(_LISTING)
            self._list.focus()

    def action_family(self) -> None:
        if self._view is not None:
            self._view.next_family()
            self._fill()

    def action_series(self) -> None:
        if self._view is not None:
            self.regroup(self._view.next_by)

    @guarded("plots_export")
    async def action_export(self) -> None:
        view = self._view
        if view is None:
            return
        text = _(
            "The plot, if the name ends in .svg; its numbers, if it ends in .csv, .tex or .md."
            " A file that is there is replaced."
        )
        suffix = "csv" if view.as_table else "svg"
        dialog = PathDialog(_("Export the plot"), text, f"{view.plot.key}.{suffix}")
        await write_file(self, dialog, lambda path: view.file_text(path.suffix))

    def action_reload(self) -> None:
        self.load(self._view.by if self._view else AGENTS)

    def action_leave(self) -> None:
        view = self._view
        if self.has_class(_LISTING):
            self._unlist()
        elif view is not None and view.as_table:
            self.action_table()
        else:
            self.dismiss()

    def on_plot_view_moved(self, event: PlotView.Moved) -> None:
        event.stop()
        if self._view is not None:
            self._view.put(event.at)
            self._explain()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        if self._list.has_focus:
            self._unlist()
        else:
            self.action_open()

    def on_grid_cursor_moved(self, event: Grid.CursorMoved) -> None:
        event.stop()
        view = self._view
        if view is None or not view.anything:
            return
        if event.grid is self._list:
            if event.row != view.at:
                view.go(event.row)
                self._fill()
        else:
            self._explain()

    def on_descendant_focus(self) -> None:
        self.refresh_bindings()

    @property
    def _cell(self) -> tuple[int, int]:
        """Row and column under the cursor of the table."""
        return self._figures.cursor_row, self._figures.cursor_column

    def _take(self, view: PlotsView) -> None:
        if self._view is not None:
            view.keep_place_of(self._view)
        self._view = view
        self.query_one("#body").display = view.anything
        self.query_one(EmptyState).display = not view.anything
        self._fill()
        if view.anything and self.focused is None:
            self._unlist()

    def _fill(self) -> None:
        """The plot that is chosen, or its table."""
        view = self._view
        if view is None:
            return
        self.tell_title()
        if not view.anything:
            self.refresh_bindings()
            return
        self.query_one("#heading", Static).update(view.heading)
        self._list.fill([[name] for name in view.names()], cursor=view.at)
        plot, figures = self.query_one("#plot", PlotView), self._figures
        plot.display, figures.display = not view.as_table, view.as_table
        if view.as_table:
            columns, rows = table_rows(view.table, figures.size.width or self.size.width)
            figures.set_columns(columns, fixed=1)
            figures.load(ListSource(rows), cursor=(0, 1))
        else:
            plot.load(view.plot, view.place)
        self._explain()

    def _unlist(self) -> None:
        """Back from the list to the plot or its table."""
        self.remove_class(_LISTING)
        table = self._view is not None and self._view.as_table
        self.query_one("#figures" if table else "#plot").focus()

    def _explain(self) -> None:
        """The values under the cursor, then what belongs below the plot."""
        view = self._view
        if view is not None and view.anything:
            lines = view.details(*self._cell)
            self.query_one("#detail", PlainText).load("\n".join(lines))
        self.refresh_bindings()

    @property
    def short_title(self) -> str:
        return f"{_('Plots')} · {one_line(self._title, 90)}"

    def tell_title(self) -> None:
        if self._view is not None:
            for title in self.query("#title").results(Static):
                title.update(self._view.title(self._title))
