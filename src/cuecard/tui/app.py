"""The app: its screens by mode, global keys, workers that show their errors, and what all screens and dialogs share."""

from __future__ import annotations

import asyncio
import gc
import re
import traceback
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, TypeVar, cast

from rich.text import Text
from textual import constants, work
from textual.app import SystemCommand
from textual.await_complete import AwaitComplete
from textual.binding import ActiveBinding, Binding
from textual.css.scalar import Scalar
from textual.dom import DOMNode
from textual.reactive import Reactive
from textual.screen import ModalScreen, Screen
from textual.theme import Theme
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import Worker

from cuecard.core.errors import CuecardError, DatabaseAway, scrub, told
from cuecard.core.i18n import N_, _
from cuecard.core.text import for_display, one_line
from cuecard.tui.actions import KEYMAP_PROBLEMS, Key, Means, every_command, key_name, keys, registry
from cuecard.tui.drawing import KeptStyles, LaidOutOnce
from cuecard.tui.held_keys import HoldsKeys
from cuecard.tui.outage import Outage
from cuecard.tui.preferences import DARK, OURS, Preferences, variables_of
from cuecard.tui.present.entries import breaks
from cuecard.tui.services import Services

if TYPE_CHECKING:
    from cuecard.annotate.search import Finder, Found
    from cuecard.tui.tour import Tour

Result = TypeVar("Result")
P = ParamSpec("P")
NodeT = TypeVar("NodeT", bound="DOMNode")


SETTLED = 0.06
"""Seconds without a change of the active bindings after which the footer is drawn."""


class _Shared(LaidOutOnce):
    """What screens and dialogs have in common."""

    _bindings_timer: Timer | None = None
    _bindings_shown: object = None

    def refresh_bindings(self) -> None:
        """Redraw the footer soon. Textual would do so at every change of focus, a dozen times while a screen opens,
        each as expensive as a page of a table; here it is done once, when nothing changes any more, and only if the
        bindings changed.
        """
        if self._bindings_timer is not None:
            self._bindings_timer.reset()
        elif self.is_running:
            self._bindings_timer = self.set_timer(SETTLED, self._show_bindings)

    def _show_bindings(self) -> None:
        self._bindings_timer = None
        # An app that closes takes a screen's widgets away before the screen. Behind another window the footer does not
        # listen, and on coming back a screen asks again.
        settled = self.is_attached and self.is_current
        if self.app.is_running and settled and self.app.app_focus:
            shown = [
                (active.binding, active.enabled)
                for active in self.active_bindings.values()
                if active.binding.show
            ]
            if shown != self._bindings_shown:
                self._bindings_shown = shown
                Screen.refresh_bindings(self)

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

    def report(self, error: BaseException) -> None:
        """Show an error: what happened, where, why, and how to fix it."""
        self.cue_app.report(error)

    def on_screen_resume(self) -> None:
        self.cue_app.outage.show()
        if self.cue_app.tour is not None:
            self.cue_app.tour.show()


def translated(bindings: dict[str, ActiveBinding]) -> dict[str, ActiveBinding]:
    """The bindings with labels and tips in the current language, for footer, palette and help."""
    return {
        key: active._replace(
            binding=replace(active.binding, description=_(active.binding.description)),
            tooltip=_(active.tooltip),
        )
        for key, active in bindings.items()
    }


def _unless_general(active: ActiveBinding) -> ActiveBinding:
    general = (active.binding.id or "").startswith("app.")
    return active._replace(binding=replace(active.binding, show=False)) if general else active


class CuecardScreen(_Shared, Screen[Result]):
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
        held = [each for each in within if isinstance(each, Widget) and each.ALLOW_MAXIMIZE]
        told = [
            pane
            for pane in self.query(".zooms")
            if all(node.display for node in pane.ancestors_with_self if isinstance(node, Widget))
        ]
        panes = [*(held or within[:1])[-1:], *(pane for pane in told if pane not in within)]
        panes = list(dict.fromkeys(pane for pane in panes if isinstance(pane, Widget)))
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
        return {key: _unless_general(active) for key, active in bindings.items()}


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


