"""Home: what waits for me, and where to begin when nothing does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import DataTable, Footer, Static

from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.widgets.empty import EmptyState
from cuecard.tui.widgets.list_table import ListTable
from cuecard.tui.widgets.nav import NavBar

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace
    from cuecard.tui.screens.welcome import Introduction
    from cuecard.tui.state.home import HomeRow


def _look(workspace: Workspace, person: str) -> tuple[list[HomeRow], int]:
    """Home's rows and the number of tasks; runs in a thread."""
    from cuecard.annotate.waiting import VERDICT_LIMIT, pending_for
    from cuecard.tui.state.home import rows_of

    return rows_of(pending_for(workspace, person), VERDICT_LIMIT), workspace.tasks.count()


class HomeScreen(CuecardScreen[None]):
    """Lists what waits; Enter opens it. Draws its first frame before anything is loaded."""

    CSS_PATH = "home.tcss"
    BINDINGS = keys(
        Key("home.open", "enter", "open", N_("Open"), N_("Open what waits")),
        Key("home.refresh", "r", "look_again", N_("Refresh"), N_("Look again for what waits")),
    )

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[HomeRow] = []

    def compose(self) -> ComposeResult:
        yield NavBar("home")
        with Vertical(id="body"):
            yield Static(_("Opening the workspace…"), id="heading", markup=False)
        yield Footer(show_command_palette=False)

    def on_screen_resume(self) -> None:
        self.query_one(NavBar).load(self.person, self.services.url)
        if self.person:
            self.look()
        else:
            self.ask_name()

    @guarded("home")
    async def ask_name(self) -> None:
        from cuecard.tui.screens.welcome import WelcomeDialog

        tasks = await self.services.ask(lambda ws: ws.tasks.count())
        self.app.push_screen(WelcomeDialog(offer_samples=tasks == 0), self._introduced)

    def _introduced(self, answer: Introduction | None) -> None:
        if answer is None:
            self.app.exit()
        else:
            self.introduce(answer)

    @guarded("introduce")
    async def introduce(self, answer: Introduction) -> None:
        person = await self.services.ask(lambda ws: ws.people.add(answer.name))
        if answer.add_samples:
            from cuecard.lab.samples import import_samples

            self.query_one("#heading", Static).update(_("Adding the sample tasks…"))
            await self.services.ask(lambda ws: import_samples(ws, by=person.name))
        self.cue_app.become(person.name)
        self.query_one(NavBar).load(self.person, self.services.url)
        self.look()

    @guarded("home")
    async def look(self) -> None:
        person = self.person
        rows, tasks = await self.services.ask(lambda ws: _look(ws, person))
        self._rows = rows
        heading = self.query_one("#heading", Static)
        if rows:
            heading.update(_("▸ What waits for you, {name}").format(name=one_line(person)))
        else:
            heading.update(_("▸ Nothing waits for you, {name}").format(name=one_line(person)))
        await self._show(tasks)

    async def _show(self, tasks: int) -> None:
        body = self.query_one("#body")
        focused = self.focused is not None
        await body.query("ListTable, EmptyState").remove()
        if self._rows:
            table = ListTable(show_header=False, id="waiting")
            await body.mount(table)
            table.add_columns("kind", "text", "since")
            for row in self._rows:
                table.add_row(
                    Text(row.label, style="bold"), Text(one_line(row.text)), Text(row.since, "dim")
                )
            if not focused:
                table.focus()
        await body.mount(self._first_steps(tasks))

    def _first_steps(self, tasks: int) -> EmptyState:
        if tasks:
            return EmptyState(
                _("Where to begin"),
                _("Everything works offline: the embedded players are baselines, not LLMs."),
                ("2", _("Tasks: read one, change it, submit it for review; p plays it")),
                ("3", _("Runs: n plays many tasks with an agent and judges the outcome")),
                ("5", _("Verdicts: check the judge, blind, with y and n")),
            )
        return EmptyState(
            _("This workspace is empty"),
            _("A workspace holds tasks, the dialogues played on them, and what people judged."),
            ("2", _("Tasks: s adds the sample tasks, n begins one of your own")),
        )

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        event.stop()
        self.open_row(self._rows[event.cursor_row])

    def open_row(self, row: HomeRow) -> None:
        """Go to where this is worked on."""
        match row.kind:
            case "session":
                from cuecard.tui.screens.play import PlayScreen

                self.app.push_screen(PlayScreen(trial_id=row.trial_id))
            case "draft" | "returned":
                from cuecard.tui.screens.task import TaskScreen

                self.app.push_screen(TaskScreen(row.task_id))
            case "review":
                self.cue_app.action_go("review")
            case "verdicts":
                self.cue_app.action_go("verdicts")
            case "running":
                from cuecard.tui.screens.run import RunScreen

                self.app.push_screen(RunScreen(row.run_id))

    def action_open(self) -> None:
        if self._rows:
            self.open_row(self._rows[self.query_one(ListTable).cursor_row])

    def action_look_again(self) -> None:
        self.look()
