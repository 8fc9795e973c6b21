"""The app: its six places, its keys and what it remembers of a person; and what all screens and dialogs share."""

from __future__ import annotations

import asyncio
import gc
import re
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from textual import constants
from textual.app import SystemCommand
from textual.await_complete import AwaitComplete
from textual.binding import ActiveBinding
from textual.css.scalar import Scalar
from textual.reactive import Reactive
from textual.screen import ModalScreen, Screen
from textual.theme import Theme
from textual.widget import Widget
from textual.widgets import Static

from cuecard.core.i18n import N_, _, beside, headed
from cuecard.core.tasks import SHIPPED
from cuecard.core.text import for_display, one_line
from cuecard.tui.actions import (
    KEYMAP_PROBLEMS,
    Key,
    Means,
    Named,
    Offers,
    every_command,
    keys,
    moves,
    registry,
    translated,
    unless_general,
)
from cuecard.tui.drawing import DrawnOnce, KeptStyles, Undimmed, UniformLines
from cuecard.tui.notices import Notices, Outage, guarded
from cuecard.tui.preferences import DARK, OURS, Preferences, variables_of
from cuecard.tui.present.keyboard import with_keys
from cuecard.tui.services import Services

if TYPE_CHECKING:
    from cuecard.annotate.search import Finder
    from cuecard.tui.tour import Tour

Result = TypeVar("Result")


class _Shared(Named, DrawnOnce):
    """What screens and dialogs have in common."""

    @property
    def cue_app(self) -> CuecardApp:
        return cast("CuecardApp", self.app)

    @property
    def services(self) -> Services:
        return self.cue_app.services

    @property
    def person(self) -> str:
        """The name under which this person works; empty until chosen."""
        return self.cue_app.person

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """Close this screen and those above it. If it was closed already, nothing happens: a late worker or key must
        not close the screen below.
        """
        if self not in self.app.screen_stack:
            return AwaitComplete()
        while self.app.screen is not self:
            self.app.screen.dismiss()
        return super().dismiss(result)

    @contextmanager
    def or_leave(self) -> Generator[None]:
        """Read what there is nothing to show without: where that fails, the screen closes, and the error is told."""
        try:
            yield
        except Exception:
            # Not at once: what fails in a screen that is gone is told to nobody.
            self.app.call_later(self.dismiss)
            raise

    def report(self, error: BaseException) -> None:
        """Show an error: what happened, where, why, and how to fix it."""
        self.cue_app.report(error)

    def on_screen_resume(self) -> None:
        self.cue_app.outage.show()
        if self.cue_app.tour is not None:
            self.cue_app.tour.show()


