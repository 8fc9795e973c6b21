"""The Home screen: what waits for this person, and where to begin if nothing does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Static

from cuecard.core.errors import CuecardError, NotAllowed
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.drawing import Vertical
from cuecard.tui.kit.list_screens import LiveScreen
from cuecard.tui.present.keyboard import hint, shown_key
from cuecard.tui.widgets.nav import EmptyState, NavBar

if TYPE_CHECKING:
    from cuecard.core.config_schema import Config
    from cuecard.store.workspace import Workspace
    from cuecard.tui.kit.lists import ListView
    from cuecard.tui.present.home import HomeKind, HomeRow
    from cuecard.tui.screens.settings import Introduction

# Where a row leads that stands for several.
_PLACES: dict[HomeKind, str] = {
    "session": "runs", "form": "runs", "seat": "home", "draft": "tasks", "at_hand": "review", "returned": "tasks", "comments": "tasks", "forked": "tasks", "submit": "tasks",
    "review": "review", "assign": "review", "running": "runs", "verdicts": "verdicts", "set": "verdicts", "gold": "tasks", "second": "tasks",
    "reviewers": "tasks", "reviewer": "review", "author": "review",
}  # fmt: skip


def _load(
    workspace: Workspace, person: str, config: Config | None
) -> tuple[list[HomeRow], bool, int, str, bool]:
    """Home's rows, whether any waits for this person, the number of tasks, why nothing can be saved, if so, and whether this
    is the example study; runs in a thread.
    """
    from cuecard.annotate.review.workflow import EMBEDDED_PROTOCOL, protocol_of
    from cuecard.annotate.study import is_study
    from cuecard.annotate.waiting import VERDICT_LIMIT, pending_for
    from cuecard.tui.present.home import rows_of

    waiting = pending_for(workspace, person, protocol_of(config) if config else EMBEDDED_PROTOCOL)
    rows, tasks = rows_of(waiting, VERDICT_LIMIT), workspace.tasks.count()
    return rows, waiting.total > 0, tasks, workspace.read_only, is_study(workspace)


def _entered(workspace: Workspace, name: str) -> tuple[str, str]:
    """The person's name, and why they are not entered, if they cannot be: whoever only looks needs not be."""
    from cuecard.store.roles import checked_name

    if workspace.read_only:
        return checked_name(name), workspace.read_only
    return workspace.people.add(name).name, ""


