"""The base of all screens with tables of numbers: sections, intervals, details, progress, and export to a path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from pydantic import Field
from textual import events
from textual.app import ComposeResult
from textual.binding import ActiveBinding
from textual.widgets import Static

from cuecard.core.errors import CuecardError, NotAllowed
from cuecard.core.i18n import N_, _, listed
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line, slug
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.drawing import VerticalScroll
from cuecard.tui.grid import Grid
from cuecard.tui.grid.cells import ListSource
from cuecard.tui.kit.forms import AnswerDialog
from cuecard.tui.kit.rows import Row
from cuecard.tui.present import tables as present
from cuecard.tui.present.files import Report, report_text
from cuecard.tui.present.paths import path_of
from cuecard.tui.widgets.inputs import FigureTable
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import ChangingText, HeadLine, Lines, PlainText

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


_BESIDE, _LEAST = 20, 8
"""Lines that everything else takes on a tall screen, and how many a drawing needs to be worth it."""


T = TypeVar("T")
ViewT = TypeVar("ViewT", bound=present.TablesView[Any])


class Left(Exception):
    """Raised in the thread of a computation that nobody waits for any more."""


def section_keys(sections: Mapping[Any, present.Tab]) -> list[Key]:
    """A key for each section."""
    return [
        Key(tab.id, Means.A_VIEW, f"show('{section}')", tab.name, tab.tip, False, letter=tab.letter)
        for section, tab in sections.items()
    ]


class CountingScreen(CuecardScreen[None]):
    """Its title says how far it is while something is counted."""

    def __init__(self) -> None:
        super().__init__()
        self._done = ""

    @property
    def short_title(self) -> str:
        """What it is about, in the first line, while that is counted."""
        raise NotImplementedError

    def tell_title(self) -> None:
        """The same once it is."""
        raise NotImplementedError

    def on_mount(self) -> None:
        self.set_interval(0.2, self._tell_progress)

    def counting(self, text: str) -> None:
        """What is being done, shown in the title. May be called from the thread that counts."""
        self._done = text

    async def counted(self, text: str, call: Callable[[Workspace], T]) -> T:
        """What `call` gives, run in a thread; the title says so until then."""
        self._done = text
        try:
            return await self.services.ask(call)
        except NotAllowed as error:
            # The notice goes, and the screen would be empty.
            for heading in self.query("#heading").results(Static):
                heading.display = True
                heading.update(str(error))
            raise
        finally:
            self._done = ""
            self.tell_title()

    def counter(self, text: str) -> Callable[[int, int], None]:
        """To be called from the thread that counts; `text` holds `{done}` and `{all}`. Raises `Left` there once
        this screen was left.
        """

        def tell(done: int, of: int) -> None:
            if not self.is_running:
                raise Left
            self._done = text.format(done=done, all=of)

        return tell

    def _tell_progress(self) -> None:
        if self._done:
            self.query_one("#title", Static).update(f"{self.short_title} · {self._done} …")


class FiguresScreen(CountingScreen, Generic[ViewT]):
    """Shows one table of one section; Enter opens what is behind a number. Subclasses compute (`load`), word the empty
    state (`empty`) and the report (`written`).
    """

    CSS_PATH = "figures.tcss"
    AUTO_FOCUS = "#figures"
    VERTICAL_BREAKPOINTS = [(0, "-short"), (36, "-tall")]
    BINDINGS = keys(
        Key("figures.next", Means.NEXT, "step(1)", N_("Next"), N_("The next table of this section")),
        Key("figures.before", Means.BEFORE, "step(-1)", N_("Before"), N_("The table before"), show=False),
        Key("figures.plot", Means.DETAILS, "plot", N_("Intervals"), N_("The table's intervals drawn, and back"), show=False),
        Key("figures.export", Means.EXPORT, "export", N_("Export"), N_("All tables as Markdown")),
        Key("figures.refresh", Means.REFRESH, "reload", N_("Refresh"), N_("Count again"), show=False),
        Key("figures.back", Means.UP_ONE, "leave", N_("Back"), N_("Back")),
    )  # fmt: skip
    ALWAYS: tuple[str, ...] = ("reload", "leave")
    """Actions that need no figures."""

    def __init__(self) -> None:
        super().__init__()
        self._view: ViewT | None = None

    @property
    def view(self) -> ViewT | None:
        """What is shown; None while it is counted."""
        return self._view

    @property
    def shown_view(self) -> str:
        return f"show('{self.view.section}')" if self.view is not None else ""

    def title_of(self, view: ViewT) -> str:
        """What the figures are about, in the first line."""
        raise NotImplementedError

    def empty(self) -> EmptyState:
        raise NotImplementedError

    def load(self) -> object:
        """Count, in a guarded worker, and `show_view`."""
        raise NotImplementedError

    def action_open(self) -> None:
        """What is behind the figure under the cursor."""
        raise NotImplementedError

    async def written(self, view: ViewT) -> Report:
        """What is exported."""
        raise NotImplementedError

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """What this screen is for comes before what all screens of figures have."""
        found = super().active_bindings
        last = {
            key: one for key, one in found.items() if (one.binding.id or "").startswith("figures.")
        }
        return {**{key: one for key, one in found.items() if key not in last}, **last}

    def compose(self) -> ComposeResult:
        yield HeadLine("", id="title", markup=False)
        yield Lines(id="tabs")
        yield Static("", id="heading", markup=False)
        yield FigureTable((), cursor="cell", fixed=1, id="figures")
        yield ChangingText(id="drawn", markup=False)
        with VerticalScroll(id="details", can_focus=False):
            yield PlainText(id="detail")
        yield self.empty()
        yield KeyBar()

    def on_mount(self) -> None:
        for widget in self.query("#tabs, #heading, #figures, #drawn, #details, EmptyState"):
            widget.display = False
        self.load()

    def on_resize(self, event: events.Resize) -> None:
        if self.view is not None and self.view.anything:
            self.call_after_refresh(self._fill_again)

    @property
    def grid(self) -> FigureTable:
        return self.query_one("#figures", FigureTable)

    @property
    def place(self) -> tuple[int, int]:
        """Row and column under the cursor."""
        return self.grid.cursor_row, self.grid.cursor_column

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        view = self.view
        if action in self.ALWAYS:
            return True
        if view is None or not view.anything:
            return False
        match action:
            case "open":
                return view.opens(*self.place)
            case "step":
                return len(view.of(view.section)) > 1
            case "show":
                return parameters[0] in view.named
            case "plot":
                return view.plottable
            case _:
                return True

    def action_show(self, section: str) -> None:
        if self.view is not None:
            self.view.show(section)
            self.show_all()

    def action_step(self, by: int) -> None:
        if self.view is not None:
            self.view.step(by)
            self.fill()

    def action_plot(self) -> None:
        if self.view is not None:
            self.view.plotted = not self.view.plotted
            self.fill()

    def action_reload(self) -> None:
        self.load()

    def action_leave(self) -> None:
        self.dismiss()

    @guarded("export")
    async def action_export(self) -> None:
        if self._view is None:
            return
        report = await self.written(self._view)
        text = _(
            "All tables with their notes, as Markdown; as LaTeX or CSV if the name ends in .tex or .csv."
            " A file that is there is replaced."
        )
        dialog = PathDialog(_("Export the report"), text, f"{report.name}.md")
        await write_file(self, dialog, lambda path: report_text(report, path.suffix))

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self.action_open()

    def on_grid_cursor_moved(self, event: Grid.CursorMoved) -> None:
        event.stop()
        self.explain()

    def show_view(self, view: ViewT) -> None:
        """Show what was counted, at the place of what was shown before."""
        if self._view is not None:
            view.keep_place_of(self._view)
        self._view = view
        self.show_all()

    def show_all(self) -> None:
        """What was counted, or the empty state."""
        view = self.view
        if view is None:
            return
        for widget in self.query("#tabs, #heading, #figures, #details"):
            widget.display = view.anything
        self.query_one(EmptyState).display = not view.anything
        self.tell_title()
        if view.anything:
            self.fill()
            if view.table is not None:
                self.grid.focus()
        self.refresh_bindings()

    def fill(self, cursor: tuple[int, int] | None = None) -> None:
        """The table that the view shows now, with the cursor there or where tables begin."""
        view, grid = self.view, self.grid
        if view is None:
            return
        self.query_one("#tabs", Lines).load(view.tab_lines(self.size.width - 2))
        self.query_one("#heading", Static).update(view.heading)
        grid.display = view.table is not None
        self.query_one("#details").set_class(view.table is None, "-alone")
        if view.table is None:
            columns, rows = (), ()
        elif view.plotted and view.drawn:
            columns, rows = present.plot_rows(view.drawn, self.size.width)
        else:
            columns, rows = present.table_rows(view.table, self.size.width)
        grid.set_columns(columns, fixed=0 if view.plotted else 1)
        grid.load(ListSource(rows), cursor=cursor or (0, view.first_column))
        self.explain()

    def explain(self) -> None:
        """The figure under the cursor in full."""
        if self.view is not None:
            lines = self.view.details(*self.place)
            self.query_one("#detail", PlainText).load("\n".join(lines))
            self._draw_below(self.view)
        self.refresh_bindings()

    def tell_title(self) -> None:
        if self.view is not None:
            for title in self.query("#title").results(Static):
                title.update(self.title_of(self.view))

    def _fill_again(self) -> None:
        self.fill(self.place)

    def _draw_below(self, view: present.TablesView[Any]) -> None:
        """On tall screens the intervals stand below a table of few lines as well, and what is known of its line."""
        drawn = self.query_one("#drawn", ChangingText)
        table, plotted = view.table, view.drawn
        spare = self.size.height - _BESIDE - (len(table.lines) if table else 0)
        drawn.display = (
            table is not None
            and plotted is not None
            and not view.plotted
            and view.plottable
            and spare >= _LEAST
        )
        if self.grid is not self.maximized:
            self.grid.styles.height = len(table.lines) + 2 if table and drawn.display else "1fr"
        if plotted is None or not drawn.display:
            return
        lines = present.plot_lines(plotted, self.size.width, spare - 2)
        if (left := spare - len(lines) - 3) > 0 and (
            found := view.beside(self.grid.cursor_row, left)
        ):
            lines += ["", one_line(found.title), *present.text_lines(found, self.size.width - 2)]
        drawn.tell("\n".join(lines))


async def write_file(
    screen: CuecardScreen[Any], dialog: PathDialog, content: Callable[[Path], str]
) -> None:
    """Ask where to, and write what `content` makes for that path. Raises `CuecardError`."""
    from cuecard.core.system import write_text

    typed = await screen.app.push_screen_wait(dialog)
    if typed is not None:
        path = path_of(typed)
        text = content(path)
        found = await screen.services.ask(lambda _ws: write_text(path, text))
        screen.cue_app.tell(_("Written: {path}").format(path=found))


async def write_report(screen: CuecardScreen[Any], runs: Sequence[int], title: str) -> None:
    """Ask where to, and write it in the format that the file's suffix names. Raises `CuecardError`."""
    from cuecard.annotate.results.report import report_of
    from cuecard.annotate.results.report_formats import FORMATS, format_of, written
    from cuecard.core.system import write_text

    text = _(
        "Scores, comparisons, errors, plots and the method, in one file that can be sent: .html, .md, .tex, .csv"
        " or .json. A file that is there is replaced."
    )
    typed = await screen.app.push_screen_wait(
        PathDialog(_("Write a report"), text, f"{slug(title) or 'report'}.html")
    )
    if typed is None:
        return
    path = path_of(typed)
    format = format_of(path)
    if format is None:
        raise CuecardError(
            _("The report could not be written"),
            _("the file's suffix names no format"),
            listed(f".{known}" for known in FORMATS),
        )
    screen.cue_app.tell(_("Writing the report …"))

    settings = (await screen.services.config()).contamination

    def write(workspace: Workspace) -> Path:
        found = report_of(workspace, runs, contamination=settings)
        return write_text(path, written(found, format))

    file = await screen.services.ask(write)
    screen.cue_app.tell(_("Written: {path}").format(path=file))


class _File(Frozen):
    path: Annotated[str, Field(title="", min_length=1), Row("path")]


class PathDialog(AnswerDialog[_File, str]):
    """Where to write a file; dismissed with the path."""

    def __init__(self, title: str, text: str, path: str) -> None:
        file = _File(path=path)
        super().__init__(title, file, ask=text, button=_("Write"), tips={"path": _("a file")})

    async def answer(self, model: _File) -> str:
        return model.path