class CuecardScreen(UniformLines, _Shared, Screen[Result]):
    """A full screen. Subclasses compose widgets, handle messages and call services."""

    BINDINGS = keys(
        Key("screen.menu", Means.MENU, "app.menu", N_("Menu"), N_("What has no key of its own")),
        Key("screen.views", Means.VIEW, "app.views", N_("View"), N_("Choose what is shown")),
        Key("screen.view_before", Means.VIEW_BEFORE, "app.turn_view(-1)", N_("View before"), N_("What is shown before this"), show=False),
        Key("screen.view_next", Means.VIEW_NEXT, "app.turn_view(1)", N_("Next view"), N_("What is shown after this"), show=False),
        Key("screen.help", Means.HELP, "app.explain", N_("Help"), N_("Keys of this screen")),
        Key("screen.zoom", Means.ZOOM, "zoom", N_("Zoom"), N_("This pane fills the screen; again: the next one; esc: all of them"), show=False),
        Key("screen.copy", Means.COPY, "copy_here", N_("Copy"), N_("Copy the row, its id, the text, or everything; what the mouse selected at once"), show=False),
    )  # fmt: skip

    def action_copy_here(self) -> None:
        from cuecard.tui.screens.copying import copy

        copy(self)

    # Whatever looks otherwise with the focus paints itself: no need to paint the whole screen at each step of it.
    focused = Reactive[Widget | None](None, repaint=False)
    _way_shown: Sequence[str] = ()
    _height_in_place: Scalar | None = None

    def crumbs(self) -> Sequence[str]:
        """What this screen adds to the way: what it is called, and what Esc leaves first in it."""
        said = "".join(str(head.content) for head in self._heads)
        name = re.split(r" · |  |\n", said.strip())[0]
        return [one_line(name, 28)] if name else []

    @property
    def _heads(self) -> list[Static]:
        # Asked for after each key: a query matches rules of style with all widgets of the screen.
        return [head for head in self.walk_children(Static) if head.has_class("way")]

    @property
    def way(self) -> Sequence[str]:
        """The steps to here from one of the six places. Esc takes the last one away."""
        place = registry().get(f"go.{self.app.current_mode}")
        steps = [_(place.label)] if place else []
        for screen in self.app.screen_stack[1:]:
            if isinstance(screen, CuecardScreen):
                steps += screen.crumbs()
            if screen is self:
                break
        return steps

    def _show_bindings(self) -> None:
        super()._show_bindings()
        if (way := self.way) != self._way_shown:
            self._way_shown = way
            for head in self._heads:
                head.refresh()

    def watch_maximized(self, before: Widget | None, now: Widget | None) -> None:
        """A height that a pane was given for its place does not hold while it fills the screen."""
        if before is not None and self._height_in_place is not None:
            before.styles.height = self._height_in_place
        self._height_in_place = None
        if now is not None and now.styles.inline.has_rule("height"):
            self._height_in_place = now.styles.inline.height
            now.styles.height = None

    def action_zoom(self) -> None:
        """Have the pane with the focus fill the screen, then each pane that only tells, then all as they were."""
        here = self.focused
        within = [here, *here.ancestors] if here is not None else []
        around = [each for each in within if isinstance(each, Widget)]
        held = [each for each in around if each.ALLOW_MAXIMIZE]
        # A line of a form is nothing that could be larger.
        tall = [each for each in around if each.size.height > 3]
        told = [
            pane
            for pane in self.query(".zooms")
            if all(node.display for node in pane.ancestors_with_self if isinstance(node, Widget))
        ]
        panes = [*(held or tall[:1])[-1:], *(pane for pane in told if pane not in within)]
        panes = list(dict.fromkeys(panes))
        at = panes.index(self.maximized) + 1 if self.maximized in panes else 0
        if at < len(panes):
            self.maximized = panes[at]
        else:
            self.minimize()

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        bindings = translated(super().active_bindings)
        if len(self.app.screen_stack) == 1:
            return bindings
        # Above another screen the footer has room for this one's own keys only.
        return {key: unless_general(active) for key, active in bindings.items()}


class CuecardDialog(_Shared, ModalScreen[Result]):
    """A dialog over a screen. Escape closes it without effect."""

    BINDINGS = keys(
        Key("dialog.close", Means.UP_ONE, "dismiss", N_("Cancel"), N_("Close without doing anything")),
        Key("dialog.menu", Means.MENU, "app.menu", N_("Menu"), N_("What has no key of its own")),
        Key("dialog.palette", Means.PALETTE, "app.command_palette", N_("Commands"), N_("Find any command"), show=False),
        Key("dialog.help", Means.HELP, "app.explain", N_("Help"), N_("Keys of this dialog")),
    )  # fmt: skip

    focused = Reactive[Widget | None](None, repaint=False)  # as of a screen

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        return translated(super().active_bindings)


RESTART = "restart"
OPEN = "open "
"""Before the path of a workspace to be opened instead of this one, where the tour begins."""


def _place(module: str, name: str) -> Callable[[], Screen[Any]]:
    """What makes the screen of a place, which is imported only then."""

    def make() -> Screen[Any]:
        return getattr(import_module(f"cuecard.tui.screens.{module}"), name)()

    return make


_AHEAD = (
    "tui.screens.tasks",
    "tui.screens.run.list",
    "tui.screens.review_queue",
    "tui.screens.labelling.verdicts",
    "tui.screens.settings",
    "tui.screens.task.screen",
    "tui.screens.task.saving",
    "tui.present.markdown",
    "tui.present.independent_gold",
    *(f"annotate.families.{family}" for family in SHIPPED),
    "tui.screens.run.screen",
    "tui.screens.trial.screen",
)


def _collect_garbage_again() -> None:
    """Resume what `launch` paused. What start-up made stays for good: leave it out of every later collection, garbage or not,
    as looking for that stops the screen. So does a full collection, so there are few; the others are small.
    """
    gc.freeze()
    gc.set_threshold(5_000, 5, 400)
    gc.enable()