def guarded(
    group: str, *, background: bool = False
) -> Callable[
    [Callable[Concatenate[NodeT, P], Awaitable[None]]],
    Callable[Concatenate[NodeT, P], Worker[None]],
]:
    """Make an async method start a named, exclusive worker whose errors are shown instead of raised.

    Starting it again in the same `group` of the same widget or screen cancels the previous worker. Keys typed meanwhile
    wait until it is done (`HoldsKeys`), unless it is in the `background`: it moves no focus, opens nothing and changes
    nothing that keys act on.
    """

    def decorate(
        method: Callable[Concatenate[NodeT, P], Awaitable[None]],
    ) -> Callable[Concatenate[NodeT, P], Worker[None]]:
        @wraps(method)
        async def bounded(self: NodeT, *args: P.args, **kwargs: P.kwargs) -> None:
            try:
                await method(self, *args, **kwargs)
            except CuecardError as error:
                cast("CuecardApp", self.app).report(error)
            except Exception as error:  # noqa: BLE001 - the boundary of a worker
                self.log.error(error)
                cast("CuecardApp", self.app).report(error)

        start = cast(
            "Callable[Concatenate[NodeT, P], Worker[None]]",
            work(bounded, exclusive=True, group=group, name=method.__qualname__),
        )

        @wraps(method)
        def started(self: NodeT, *args: P.args, **kwargs: P.kwargs) -> Worker[None]:
            worker = start(self, *args, **kwargs)
            if not background:
                cast("CuecardApp", self.app).keys_wait_for(worker)
            return worker

        return started

    return decorate


RECENT = 10
"""Places that are remembered."""
RESTART = "restart"
OPEN = "open "
"""Before the path of a workspace to be opened instead of this one, where the tour begins."""
_MOVES = frozenset(
    [
        "up",
        "down",
        "left",
        "right",
        "home",
        "end",
        "pageup",
        "pagedown",
        "ctrl+home",
        "ctrl+end",
        "shift+up",
        "shift+down",
        "enter",
        "escape",
        "tab",
        "shift+tab",
        "space",
    ]
)
"""Keys that move the cursor; if they have no effect, no message is shown."""


def _no_reason(action: str) -> str:
    return ""


def _home() -> Screen[Any]:
    from cuecard.tui.screens.home import HomeScreen

    return HomeScreen()


def _tasks() -> Screen[Any]:
    from cuecard.tui.screens.tasks import TasksScreen

    return TasksScreen()


def _runs() -> Screen[Any]:
    from cuecard.tui.screens.run.list import RunsScreen

    return RunsScreen()


def _review() -> Screen[Any]:
    from cuecard.tui.screens.review_queue import ReviewQueueScreen

    return ReviewQueueScreen()


def _verdicts() -> Screen[Any]:
    from cuecard.tui.screens.labelling.verdicts import VerdictsScreen

    return VerdictsScreen()


def _settings() -> Screen[Any]:
    from cuecard.tui.screens.settings import SettingsScreen

    return SettingsScreen()


def _collect_garbage_again() -> None:
    """Resume what `launch` paused. What start-up made stays for good: leave it out of every later collection, garbage or not,
    as looking for that stops the screen. So does a full collection, so there are few; the others are small.
    """
    gc.freeze()
    gc.set_threshold(5_000, 5, 400)
    gc.enable()