class HomeScreen(LiveScreen):
    """Lists what waits; Enter opens it. Draws its first frame before anything is loaded."""

    CSS_PATH = "home.tcss"
    BINDINGS = keys(
        Key("home.open", Means.OPEN, "open", N_("Open"), N_("Open what waits")),
        Key("home.board", Means.COMMAND, "app.board", N_("Board"), N_("Every task by state, who has what, and how far reviewers agree"), letter="b"),
        Key("home.tour", Means.TRY, "tour", N_("Tour"), N_("Five minutes through the example study, which was made for demonstration")),
        Key("home.refresh", Means.REFRESH, "reload", N_("Refresh"), N_("Look again for what waits")),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._asking = self._told = self._known = False
        self._list: ListView[HomeRow] | None = None
        self._steps: EmptyState | None = None

    def compose(self) -> ComposeResult:
        yield NavBar("home")
        with Vertical(id="body"):
            yield Static(_("Opening the workspace…"), id="heading", markup=False)
        yield KeyBar()

    def on_screen_resume(self) -> None:
        self.query_one(NavBar).load(self.person, self.services.url)
        if self.services.shared and not self._known:
            self.identify()
        elif self.person:
            self.load()
        elif not self._asking:
            self.ask_name()

    @guarded("home")
    async def identify(self) -> None:
        """Take for the person whom the database's role stands for, if it stands for somebody."""
        given = self.person
        try:
            name = await self.services.ask(lambda ws: ws.roles.person(given))
        except NotAllowed as error:
            name = (await self.services.ask(lambda ws: ws.roles.mine())).person
            self.cue_app.report(error)
        self._known = True
        if name != given:
            self.cue_app.become(name)
        self.on_screen_resume()

    @guarded("home")
    async def ask_name(self) -> None:
        from cuecard.tui.screens.settings import WelcomeDialog

        self._asking = True
        tasks = await self.services.ask(lambda ws: ws.tasks.count())
        self.app.push_screen(WelcomeDialog(offer_samples=tasks == 0), self._introduced)

    @guarded("introduce")
    async def introduce(self, answer: Introduction) -> None:
        """Enter the person, and the sample tasks if wanted. A name that cannot be is asked for again."""
        try:
            name, read_only = await self.services.ask(lambda ws: _entered(ws, answer.name))
        except CuecardError:
            self.ask_name()
            raise
        if answer.samples and not read_only:
            from cuecard.annotate.samples import import_samples

            self.query_one("#heading", Static).update(_("Adding the sample tasks…"))
            await self.services.ask(import_samples)
        self.cue_app.become(name)
        self.query_one(NavBar).load(self.person, self.services.url)
        self.load()

    @guarded("home")
    async def load(self) -> None:
        person, config = self.person, await self._configured()
        async with self.reading():
            rows, waits, tasks, read_only, study = await self.services.ask(
                lambda ws: _load(ws, person, config)
            )
        name = one_line(person)
        if waits:
            heading = _("▸ What waits for you, {name}").format(name=name)
        else:
            heading = _("▸ Nothing waits for you, {name}").format(name=name)
        if read_only:
            heading = _("{heading} · read-only").format(heading=heading)
            if not self._told:
                self.cue_app.tell(read_only, title=_("Nothing can be saved here"))
                self._told = True
        if (head := self.query_one("#heading", Static)).content != heading:
            head.update(heading)
        await self._show(rows, _first_steps(tasks, study=study))
        self.settle()

    async def _configured(self) -> Config | None:
        """The configuration; None where it cannot be read, which other places complain of."""
        if not self.services.has_config:
            return None
        try:
            return await self.services.config()
        except CuecardError:
            return None

    @guarded("settle", background=True)
    async def settle(self) -> None:
        """Once after the start, judge and close runs that a killed process left open."""
        if await self.services.settle(self.person):
            self.load()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self._row is not None if action == "open" else True

    def on_list_view_opened(self) -> None:
        self.action_open()

    @property
    def _row(self) -> HomeRow | None:
        return self._list.row if self._list is not None else None

    def open_row(self, row: HomeRow) -> None:
        """Go to where this is worked on."""
        if row.kind == "form" and row.trial_id:
            from cuecard.tui.screens.play.form import SessionFormScreen

            self.app.push_screen(SessionFormScreen(row.trial_id))
        elif row.kind == "seat" and row.trial_id:
            from cuecard.tui.screens.wizard_of_oz import WizardOfOzScreen

            self.app.push_screen(WizardOfOzScreen(row.trial_id))
        elif row.trial_id:
            from cuecard.tui.screens.play.screen import PlayScreen

            self.app.push_screen(PlayScreen(trial_id=row.trial_id))
        elif row.set_id:
            self.label(row.set_id)
        elif row.kind == "gold" and row.task_id:
            from cuecard.tui.screens.independent_gold_build import BuildGoldScreen

            self.app.push_screen(BuildGoldScreen(row.task_id))
        elif row.kind == "second" and row.task_id:
            from cuecard.tui.screens.independent_gold import CompareGoldScreen

            self.app.push_screen(CompareGoldScreen(row.task_id))
        elif row.run_id:
            from cuecard.tui.screens.run.screen import RunScreen

            self.app.push_screen(RunScreen(row.run_id))
        elif row.task_id and row.kind in (
            "draft",
            "returned",
            "comments",
            "forked",
            "submit",
            "reviewers",
        ):
            from cuecard.tui.screens.task.screen import open_task

            open_task(self.cue_app, row.task_id)
        elif row.task_id:
            from cuecard.tui.screens.review import ReviewTaskScreen

            self.app.push_screen(ReviewTaskScreen(row.task_id))
        else:
            self.cue_app.action_go(_PLACES[row.kind])

    @guarded("open")
    async def label(self, set_id: int) -> None:
        from cuecard.tui.screens.labelling.verdicts import over_set

        self.app.push_screen(
            over_set(await self.services.ask(lambda ws: ws.label_sets.get(set_id)))
        )

    def action_open(self) -> None:
        if self._row is not None:
            self.open_row(self._row)

    def action_tour(self) -> None:
        self.cue_app.take_tour()

    def action_reload(self) -> None:
        self.load()

    def _introduced(self, answer: Introduction | None) -> None:
        if answer is None:
            self.app.exit()
        else:
            self.introduce(answer)

    async def _show(self, rows: list[HomeRow], steps: EmptyState) -> None:
        body = self.query_one("#body")
        if rows and self._list is None:
            # Imported and mounted only when there is something to list.
            from cuecard.tui.kit.columns import Column
            from cuecard.tui.kit.lists import ListView
            from cuecard.tui.present.home import HomeRow

            columns = (
                Column[HomeRow]("", lambda r: Text(r.label, "" if r.for_others else "bold")),
                Column[HomeRow]("", lambda r: r.text, grow=2, least=24),
                Column[HomeRow]("", lambda r: Text(r.about, "dim"), grow=1, least=16),
                Column[HomeRow]("", lambda r: Text(r.since, "dim"), right=True),
            )
            self._list = ListView(
                columns, lambda r: (r.kind, r.task_id, r.trial_id, r.run_id, r.set_id), id="waiting"
            )
            await body.mount(self._list, after="#heading")
        if self._list is not None:
            self._list.display = bool(rows)
            self._list.load(rows)
            if rows and self.focused is None:
                self._list.focus()
        if self._steps is None:
            self._steps = steps
            await body.mount(steps)
        else:
            self._steps.say(steps)
        self.refresh_bindings()


def _first_steps(tasks: int, *, study: bool) -> EmptyState:
    tour = (
        shown_key("home.tour"),
        _("The example study: played, judged and labelled, with a tour of five minutes"),
    )
    if study:
        return EmptyState(
            _("This is the example study"),
            _("It was made for demonstration: its people and their decisions are made up, its players are offline baselines."),
            (shown_key("home.tour"), _("The tour: five minutes from here to review")),
        )  # fmt: skip
    if tasks:
        return EmptyState(
            _("Where to begin"),
            _("Everything works offline: the embedded players are baselines, not LLMs."),
            ("2", hint(_("Tasks: read one, change it, submit it for review; {PLAY} plays it"))),
            ("3", hint(_("Runs: {ADD} plays many tasks with an agent and judges the outcome"))),
            ("5", _("Verdicts: check the judge, blind, with y and n")),
            tour,
        )
    return EmptyState(
        _("This workspace is empty"),
        _("A workspace holds tasks, the dialogues played on them, and what people judged."),
        ("2", hint(_("Tasks: {MENU} s adds the sample tasks, {ADD} begins one of your own"))),
        tour,
    )
