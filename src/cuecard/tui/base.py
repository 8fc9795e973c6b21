"""What every screen shares: translated keys, workers with an error boundary, help."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

from textual import work
from textual.await_complete import AwaitComplete
from textual.binding import ActiveBinding
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen
from textual.timer import Timer
from textual.worker import Worker

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, keys

if TYPE_CHECKING:
    from cuecard.tui.app import CuecardApp
    from cuecard.tui.services import Services

Result = TypeVar("Result")
P = ParamSpec("P")
NodeT = TypeVar("NodeT", bound="DOMNode")


SETTLED = 0.06
"""Seconds without a change of what keys can do after which that is shown."""


class _Shared:
    """Mixed into screens and modal screens."""

    _bindings_timer: Timer | None = None
    _bindings_shown: object = None

    def refresh_bindings(self) -> None:
        """Have the footer show what keys can do now. Textual makes it anew at every change of focus, a dozen
        times while a screen opens, and each time costs as much as a page of a table; here once, when nothing
        changes any more, and not at all where it would say the same.
        """
        if self._bindings_timer is not None:
            self._bindings_timer.reset()
        elif (screen := cast("Screen[Any]", self)).is_running:
            self._bindings_timer = screen.set_timer(SETTLED, self._show_bindings)

    def _show_bindings(self) -> None:
        self._bindings_timer = None
        screen = cast("Screen[Any]", self)
        # Behind another window the footer does not listen, and on coming back a screen asks again.
        if screen.is_attached and screen.is_current and screen.app.app_focus:
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
        """Leave this screen, with what stands above it. One that was left already stays so: a worker or a
        second key that comes late must not take away the screen below.
        """
        screen = cast("Screen[Any]", self)
        if screen not in screen.app.screen_stack:
            return AwaitComplete()
        while screen.app.screen is not screen:
            screen.app.screen.dismiss()
        return cast(AwaitComplete, super().dismiss(result))  # pyright: ignore[reportAttributeAccessIssue]

    def report(self, error: BaseException) -> None:
        """Show an error as what, where, why and how to mend."""
        self.cue_app.report(error)


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
    """A full screen. Subclasses compose, route messages and call services."""

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
    """A dialog over a screen; Escape always leaves it without doing anything."""

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
    """An async method as a named, exclusive worker whose errors are shown, not raised.

    Starting it again in the same `group` of the same widget or screen cancels the one before. What is typed
    waits until it is done (`HoldsKeys`), unless it works in the `background`: moves no focus, opens nothing and
    changes nothing that a key acts on.
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