class CuecardApp(Offers, Notices):
    """`run()` returns `RESTART` when the person changed the interface language, and `OPEN` with a path for the tour."""

    TITLE = "Cuecard"
    CSS_PATH = ["styles/app.tcss"]
    ENABLE_COMMAND_PALETTE = True
    ALLOW_IN_MAXIMIZED_VIEW = "KeyBar"
    DEFAULT_MODE = "home"
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {
        "home": _place("home", "HomeScreen"),
        "tasks": _place("tasks", "TasksScreen"),
        "runs": _place("run.list", "RunsScreen"),
        "review": _place("review_queue", "ReviewQueueScreen"),
        "verdicts": _place("labelling.verdicts", "VerdictsScreen"),
        "settings": _place("settings", "SettingsScreen"),
    }
    BINDINGS = keys(
        Key("go.home", Means.PLACE, "go('home')", N_("Home"), N_("What waits for me"), show=False, letter="1"),
        Key("go.tasks", Means.PLACE, "go('tasks')", N_("Tasks"), N_("Write and edit tasks"), show=False, letter="2"),
        Key("go.runs", Means.PLACE, "go('runs')", N_("Runs"), N_("Play tasks and read trials"), show=False, letter="3"),
        Key("go.review", Means.PLACE, "go('review')", N_("Review"), N_("Review other people's tasks"), show=False, letter="4"),
        Key("go.verdicts", Means.PLACE, "go('verdicts')", N_("Verdicts"), N_("Label the judge's verdicts"), show=False, letter="5"),
        Key("go.settings", Means.PLACE, "go('settings')", N_("Settings"), N_("Name, language, theme, endpoints"), show=False, letter="6"),
        Key("app.search", Means.SEARCH, "search", N_("Search"), N_("Find anything: tasks, comments, trials, runs, people, commands"), show=False, priority=True),
        Key("app.palette", Means.PALETTE, "command_palette", N_("Commands"), N_("Find any command")),
        Key("app.quit", Means.QUIT, "quit", N_("Quit"), N_("Leave; everything is saved"), priority=True),
        Key("app.try_again", Means.TRY, "try_again", N_("Try now"), N_("Try now whether the database is back"), show=False, priority=True),
        Key("tour.next", Means.TOUR, "tour_next", N_("Tour on"), N_("The next step of the tour"), show=False),
        Key("tour.leave", Means.TOUR_LEAVE, "tour_leave", N_("Leave tour"), N_("Take the panel of the tour away; Commands bring it back"), show=False, priority=True),
    )  # fmt: skip

    tour: Tour | None = None
    """None until it is begun."""
    _leaving: Screen[Any] | None = None  # asks whether to leave while a run is played

    def __init__(self, services: Services, person: str, preferences: Preferences) -> None:
        super().__init__()
        self.stylesheet = KeptStyles(variables=self.get_css_variables())
        self._filters.insert(0, Undimmed(self))
        self.services = services
        self.outage = services.outage = Outage(
            self, services.journal, services.try_again, self.report
        )
        self.person = person
        self.left_at: dict[tuple[str, str], Any] = {}  # where tasks were left, of the task screens
        self.finder: Finder | None = None  # what was read for the last search
        self.preferences = preferences
        for ours in OURS:
            self.register_theme(ours)
        self.move()
        self.theme = preferences.theme if preferences.theme in self.available_themes else DARK.name

    def get_theme(self, theme_name: str) -> Theme | None:
        # Asked for at every line that is drawn: Textual copies the table of all themes twice for it.
        return self._registered_themes.get(theme_name) or super().get_theme(theme_name)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our own colours under a theme that is not ours."""
        return variables_of(self.current_theme)

    def on_mount(self) -> None:
        self.services.on_run_end = self._run_is_over
        self.theme_changed_signal.subscribe(self, self._remember_theme)
        for problem in KEYMAP_PROBLEMS:
            self.notify(for_display(problem), severity="warning", timeout=12, markup=False)
        if not gc.isenabled():
            self.set_timer(2.0, _collect_garbage_again)
            self.set_timer(0.5, self.import_ahead)

    @guarded("import_ahead", background=True)
    async def import_ahead(self) -> None:
        """Load what the first visit of a place would wait for, in a thread and while nobody types."""
        for module in _AHEAD:
            await self.idle(0)
            await asyncio.to_thread(import_module, f"cuecard.{module}")
        from cuecard.tui.screens.task.screen import make_next

        make_next(self)

    def on_unmount(self) -> None:
        self.services.close()

    def end(self, code: int) -> None:
        """Leave the app with this exit code, wherever it is."""
        # A screen that is being made cannot be taken away.
        self.call_after_refresh(self.exit, return_code=code)

    async def action_quit(self) -> None:
        """Asks first where a run is played here; pressed again, it leaves."""
        from cuecard.tui.screens.dialogs import ConfirmDialog

        if self.screen is self._leaving or not self.services.plays_a_run:
            await super().action_quit()
            return
        text = _("It stops. What was played is kept, and it can be played on at any time.")
        ask = self._leaving = ConfirmDialog(_("Leave while a run is played?"), text, _("Leave"))
        self.push_screen(ask, lambda sure: self.exit() if sure else None)

    def move(self) -> None:
        """With motion or without, as the person prefers or the environment says."""
        usual = constants.TEXTUAL_ANIMATIONS
        self.animation_level = "none" if self.preferences.motion == "reduced" else usual

    def become(self, person: str) -> None:
        """Change the person's name in this workspace, and remember it."""
        self.person = person
        self.preferences.people[self.services.url] = person
        self.preferences.save()

    def speak(self, language: str) -> None:
        """Restart the app in another language, and remember it."""
        self.preferences.language = language
        self.preferences.save()
        if self.is_web:
            # The page's app ends; the page opens the next one.
            self.open_url("/", new_tab=False)
        self.exit(RESTART)

    @property
    def who(self) -> str:
        """The person and the workspace, as preferences name them."""
        return f"{self.services.url} {self.person}"

    def opened(self, kind: str, title: str, **where: str | int) -> None:
        """Remember a place that was opened; `where`: as in `annotate.search.SearchHit`."""
        self.preferences.remember(self.who, {"kind": kind, "title": one_line(title, 80), **where})

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Every key that works on this screen now, then the theme chooser, and places opened not long ago."""
        from cuecard.tui.screens.search import open_found, recent

        for node, binding in every_command(screen):
            if Means.PALETTE in registry()[binding.id or ""].all_means:
                continue
            label = beside(_(binding.description), self.get_key_display(binding))
            run = self._runner(node, binding.action)
            yield SystemCommand(label, with_keys(_(binding.tooltip)), run, not moves(binding))
        yield SystemCommand(_("Theme"), _("Change colours"), self.action_change_theme)
        if self.person and isinstance(screen, CuecardScreen):
            told = _("Sit down in a session that waits for a person to play the agent")
            yield SystemCommand(_("Play the agent"), told, self.play_an_agent)
            told = _("Five minutes through a study that was made for demonstration")
            yield SystemCommand(_("Tour"), told, self.take_tour)
            for found in recent(self):
                label = headed(found.kind.label, for_display(found.title))
                run = partial(open_found, self, found)
                yield SystemCommand(label, _("Opened not long ago"), run)

    def _run_is_over(self, run_id: int) -> None:
        # On the engine's thread; an app that is being left needs no telling.
        with suppress(RuntimeError):
            self.call_later(self._tell_run, run_id)

    @guarded("run_ended", background=True)
    async def _tell_run(self, run_id: int) -> None:
        self.run_ended((await self.services.ask(lambda ws: ws.runs.get(run_id))).name)

    @guarded("play_an_agent")
    async def play_an_agent(self) -> None:
        from cuecard.tui.screens.wizard_of_oz import play_an_agent

        await play_an_agent(self)

    @guarded("take_tour")
    async def take_tour(self) -> None:
        """Begin the tour, or go on with it; in another workspace than the example study, open that first."""
        from cuecard.annotate.study import STUDY_NAME, is_study, write_study

        if await self.services.ask(is_study):
            self.begin_tour()
        else:
            file = await asyncio.to_thread(lambda: write_study(Path(STUDY_NAME)).absolute())
            self.exit(f"{OPEN}{file}")

    def begin_tour(self) -> None:
        from cuecard.tui.tour import Tour

        self.tour = self.tour or Tour(self, self.preferences, self.tell)
        self.tour.begin()

    def action_board(self) -> None:
        from cuecard.tui.screens.board import BoardScreen

        self.push_screen(BoardScreen())

    def action_tour_next(self) -> None:
        if self.tour is not None:
            self.tour.next()

    def action_tour_leave(self) -> None:
        if self.tour is not None:
            self.tour.leave()

    def action_go(self, mode: str) -> None:
        if self.person:
            self.switch_mode(mode)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "search":
                # A place with a search of its own by this key keeps it.
                chain = self.screen._modal_binding_chain[:-1]  # pyright: ignore[reportPrivateUsage]
                own = (
                    one for _node, each in chain for one in each.key_to_bindings.get("ctrl+f", ())
                )
                taken = any(one.id in registry() for one in own)
                return bool(self.person) and isinstance(self.screen, CuecardScreen) and not taken
            case "tour_next" | "tour_leave":
                return self.tour is not None and self.tour.on
            case _:
                return super().check_action(action, parameters)

    def action_search(self) -> None:
        from cuecard.tui.screens.search import search

        search(self)

    def _remember_theme(self, theme: Any) -> None:
        if self.preferences.theme != theme.name:
            self.preferences.theme = theme.name
            self.preferences.save()
