"""Home: what waits for me, and where to begin when nothing does."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Footer, Static

from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.screens.welcome import Introduction, WelcomeDialog
from cuecard.tui.widgets.nav import NavBar


class HomeScreen(CuecardScreen[None]):
    """Lists what waits; Enter opens it."""

    CSS_PATH = "home.tcss"
    BINDINGS = keys(
        Key("home.refresh", "r", "refresh_list", N_("Refresh"), N_("Look again for what waits")),
    )

    def compose(self) -> ComposeResult:
        yield NavBar("home")
        with Vertical(id="body"):
            yield Static(_("Opening the workspace…"), id="status", classes="muted")
        yield Footer(show_command_palette=False)

    def on_screen_resume(self) -> None:
        self.query_one(NavBar).load(self.person, self.services.url)
        self.begin()

    @guarded("home")
    async def begin(self) -> None:
        if not self.person:
            tasks = await self.services.ask(lambda ws: ws.tasks.count())
            self.app.push_screen(WelcomeDialog(offer_samples=tasks == 0), self._introduced)
            return
        self.load()

    def _introduced(self, answer: Introduction | None) -> None:
        if answer is None:
            self.begin()
        else:
            self.introduce(answer)

    @guarded("introduce")
    async def introduce(self, answer: Introduction) -> None:
        from cuecard.lab.samples import import_samples

        person = await self.services.ask(lambda ws: ws.people.add(answer.name))
        if answer.add_samples:
            await self.services.ask(lambda ws: import_samples(ws, by=person.name))
        self.cue_app.become(person.name)
        self.query_one(NavBar).load(self.person, self.services.url)
        self.load()

    @guarded("home")
    async def load(self) -> None:
        tasks = await self.services.ask(lambda ws: ws.tasks.count())
        self.query_one("#status", Static).update(str(tasks))

    def action_refresh_list(self) -> None:
        self.load()
