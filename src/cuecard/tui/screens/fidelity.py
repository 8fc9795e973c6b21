"""Is the simulator a faithful user, and do scores mean anything: tables, and the turns behind them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Footer, Static

from cuecard.annotate.fidelity.material import Scope
from cuecard.annotate.fidelity.turns import Turns, turns_at
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.state.fidelity import FidelityView, Section, markdown, scales_of, title_words
from cuecard.tui.state.paths import path_of
from cuecard.tui.state.sheet_grid import plot_rows, table_rows
from cuecard.tui.widgets.empty import EmptyState
from cuecard.tui.widgets.grid import Grid
from cuecard.tui.widgets.grid.source import ListSource
from cuecard.tui.widgets.list_table import FigureTable
from cuecard.tui.widgets.pieces import Lines
from cuecard.tui.widgets.plain import PlainText

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class FidelityScreen(CuecardScreen[None]):
    """Of these runs, or of all that has something to compare. Enter goes from a figure to its turns."""

    CSS_PATH = "fidelity.tcss"
    AUTO_FOCUS = "#figures"
    BINDINGS = keys(
        Key("fidelity.open", "enter", "open", N_("Turns"), N_("The turns behind this figure, or the sessions")),
        Key("fidelity.next", "n", "step(1)", N_("Next"), N_("The next table of this section")),
        Key("fidelity.before", "b", "step(-1)", N_("Before"), N_("The table before"), show=False),
        Key("fidelity.cues", "c", "show('cues')", N_("Cues"), N_("Agreement on cues met, by cue, stage, language"), show=False),
        Key("fidelity.findings", "f", "show('findings')", N_("Findings"), N_("Early, late, skipped, doubled, leaks, broken rules"), show=False),
        Key("fidelity.worst", "w", "worst", N_("Worst"), N_("The turns to read first"), show=False),
        Key("fidelity.outcome", "o", "show('outcome')", N_("Outcome"), N_("People and simulator on the same tasks and agents"), show=False),
        Key("fidelity.meaning", "m", "show('meaning')", N_("Meaning"), N_("Do scores go with what people said"), show=False),
        Key("fidelity.plot", "i", "plot", N_("Intervals"), N_("The table's intervals drawn, and back"), show=False),
        Key("fidelity.scope", "s", "scope", N_("Choose"), N_("Which simulators, people and runs")),
        Key("fidelity.replay", "p", "replay", N_("Re-play"), N_("Decide a recorded dialogue myself, turn by turn")),
        Key("fidelity.sizes", "z", "sizes", N_("How many"), N_("How many sessions it takes to find a correlation"), show=False),
        Key("fidelity.export", "e", "export", N_("Export"), N_("All tables as Markdown")),
        Key("fidelity.refresh", "r", "look_again", N_("Refresh"), N_("Count again"), show=False),
        Key("fidelity.back", "escape", "leave", N_("Back"), N_("Back")),
    )  # fmt: skip

    def __init__(self, run_ids: Sequence[int] = (), name: str = "") -> None:
        """`name`: of the run."""
        super().__init__()
        self._scope, self._name = Scope(runs=tuple(run_ids)), name
        self._view: FidelityView | None = None
        self._names: tuple[tuple[str, ...], tuple[str, ...]] | None = None
        self._done = ""

    @property
    def view(self) -> FidelityView | None:
        """The report; None while it is counted."""
        return self._view

    def compose(self) -> ComposeResult:
        yield Static("", id="title", markup=False)
        yield Lines(id="tabs")
        yield Static("", id="heading", markup=False)
        yield FigureTable((), cursor="cell", fixed=1, id="figures")
        with VerticalScroll(id="details", can_focus=False):
            yield PlainText(id="detail")
        yield EmptyState(
            _("Nothing to compare yet"),
            _(
                "A simulator is held against people on the same turns: where somebody played with"
                " simulators listening, or re-played what a simulator had played."
            ),
            ("p", _("Re-play a recorded dialogue: the quickest way, it needs no model")),
            ("2", _("Tasks: p plays one yourself, with simulators listening")),
            ("", _("cuecard shadow asks simulators afterwards")),
            ("s", _("Choose other runs or simulators")),
        )
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        for widget in self.query("#tabs, #heading, #figures, #details, EmptyState"):
            widget.display = False
        self.set_interval(0.2, self._tell_progress)
        self.look()

    def on_resize(self, event: events.Resize) -> None:
        if self._view is not None and self._view.anything:
            self.call_after_refresh(self._fill)

    @property
    def _grid(self) -> FigureTable:
        return self.query_one("#figures", FigureTable)

    @guarded("fidelity")
    async def look(self) -> None:
        from cuecard.annotate.fidelity.gathering import gather
        from cuecard.annotate.fidelity.report import report_of, scored_part
        from cuecard.annotate.fidelity.sheets import fidelity_sheets

        scope = self._scope

        def read(done: int, of: int) -> None:
            self._done = _("reading dialogues {done}/{all}").format(done=done, all=of)

        def work(workspace: Workspace) -> FidelityView:
            material = gather(workspace, scope, read)
            self._done = _("scoring")
            outcomes, meaning = scored_part(workspace, scope)
            self._done = _("counting")
            found = report_of(material, outcomes, meaning)
            scales = scales_of(workspace.session_forms.newest())
            return FidelityView(material, found, fidelity_sheets(found), scales)

        self._done = _("reading dialogues")
        try:
            view = await self.services.ask(work)
        finally:
            self._done = ""
        if self._view is not None:
            view.keep_place_of(self._view)
        self._view = view
        if self._names is None or not (scope.simulators or scope.people):
            simulators = sorted({player.name for player in view.found.simulators})
            self._names = (tuple(simulators), view.found.people)
        self._show()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        view = self._view
        if action in ("look_again", "leave", "replay", "scope"):
            return True
        if view is None or not view.anything:
            return False
        match action:
            case "open":
                return view.behind(self._grid.cursor_row, self._grid.cursor_column) is not None
            case "step":
                return len(view.of(view.section)) > 1
            case "show":
                return view.plotted or parameters[0] != view.section
            case "plot":
                return view.plottable
            case "worst":
                return bool(view.found.worst)
            case _:
                return True

    def action_show(self, section: Section) -> None:
        if self._view is not None:
            self._view.show(section)
            self._fill()
            if self._view.sheet is not None:
                self._grid.focus()

    def action_step(self, by: int) -> None:
        if self._view is not None:
            self._view.step(by)
            self._fill()

    def action_plot(self) -> None:
        if self._view is not None:
            self._view.plotted = not self._view.plotted
            self._fill()

    def action_open(self) -> None:
        view = self._view
        if view is None:
            return
        behind = view.behind(self._grid.cursor_row, self._grid.cursor_column)
        if isinstance(behind, Turns):
            self._list(behind, view.name_of(self._grid.cursor_row, self._grid.cursor_column))
        elif behind is not None:
            from cuecard.tui.screens.scatter import ScatterScreen

            self.app.push_screen(ScatterScreen(behind, view.scales.get(behind.scale)))

    def action_worst(self) -> None:
        self._list(Turns(found=True), _("Worst turns"))

    def action_replay(self) -> None:
        from cuecard.tui.screens.replay_choice import ReplayChoiceScreen

        self.app.push_screen(ReplayChoiceScreen(self._scope.runs, self._name))

    def action_sizes(self) -> None:
        from cuecard.tui.screens.fidelity_dialogs import SizesDialog

        meaning = self._view.found.meaning if self._view else None
        every = meaning.correlations if meaning else ()
        effects = [each.design_effect for each in every if each.design_effect]
        self.app.push_screen(
            SizesDialog(
                max((each.sessions for each in every), default=0), max(effects, default=None)
            )
        )

    @guarded("scope")
    async def action_scope(self) -> None:
        from cuecard.tui.screens.fidelity_dialogs import ScopeDialog

        runs = await self.services.ask(
            lambda ws: [(run.id, f"{run.id} {run.name}") for run in ws.runs.all()]
        )
        simulators, people = self._names or ((), ())
        dialog = ScopeDialog(self._scope, simulators, people, runs)
        chosen = await self.app.push_screen_wait(dialog)
        if chosen is not None and chosen != self._scope:
            self._scope = chosen
            self.look()

    @guarded("export")
    async def action_export(self) -> None:
        from cuecard.annotate.fidelity.words import circumstances
        from cuecard.tui.screens.fidelity_dialogs import PathDialog

        view = self._view
        if view is None:
            return
        text = _("All tables with their notes, as Markdown. A file that is there is replaced.")
        dialog = PathDialog(_("Export the report"), text, "fidelity.md")
        typed = await self.app.push_screen_wait(dialog)
        if typed is None:
            return
        path = path_of(typed)
        title = " · ".join(filter(None, (_("Fidelity of simulators"), self._name)))
        content = markdown(view.sheets, title, circumstances(view.found))

        def write(_workspace: Workspace) -> Path:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
            return path

        written = await self.services.ask(write)
        self.cue_app.tell(_("Written: {path}").format(path=written))

    def action_look_again(self) -> None:
        self.look()

    def action_leave(self) -> None:
        self.dismiss()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self.action_open()

    def on_grid_cursor_moved(self, event: Grid.CursorMoved) -> None:
        event.stop()
        self._explain()

    def _list(self, wanted: Turns, title: str) -> None:
        from cuecard.tui.screens.fidelity_turns import FidelityTurnsScreen

        if self._view is not None:
            rows = turns_at(self._view.material, self._view.found, wanted)
            self.app.push_screen(FidelityTurnsScreen(title, rows))

    def _tell_progress(self) -> None:
        if self._done:
            name = one_line(self._name, 40) or _("Fidelity")
            self.query_one("#title", Static).update(f"{name} · {self._done} …")

    def _show(self) -> None:
        view = self._view
        if view is None:
            return
        for widget in self.query("#tabs, #heading, #figures, #details"):
            widget.display = view.anything
        self.query_one(EmptyState).display = not view.anything
        title = title_words(view, self._name, self._scope)
        self.query_one("#title", Static).update(title)
        if view.anything:
            self._fill()
            if view.sheet is not None:
                self._grid.focus()
        self.refresh_bindings()

    def _fill(self) -> None:
        view, grid = self._view, self._grid
        if view is None:
            return
        self.query_one("#tabs", Lines).load([view.tabs])
        self.query_one("#heading", Static).update(view.heading)
        grid.display = view.sheet is not None
        self.query_one("#details").set_class(view.sheet is None, "-alone")
        if view.sheet is None:
            columns, rows = (), ()
        elif view.plotted:
            columns, rows = plot_rows(view.sheet, self.size.width)
        else:
            columns, rows = table_rows(view.sheet, self.size.width)
        grid.set_columns(columns, fixed=0 if view.plotted else 1)
        grid.load(ListSource(rows), cursor=(0, 0 if view.plotted else 1))
        self._explain()

    def _explain(self) -> None:
        if self._view is not None:
            lines = self._view.details(self._grid.cursor_row, self._grid.cursor_column)
            self.query_one("#detail", PlainText).load("\n".join(lines))
        self.refresh_bindings()
