"""The app: modes, themes, who I am, and where errors are shown. Everything else is a screen."""

from __future__ import annotations

import gc
import traceback
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from rich.text import Text
from textual.app import SystemCommand
from textual.screen import Screen

from cuecard.core.errors import CuecardError, told
from cuecard.core.i18n import N_, _
from cuecard.core.scrubbing import scrub
from cuecard.core.text import for_display
from cuecard.tui.actions import Key, keys, registry
from cuecard.tui.base import CuecardScreen, guarded, translated
from cuecard.tui.held_keys import HoldsKeys
from cuecard.tui.prefs import Preferences
from cuecard.tui.services import Services
from cuecard.tui.theme import DARK, LIGHT

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
"""Keys that move about: where there is nothing to go to, that is seen."""


def _no_reason(action: str) -> str:
    return ""


def _home() -> Screen[Any]:
    from cuecard.tui.screens.home import HomeScreen

    return HomeScreen()


def _tasks() -> Screen[Any]:
    from cuecard.tui.screens.tasks import TasksScreen

    return TasksScreen()


def _runs() -> Screen[Any]:
    from cuecard.tui.screens.runs import RunsScreen

    return RunsScreen()


def _review() -> Screen[Any]:
    from cuecard.tui.screens.review import ReviewQueueScreen

    return ReviewQueueScreen()


def _verdicts() -> Screen[Any]:
    from cuecard.tui.screens.verdicts import VerdictsScreen

    return VerdictsScreen()


def _settings() -> Screen[Any]:
    from cuecard.tui.screens.settings import SettingsScreen

    return SettingsScreen()


def _collect_garbage_again() -> None:
    """What start-up made stays for good: leave it out of every later collection. A full collection
    stops the screen for 40 ms and more where a large task is open, so there are few.
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
    )

    def __init__(self, services: Services, person: str, preferences: Preferences) -> None:
        super().__init__()
        self.services = services
        self.person = person
        self.preferences = preferences
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = preferences.theme if preferences.theme in self.available_themes else DARK.name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our own colours under a theme that is not ours."""
        return (DARK if self.current_theme.dark else LIGHT).variables

    def on_mount(self) -> None:
        self.theme_changed_signal.subscribe(self, self._remember_theme)
        self.set_timer(2.0, _collect_garbage_again)

    def on_unmount(self) -> None:
        self.services.close()

    async def _check_bindings(self, key: str, priority: bool = False) -> bool:
        done = await super()._check_bindings(key, priority)
        if not done and not priority:
            self._tell_idle(key)
        return done

    def _tell_idle(self, key: str) -> None:
        """A key of this screen that does nothing now says so, and why where the screen knows it."""
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
        if isinstance(error, CuecardError):
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
        """A short, good-natured note."""
        self.notify(for_display(message), title=title, timeout=4, markup=False)

    def become(self, person: str) -> None:
        """Work under another name in this workspace, remembered for next time."""
        self.person = person
        self.preferences.people[self.services.url] = person
        self.preferences.save()

    def speak(self, language: str) -> None:
        """Begin anew in another language, remembered for next time."""
        self.preferences.language = language
        self.preferences.save()
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
        from cuecard.tui.screens.wizard.asking import play_an_agent

        await play_an_agent(self)

    def action_go(self, mode: str) -> None:
        if self.person:
            self.switch_mode(mode)

    def action_command_palette(self) -> None:
        from textual.command import CommandPalette

        if not isinstance(self.screen, CommandPalette):
            self.push_screen(
                CommandPalette(id="--command-palette", placeholder=_("Search for commands…"))
            )

    def action_explain(self) -> None:
        from cuecard.tui.screens.help import HelpDialog

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
