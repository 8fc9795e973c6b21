"""The Fidelity screen: tables on simulators, ratings plotted against scores, and dialogs: its simulators and runs, and the
sample size for a correlation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.widgets import Static

from cuecard.annotate.fidelity.findings import Turns, turns_at
from cuecard.annotate.fidelity.inputs import Scope
from cuecard.annotate.fidelity.model import Correlation, Point
from cuecard.core.i18n import N_, NP_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.drawing import VerticalScroll
from cuecard.tui.grid import Grid
from cuecard.tui.grid.cells import ListSource
from cuecard.tui.kit.forms import FormDialog
from cuecard.tui.present import fidelity as present
from cuecard.tui.present.files import Report
from cuecard.tui.present.keyboard import hint
from cuecard.tui.screens.figures import FiguresScreen, section_keys
from cuecard.tui.widgets.inputs import FigureTable, FittedColumn, ListTable
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import HeadLine, PlainText

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


_SECTIONS = section_keys(present.SECTIONS)


class FidelityScreen(FiguresScreen[present.FidelityView]):
    """Of these runs, or of all that has something to compare. Enter goes from a figure to its turns."""

    BINDINGS = keys(
        Key("fidelity.open", Means.OPEN, "open", NP_("those behind a figure", "Turns"), N_("The turns behind this figure, or the sessions")),
        *_SECTIONS[:2],
        Key("fidelity.worst", Means.A_VIEW, "worst", N_("Worst"), N_("The turns to read first"), show=False, letter=present.WORST),
        *_SECTIONS[2:],
        Key("fidelity.scope", Means.EDIT, "scope", N_("Choose"), N_("Which simulators, people and runs")),
        Key("fidelity.replay", Means.PLAY, "replay", N_("Re-play"), N_("Decide a recorded dialogue myself, turn by turn")),
        Key("fidelity.sizes", Means.COMMAND, "sizes", N_("How many"), N_("How many sessions it takes to find a correlation"), show=False, letter="z"),
    )  # fmt: skip

    ALWAYS = ("reload", "leave", "replay", "scope")

    def __init__(self, run_ids: Sequence[int] = (), name: str = "") -> None:
        """`name`: of the run."""
        super().__init__()
        self._scope, self._name = Scope(runs=tuple(run_ids)), name
        self._names: tuple[tuple[str, ...], tuple[str, ...]] | None = None

    @property
    def short_title(self) -> str:
        return one_line(self._name, 90) or _("Fidelity")

    def title_of(self, view: present.FidelityView) -> str:
        return present.title_words(view, self._name, self._scope)

    def empty(self) -> EmptyState:
        return EmptyState(
            _("Nothing to compare yet"),
            _(
                "A simulator is held against people on the same turns: where somebody played with"
                " simulators listening, or re-played what a simulator had played."
            ),
            ("{PLAY}", _("Re-play a recorded dialogue: the quickest way, it needs no model")),
            ("2", hint(_("Tasks: {PLAY} plays one yourself, with simulators listening"))),
            ("", _("cuecard shadow asks simulators afterwards")),
            ("{EDIT}", _("Choose other runs or simulators")),
        )

    @guarded("fidelity")
    async def load(self) -> None:
        from cuecard.annotate.fidelity.report import gather, report_of, scored_part
        from cuecard.annotate.fidelity.tables import fidelity_tables

        scope = self._scope

        read = self.counter(_("reading dialogues {done}/{all}"))

        def work(workspace: Workspace) -> present.FidelityView:
            inputs = gather(workspace, scope, read)
            self.counting(_("scoring"))
            outcomes, meaning = scored_part(workspace, scope)
            self.counting(_("counting"))
            found = report_of(inputs, outcomes, meaning)
            scales = present.scales_of(workspace.session_forms.newest())
            return present.FidelityView(inputs, found, fidelity_tables(found), scales)

        view = await self.counted(_("reading dialogues"), work)
        if self._names is None or not (scope.simulators or scope.people):
            simulators = sorted({player.name for player in view.found.simulators})
            self._names = (tuple(simulators), view.found.people)
        self.show_view(view)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "worst":
            return bool(self._view and self._view.found.worst)
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        view = self._view
        if view is None:
            return
        behind = view.behind(*self.place)
        if isinstance(behind, Turns):
            self._list(behind, view.name_of(*self.place))
        elif behind is not None:
            self.app.push_screen(ScatterScreen(behind, view.scales.get(behind.scale)))

    def action_worst(self) -> None:
        self._list(Turns(found=True), _("Worst turns"))

    def action_replay(self) -> None:
        from cuecard.tui.screens.fidelity_replay_choice import ReplayChoiceScreen

        self.app.push_screen(ReplayChoiceScreen(self._scope.runs, self._name))

    def action_sizes(self) -> None:

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

        runs = await self.services.ask(
            lambda ws: [
                (run.id, f"{run.id} {run.name}") for run in ws.runs.all() if run.kind != "probe"
            ]
        )
        simulators, people = self._names or ((), ())
        dialog = scope_dialog(self._scope, simulators, people, runs)
        chosen = await self.app.push_screen_wait(dialog)
        if chosen is not None and chosen != self._scope:
            self._scope = chosen
            self.load()

    async def written(self, view: present.FidelityView) -> Report:
        from cuecard.annotate.fidelity.tables import circumstances

        title = " · ".join(filter(None, (_("Fidelity of simulators"), self._name)))
        return Report("fidelity", title, view.tables, circumstances(view.found))

    def _list(self, wanted: Turns, title: str) -> None:
        from cuecard.tui.screens.fidelity_turns import FidelityTurnsScreen

        if self._view is not None:
            rows = turns_at(self._view.inputs, self._view.found, wanted)
            self.app.push_screen(FidelityTurnsScreen(title, rows))


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
        Key("scatter.open", Means.OPEN, "open", N_("Sessions"), N_("The sessions in this cell; of a listed one its trial")),
        Key("scatter.table", Means.DETAILS, "table", N_("Plot/table"), N_("The numbers behind the plot, and back")),
        Key("scatter.leave", Means.UP_ONE, "leave", N_("Back"), N_("Back")),
    )  # fmt: skip

    def __init__(self, found: Correlation, scale: tuple[int, int] | None = None) -> None:
        super().__init__()
        self._found, self._scale = found, scale
        self._scatter: present.Scatter | None = None
        self._listed: tuple[Point, ...] = ()

    def compose(self) -> ComposeResult:
        yield HeadLine(present.correlation_text(self._found), id="title", markup=False)
        yield Static(present.plot_heading(self._found), id="heading", markup=False)
        yield FigureTable((), cursor="cell", fixed=1, id="plot")
        yield ListTable(SESSIONS, id="sessions")
        with VerticalScroll(id="details", can_focus=False):
            yield PlainText(id="detail")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#sessions").display = False
        self.call_after_refresh(self._draw)

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._draw)

    def action_open(self) -> None:
        plot, table = self.query_one("#plot", FigureTable), self.query_one("#sessions", ListTable)
        if table.display:
            from cuecard.tui.screens.trial.screen import TrialScreen

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
        scatter = self._scatter = present.scatter_of(self._found.points, self._scale, room)
        grid.set_columns(present.plot_columns(scatter, _COLUMN), fixed=1)
        rows = [present.plot_cells(scatter, row) for row in range(len(scatter.answers))]
        grid.load(ListSource(rows), cursor=(grid.cursor_row, max(1, grid.cursor_column)))
        self._explain()

    def _list(self, points: Sequence[Point]) -> None:
        self._listed = tuple(sorted(points, key=lambda p: (-p.x, p.y)))
        table = self.query_one("#sessions", ListTable)
        table.fill([present.session_cells(point) for point in self._listed])
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
        lines = [present.here(points), *present.figure_lines(self._found)]
        self.query_one("#detail", PlainText).load("\n".join(map(one_line, lines)))


def scope_dialog(
    scope: Scope, simulators: Sequence[str], people: Sequence[str], runs: Sequence[tuple[int, str]]
) -> FormDialog[Scope]:
    """Simulators and people by name, runs by number and name; nothing ticked means all."""
    return FormDialog(
        _("What the report is about"),
        scope,
        ask=_("Space ticks; nothing ticked in a list means all of it."),
        button=_("Show"),
        options={
            "simulators": [(one_line(name, 56), name) for name in simulators],
            "people": [(one_line(name, 56), name) for name in people],
            "runs": [(one_line(name, 56), id) for id, name in runs],
        },
    )


class SizesDialog(FormDialog[present.Sizes]):
    """How many sessions it takes; typed numbers count at once. `sessions` and `effect` as in `sizes_lines`."""

    def __init__(self, sessions: int, effect: float | None) -> None:
        super().__init__(_("How many sessions does it take?"), present.Sizes(), button=_("Close"))
        self._sessions, self._effect = sessions, effect

    async def summary(self, model: present.Sizes) -> str:
        return "\n".join(present.sizes_lines(model, self._sessions, self._effect))
