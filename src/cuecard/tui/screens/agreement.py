"""How far judges and people agree: tables of figures with their intervals, or why there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Footer, Static

from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.state.agreement import AgreementView, Shown
from cuecard.tui.state.sheet_grid import plot_rows, table_rows
from cuecard.tui.widgets.empty import EmptyState
from cuecard.tui.widgets.grid import Grid
from cuecard.tui.widgets.grid.source import ListSource
from cuecard.tui.widgets.plain import PlainText

if TYPE_CHECKING:
    from cuecard.annotate.labelling.comparison import Scope, Subject
    from cuecard.annotate.labelling.comparison.sheets import Sheet
    from cuecard.store.workspace import Workspace


class AgreementScreen(CuecardScreen[None]):
    """One table at a time; Enter goes from a figure to its items."""

    CSS_PATH = "agreement.tcss"
    AUTO_FOCUS = "#figures"
    BINDINGS = keys(
        Key("agreement.items", "enter", "items", N_("Items"), N_("The items behind this figure")),
        Key("agreement.next", "n", "step(1)", N_("Next"), N_("The next table of this view")),
        Key("agreement.before", "b", "step(-1)", N_("Before"), N_("The table before"), show=False),
        Key("agreement.table", "t", "show('table')", N_("Table"), N_("Every statistic of every judge")),
        Key("agreement.matrix", "m", "show('matrix')", N_("Matrix"), N_("Confusion matrices, and agreement by label")),
        Key("agreement.groups", "g", "show('groups')", N_("Groups"), N_("By family, language, relation and agent")),
        Key("agreement.judges", "j", "show('judges')", N_("Judges"), N_("Judges beside each other and beside people")),
        Key("agreement.plot", "i", "show('plot')", N_("Intervals"), N_("The intervals of a table drawn")),
        Key("agreement.effect", "e", "show('effect')", N_("Effect"), N_("Scores with people's labels, and the order of agents")),
        Key("agreement.kind", "k", "subject", N_("Other kind"), N_("Labels about something else: cues, leaks, rows"), show=False),
        Key("agreement.adjudicate", "d", "adjudicate", N_("Adjudicate"), N_("Decide where people, or people and judge, disagree"), show=False),
        Key("agreement.refresh", "r", "look_again", N_("Refresh"), N_("Count again"), show=False),
        Key("agreement.back", "escape", "leave", N_("Back"), N_("Back")),
    )  # fmt: skip

    def __init__(self, run_id: int | None, name: str, *, set_id: int | None = None) -> None:
        """Of one run, of a labelling set, or without either of the whole workspace. `name`: its own."""
        super().__init__()
        self._run_id, self._set_id, self._name = run_id, set_id, name
        self._subject: Subject | None = None
        self._view: AgreementView | None = None
        self._done = ""

    def compose(self) -> ComposeResult:
        yield Static("", id="title", markup=False)
        yield Static("", id="heading", markup=False)
        yield Grid((), cursor="cell", fixed=1, id="figures")
        with VerticalScroll(id="details", can_focus=False):
            yield PlainText(id="detail")
        yield EmptyState(
            _("Nobody has labelled these verdicts yet"),
            _("Agreement needs at least one person's labels beside the judge's verdicts."),
            ("esc", _("Back, then Enter labels")),
        )
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        for widget in self.query("#heading, #figures, #details, EmptyState"):
            widget.display = False
        self.set_interval(0.2, self._tell_progress)
        self.look()

    def on_resize(self, event: events.Resize) -> None:
        if self._view is not None and self._grid.display:
            self.call_after_refresh(self._fill)

    @property
    def _grid(self) -> Grid:
        return self.query_one("#figures", Grid)

    @property
    def _scope(self) -> Scope:
        from cuecard.annotate.labelling.comparison import Scope

        runs = () if self._run_id is None else (self._run_id,)
        return Scope(runs=runs, set_id=self._set_id, subject=self._subject)

    @guarded("agreement")
    async def look(self) -> None:
        from cuecard.annotate.labelling.comparison import compare, gather
        from cuecard.annotate.labelling.comparison.sheets import sheets_of

        scope = self._scope

        def read(done: int, of: int) -> None:
            self._done = _("reading tasks {done}/{all}").format(done=done, all=of)

        def counted(done: int, of: int) -> None:
            self._done = _("comparing {done}/{all}").format(done=done, all=of)

        def work(workspace: Workspace) -> AgreementView:
            material = gather(workspace, scope, read)
            found = compare(material, tell=counted)
            return AgreementView(material, found, sheets_of(found))

        self._done = _("reading labels")
        try:
            view = await self.services.ask(work)
        finally:
            self._done = ""
        if self._view is not None:
            view.show(self._view.shown if self._view.shown != "effect" else "table")
        self._view = view
        self._show()

    @guarded("agreement_effect")
    async def weigh(self) -> None:
        """Scores with people's labels: reads whole logs, so only when they are asked for."""
        from cuecard.annotate.effect import effect_of
        from cuecard.annotate.effect.sheets import effect_sheets

        view, set_id = self._view, self._set_id
        if view is None:
            return
        trials = {case.trial_id for case in view.material.cases}

        def work(workspace: Workspace) -> tuple[Sheet, ...]:
            runs = [self._run_id] if self._run_id is not None else []
            runs = runs or sorted({workspace.runs.trial(trial).run_id for trial in trials})
            return effect_sheets(effect_of(workspace, runs, set_id=set_id))

        self._done = _("scoring again with people's labels")
        try:
            sheets = await self.services.ask(work)
        finally:
            self._done = ""
        view.weighed = True
        if self._view is view:
            kept = [sheet for sheet in view.sheets if sheet.view != "effect"]
            view.sheets = (*kept, *sheets)
            self._show()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        view = self._view
        if action in ("items", "step", "show", "subject"):
            if view is None or not view.comparison.people:
                return False
            if action == "items":
                return view.place(self._grid.cursor_row, self._grid.cursor_column) is not None
            if action == "step":
                return len(view.of(view.shown)) > 1
            if action == "subject":
                return view.next_subject is not None
            return parameters[0] != view.shown
        return True

    def action_show(self, shown: Shown) -> None:
        if self._view is None:
            return
        self._view.show(shown)
        self._fill()
        if shown == "effect" and not self._view.weighed:
            self.weigh()

    def action_step(self, by: int) -> None:
        if self._view is not None:
            self._view.step(by)
            self._fill()

    def action_subject(self) -> None:
        if self._view is not None:
            self._subject = self._view.next_subject
            self.look()

    def action_look_again(self) -> None:
        self.look()

    def action_adjudicate(self) -> None:
        from cuecard.tui.screens.adjudicate import AdjudicateScreen

        runs = None if self._run_id is None else (self._run_id,)
        self.app.push_screen(AdjudicateScreen(self._name, runs, self._set_id))

    def action_leave(self) -> None:
        self.dismiss()

    def action_items(self) -> None:
        from cuecard.tui.screens.agreement_items import AgreementItemsScreen

        view = self._view
        place = view.place(self._grid.cursor_row, self._grid.cursor_column) if view else None
        if view is not None and place is not None:
            self.app.push_screen(
                AgreementItemsScreen(view.material, view.comparison, place, self._name)
            )

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self.action_items()

    def on_grid_cursor_moved(self, event: Grid.CursorMoved) -> None:
        event.stop()
        self._explain()

    def _tell_progress(self) -> None:
        if self._done:
            self.query_one("#title", Static).update(f"{one_line(self._name, 40)} · {self._done} …")

    def _show(self) -> None:
        view = self._view
        if view is None:
            return
        found = view.comparison
        anything = bool(found.people)
        for widget in self.query("#heading, #figures, #details"):
            widget.display = anything
        self.query_one(EmptyState).display = not anything
        told = _("{run} · {verdicts} verdicts · {labelled} labelled · {unsure} cannot tell")
        if found.population is None:
            told = _("{run} · {labelled} labelled · {unsure} cannot tell")
        self.query_one("#title", Static).update(
            told.format(
                run=one_line(self._name, 40),
                verdicts=f"{found.population or 0:,}",
                labelled=f"{found.labelled:,}",
                unsure=f"{found.unsure:,}",
            )
        )
        if anything:
            self._fill()
            self._grid.focus()

    def _fill(self) -> None:
        view = self._view
        if view is None:
            return
        self.query_one("#heading", Static).update(view.heading)
        drawn, sheet, grid = view.shown == "plot", view.sheet, self._grid
        if sheet is None:
            columns, rows = (), ()
        elif drawn:
            columns, rows = plot_rows(sheet, self.size.width)
        else:
            columns, rows = table_rows(sheet, self.size.width)
        grid.set_columns(columns, fixed=0 if drawn else 1)
        grid.load(ListSource(rows), cursor=(0, 0 if drawn else 1))
        self._explain()

    def _explain(self) -> None:
        if self._view is not None:
            grid = self._grid
            lines = self._view.details(grid.cursor_row, grid.cursor_column)
            self.query_one("#detail", PlainText).load("\n".join(lines))
        self.refresh_bindings()
