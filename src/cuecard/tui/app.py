"""The app: its screens by mode, global keys, workers that show their errors, and what all screens and dialogs share."""

from __future__ import annotations

import gc
import traceback
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import wraps
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeVar, cast

from rich.text import Text
from textual import constants, work
from textual.app import SystemCommand
from textual.await_complete import AwaitComplete
from textual.binding import ActiveBinding
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen
from textual.timer import Timer
from textual.worker import Worker

from cuecard.core.errors import CuecardError, DatabaseAway, scrub, told
from cuecard.core.i18n import N_, _
from cuecard.core.text import for_display, one_line
from cuecard.tui.actions import Key, keys, registry
from cuecard.tui.held_keys import HoldsKeys
from cuecard.tui.outage import Outage
from cuecard.tui.preferences import DARK, LIGHT, OURS, Preferences
from cuecard.tui.services import Services

Result = TypeVar("Result")
P = ParamSpec("P")
NodeT = TypeVar("NodeT", bound="DOMNode")


SETTLED = 0.06
"""Seconds without a change of the active bindings after which the footer is drawn."""


class _Shared:
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
        elif (screen := cast("Screen[Any]", self)).is_running:
            self._bindings_timer = screen.set_timer(SETTLED, self._show_bindings)

    def _show_bindings(self) -> None:
        self._bindings_timer = None
        screen = cast("Screen[Any]", self)
        # An app that closes takes a screen's widgets away before the screen. Behind another window the footer does not
        # listen, and on coming back a screen asks again.
        settled = screen.is_attached and screen.is_current
        if screen.app.is_running and settled and screen.app.app_focus:
            shown = [
                (active.binding, active.enabled)
                for active in screen.active_bindings.values()
                if active.binding.show
            ]
            if shown != self._bindings_shown:
                self._bindings_shown = shown
                Screen.refresh_bindings(screen)

    @property
    def cue_app(self) -> CuecardApp:
        return cast("CuecardApp", cast("Screen[Any]", self).app)

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
        screen = cast("Screen[Any]", self)
        if screen not in screen.app.screen_stack:
            return AwaitComplete()
        while screen.app.screen is not screen:
            screen.app.screen.dismiss()
        return cast(AwaitComplete, super().dismiss(result))  # pyright: ignore[reportAttributeAccessIssue]

    def report(self, error: BaseException) -> None:
        """Show an error: what happened, where, why, and how to fix it."""
        self.cue_app.report(error)

    def on_screen_resume(self) -> None:
        self.cue_app.outage.show()


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
        Key(
            "screen.help",
            "question_mark",
            "app.explain",
            N_("Help"),
            N_("Keys of this screen"),
            shown_as="?",
        ),
    )

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
        Key("dialog.close", "escape", "dismiss", N_("Cancel"), N_("Close without doing anything")),
    )

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


RESTART = "restart"
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
    """Resume what `launch` paused. What start-up made stays for good: leave it out of every later collection. A full
    collection stops the screen for 40 ms and more where a large task is open, so there are few.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 20, 100)
    gc.enable()


class CuecardApp(HoldsKeys):
    """`run()` returns `RESTART` when the person changed the interface language."""

    TITLE = "Cuecard"
    CSS_PATH = ["styles/app.tcss"]
    ENABLE_COMMAND_PALETTE = True
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
        Key("go.home", "1", "go('home')", N_("Home"), N_("What waits for me"), show=False),
        Key("go.tasks", "2", "go('tasks')", N_("Tasks"), N_("Write and edit tasks"), show=False),
        Key("go.runs", "3", "go('runs')", N_("Runs"), N_("Play tasks and read trials"), show=False),
        Key(
            "go.review",
            "4",
            "go('review')",
            N_("Review"),
            N_("Review other people's tasks"),
            show=False,
        ),
        Key(
            "go.verdicts",
            "5",
            "go('verdicts')",
            N_("Verdicts"),
            N_("Label the judge's verdicts"),
            show=False,
        ),
        Key(
            "go.settings",
            "6",
            "go('settings')",
            N_("Settings"),
            N_("Name, language, theme, endpoints"),
            show=False,
        ),
        Key(
            "app.palette",
            "ctrl+p",
            "command_palette",
            N_("Commands"),
            N_("Find any command"),
            shown_as="^p",
        ),
        Key(
            "app.quit",
            "ctrl+q",
            "quit",
            N_("Quit"),
            N_("Leave; everything is saved"),
            shown_as="^q",
            priority=True,
        ),
        Key(
            "app.try_again",
            "f12",
            "try_again",
            N_("Try now"),
            N_("Try now whether the database is back"),
            shown_as="F12",
            show=False,
            priority=True,
        ),
    )

    def __init__(self, services: Services, person: str, preferences: Preferences) -> None:
        super().__init__()
        self.services = services
        self.outage = services.outage = Outage(
            self, services.journal, services.try_again, self.report
        )
        self.person = person
        self.preferences = preferences
        for ours in OURS:
            self.register_theme(ours)
        self.move()
        self.theme = preferences.theme if preferences.theme in self.available_themes else DARK.name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our own colours under a theme that is not ours."""
        return (DARK if self.current_theme.dark else LIGHT).variables

    def on_mount(self) -> None:
        self.services.on_run_end = self._run_is_over
        self.theme_changed_signal.subscribe(self, self._remember_theme)
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

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Every key that works on this screen now, then the theme chooser."""
        for active in translated(screen.active_bindings).values():
            binding = active.binding
            if binding.id is None or not active.enabled or binding.action == "command_palette":
                continue
            label = f"{binding.description}  ({self.get_key_display(binding)})"
            yield SystemCommand(label, active.tooltip, self._runner(active.node, binding.action))
        yield SystemCommand(_("Theme"), _("Change colours"), self.action_change_theme)
        if self.person and isinstance(screen, CuecardScreen):
            told = _("Sit down in a session that waits for a person to play the agent")
            yield SystemCommand(_("Play the agent"), told, self.play_an_agent)

    @guarded("play_an_agent")
    async def play_an_agent(self) -> None:
        from cuecard.tui.screens.wizard_of_oz import play_an_agent

        await play_an_agent(self)

    def action_go(self, mode: str) -> None:
        if self.person:
            self.switch_mode(mode)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "try_again":
            return self.outage.error is not None
        return super().check_action(action, parameters)

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