class CuecardApp(HoldsKeys):
    """`run()` returns `RESTART` when the person changed the interface language, and `OPEN` with a path for the tour."""

    TITLE = "Cuecard"
    CSS_PATH = ["styles/app.tcss"]
    ENABLE_COMMAND_PALETTE = True
    ALLOW_IN_MAXIMIZED_VIEW = "KeyBar"
    DEFAULT_MODE = "home"
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {
        "home": _home,
        "tasks": _tasks,
        "runs": _runs,
        "review": _review,
        "verdicts": _verdicts,
        "settings": _settings,
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

    def __init__(self, services: Services, person: str, preferences: Preferences) -> None:
        super().__init__()
        self.stylesheet = KeptStyles(variables=self.get_css_variables())
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

    def on_unmount(self) -> None:
        self.services.close()

    def end(self, code: int) -> None:
        """Leave the app with this exit code, wherever it is."""
        # A screen that is being made cannot be taken away.
        self.call_after_refresh(self.exit, return_code=code)

    async def _check_bindings(self, key: str, priority: bool = False) -> bool:
        done = await super()._check_bindings(key, priority)
        if not done and not priority:
            self._tell_idle(key)
        return done

    def _tell_idle(self, key: str) -> None:
        """Show that this key does nothing now, and why, if the screen knows."""
        if key in _MOVES:
            return
        for node, bindings in self.screen._modal_binding_chain:  # pyright: ignore[reportPrivateUsage]
            for binding in bindings.key_to_bindings.get(key, ()):
                if binding.id in registry():
                    why = getattr(node, "why_not", _no_reason)(binding.action)
                    shown, label = self.get_key_display(binding), _(binding.description)
                    told = _("{key} ({label}) is not possible here now.")
                    self.tell(why or told.format(key=shown, label=label))
                    return

    def report(self, error: BaseException) -> None:
        """Show an error to the person. An unforeseen one names its type so that it can be reported."""
        if isinstance(error, DatabaseAway):
            self.outage.noticed(error)
            if not error.wrote:
                return  # the bar says it
            body = _("The database is away. Do it again when it is back.")
            title = _("This was not saved")
        elif isinstance(error, CuecardError):
            body = "\n".join(filter(None, (error.message, error.hint_in_app)))
            title = error.title
        else:
            title = _("Something went wrong that should not")
            body = told(error)
        self.notify(
            for_display(body)[:1500] or " ",
            title=for_display(title),
            severity="error",
            timeout=12,
            markup=False,
        )

    def _fatal_error(self) -> None:
        """What ends the app is shown without the values of variables, which may be keys."""
        self.bell()
        self._exit_renderables.append(Text(scrub(traceback.format_exc())))
        self._close_messages_no_wait()

    def _refresh_notifications(self) -> None:
        self._place_toasts()
        super()._refresh_notifications()

    def on_descendant_focus(self) -> None:
        self._place_toasts()

    def _place_toasts(self) -> None:
        """Above what is typed or read: at the top, or at the bottom while the cursor is up there."""
        if not self._notifications or not self.screen_stack:
            return
        width = max(1, self.size.width - 4)
        lines = sum(
            len(breaks(line, width)) + 1
            for note in self._notifications
            for line in (note.title + "\n" + note.message).strip().split("\n")
        )
        focused, top = self.screen.focused, self.size.height
        if focused is not None:
            row = getattr(focused, "cursor_row", -1) - focused.scroll_offset.y
            typed = getattr(focused, "cursor_screen_offset", None)
            top = typed.y if typed is not None else focused.region.y + max(row + 1, 0)
        self.screen.set_class(top < lines < self.size.height - top - 1, "-toasts-below")

    def tell(self, message: str, *, title: str = "") -> None:
        """Show a short notification."""
        self.notify(for_display(message), title=title, timeout=4, markup=False)

    def move(self) -> None:
        """With motion or without, as the person prefers or the environment says."""
        usual = constants.TEXTUAL_ANIMATIONS
        self.animation_level = "none" if self.preferences.motion == "reduced" else usual

    def run_ended(self, name: str) -> None:
        """Tell that a run is over to those who want it, at another window too."""
        if not self.preferences.notice:
            return
        text = for_display(_("Run {run} has ended.").format(run=name))
        self.tell(text)
        self.bell()
        if self.preferences.notice == "terminal" and self._driver is not None:
            plain = one_line(text).replace(";", ",")
            # OSC 9, OSC 777 and the title of the window: terminals know one or the other.
            self._driver.write(
                f"\x1b]9;{plain}\x07\x1b]777;notify;Cuecard;{plain}\x07\x1b]2;✓ {plain}\x07"
            )

    def _run_is_over(self, run_id: int) -> None:
        # On the engine's thread; an app that is being left needs no telling.
        with suppress(RuntimeError):
            self.call_later(self.run_ended, str(run_id))

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
    def recent(self) -> list[Found]:
        """The tasks, runs and trials that this person opened last in this workspace, the last first."""
        from cuecard.annotate.search import Found, Kind

        try:
            kept: Any = self.preferences.forms.get(self._recent_key, {}).get("places", [])
            places: list[dict[str, Any]] = [dict(place) for place in kept]
            return [Found(Kind(place.pop("kind")), **place) for place in places]
        except (TypeError, ValueError, KeyError, AttributeError):
            return []  # of another version

    @property
    def _recent_key(self) -> str:
        return f"recent {self.services.url} {self.person}"

    def opened(self, kind: str, title: str, **where: str | int) -> None:
        """Remember a place that was opened; `where`: as in `annotate.search.Found`."""
        place: dict[str, Any] = {"kind": kind, "title": one_line(title, 80), **where}
        kept: Any = self.preferences.forms.get(self._recent_key, {}).get("places", [])
        others = [each for each in kept if {**each, "title": place["title"]} != place]
        if kept[:1] != [place]:
            self.preferences.forms[self._recent_key] = {"places": [place, *others][:RECENT]}
            self.preferences.save()

    def _go_to(self, found: Found) -> None:
        from cuecard.tui.screens.search import open_found

        open_found(self, found)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Every key that works on this screen now, then the theme chooser."""
        for node, binding in every_command(screen):
            if Means.PALETTE in registry()[binding.id or ""].all_means:
                continue
            label = f"{_(binding.description)}  ({self.get_key_display(binding)})"
            yield SystemCommand(label, _(binding.tooltip), self._runner(node, binding.action))
        yield SystemCommand(_("Theme"), _("Change colours"), self.action_change_theme)
        if self.person and isinstance(screen, CuecardScreen):
            told = _("Sit down in a session that waits for a person to play the agent")
            yield SystemCommand(_("Play the agent"), told, self.play_an_agent)
            told = _("Five minutes through a study that was made for demonstration")
            yield SystemCommand(_("Tour"), told, self.take_tour)
            for found in self.recent:
                label = f"{found.kind.label}{_(': ')}{for_display(found.title)}"
                yield SystemCommand(label, _("Opened not long ago"), partial(self._go_to, found))

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
            case "try_again":
                return self.outage.error is not None
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
            case "menu":
                return bool(self._offered(Means.COMMAND))
            case "views":
                return bool(self._offered(Means.A_VIEW))
            case "turn_view":
                by = cast("int", parameters[0]) if parameters else 1
                return bool(self._offered(Means.A_VIEW) or self._tabs(by))
            case _:
                pass
        return super().check_action(action, parameters)

    def action_search(self) -> None:
        from cuecard.tui.screens.search import search

        search(self)

    def action_try_again(self) -> None:
        self.outage.try_now()

    def _errand_on(self) -> bool:
        # What an earlier key began may wait for the database, and for long.
        return self.outage.error is None and super()._errand_on()

    def action_command_palette(self) -> None:
        from textual.command import CommandPalette

        if not isinstance(self.screen, CommandPalette):
            self.push_screen(
                CommandPalette(id="--command-palette", placeholder=_("Search for commands…"))
            )

    def _offered(self, means: Means) -> list[tuple[DOMNode, Binding]]:
        """What there is of this kind on the screen, possible now or not."""
        return every_command(self.screen, means, impossible=True) if self.screen_stack else []

    def _tabs(self, by: int) -> list[tuple[DOMNode, Binding]]:
        """What turns tabs on the screen: by function keys also while somebody types, so that it is the screen's own."""
        means = Means.VIEW_NEXT if by > 0 else Means.VIEW_BEFORE
        return [each for each in self._offered(means) if not each[1].action.startswith("app.")]

    def action_menu(self) -> None:
        self._choose(Means.COMMAND, _("Menu"))

    def action_views(self) -> None:
        self._choose(Means.A_VIEW, _("Views"))

    def _choose(self, means: Means, title: str) -> None:
        """Let the person choose what of this kind is possible now, by its letter."""
        from cuecard.tui.screens.dialogs import ChoiceDialog

        possible = [
            one for one in self._offered(means) if self._check_action_state(one[1].action, one[0])
        ]
        options: list[tuple[str, str, str]] = []
        for _node, binding in possible:
            letter = registry()[binding.id or ""].letter
            taken = any(letter == other for _id, other, _text in options)
            text = f"{_(binding.description)}  ·  {_(binding.tooltip)}"
            options.append((binding.id or "", "" if taken else letter, text))

        def chosen(id: str | None) -> None:
            for node, binding in possible:
                if binding.id == id:
                    self.call_later(self.run_action, binding.action, node)

        if options:
            self.push_screen(ChoiceDialog(title, "", options), chosen)

    async def action_turn_view(self, by: int) -> None:
        """To the next view that is possible now, round and round; where there are none, to the next tab."""
        views = self._offered(Means.A_VIEW) or self._tabs(by)
        at = next(
            (i for i, (node, one) in enumerate(views) if one.action == getattr(node, "shown_view", "")),
            -1 if by > 0 else 0,
        )  # fmt: skip
        for step in range(1, len(views) + 1):
            node, binding = views[(at + by * step) % len(views)]
            if self._check_action_state(binding.action, node):
                await self.run_action(binding.action, node)
                return

    def get_key_display(self, binding: Binding) -> str:
        return binding.key_display or key_name(binding.key)

    def action_explain(self) -> None:
        from cuecard.tui.screens.dialogs import HelpDialog

        if not isinstance(self.screen, HelpDialog):
            self.push_screen(HelpDialog(list(self.screen.active_bindings.values())))

    def _runner(self, node: Any, action: str) -> Callable[[], Any]:
        async def run() -> None:
            await self.run_action(action, node)

        return run

    def _remember_theme(self, theme: Any) -> None:
        if self.preferences.theme != theme.name:
            self.preferences.theme = theme.name
            self.preferences.save()
