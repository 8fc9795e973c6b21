"""The app for tests that look at the screen as soon as a key is pressed."""

# Whether an app is at work is nothing that Textual tells.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import asyncio
import inspect
import time
import unicodedata
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

from textual import events
from textual.keys import REPLACED_KEYS, _character_to_key, _get_unicode_name_from_key
from textual.pilot import Pilot
from textual.screen import Screen

from cuecard.tui.app import CuecardApp, CuecardScreen

PATIENCE = 10.0
"""Seconds after which a test looks at an app that is still at work; it says then what is missing."""
_PAUSE = 0.003


class SteadyPilot(Pilot[Any]):
    """A pilot that comes back once all that was typed is done and painted.

    Textual's own comes back when the process has used next to no processor time for 20 ms. On a busy machine that is also
    so for a process that was not given any.
    """

    async def press(self, *keys: str) -> None:
        for key in keys:
            if key.startswith("wait:"):
                await super().press(key)
            else:
                await self.app._post_message(_event(key))
            await self.settle()

    async def pause(self, delay: float | None = None) -> None:
        if delay is None:
            await asyncio.sleep(_PAUSE)
            await self.settle()
        else:
            await asyncio.sleep(delay)
            self.app.screen._on_timer_update()

    async def settle(self) -> None:
        """Wait until no key is held, no message is under way, no worker that keys wait for runs, and all is painted."""
        app = self.app
        assert isinstance(app, CuecardApp)
        until = time.monotonic() + PATIENCE
        rested = False
        while time.monotonic() < until and not _over(app):
            if app._held or not app._settled(events.Key("escape", None)):
                rested = False
            elif _unpainted(app.screen) and not app._batch_count:
                app.screen._on_timer_update()
                rested = False
            elif rested:
                return
            else:
                rested = True  # what is called after a refresh may begin something new
            await asyncio.sleep(_PAUSE)


def _unpainted(screen: Screen[Any]) -> bool:
    return screen.is_current and bool(
        screen._layout_required or screen._repaint_required or screen._dirty_widgets
    )


def _event(key: str) -> events.Key:
    """As Textual's pilot makes it: `(` and `left_parenthesis` are one key."""
    name = _character_to_key(key) if len(key) == 1 and not key.isalnum() else key
    try:
        character = unicodedata.lookup(_get_unicode_name_from_key(REPLACED_KEYS.get(name, name)))
    except KeyError:
        character = name if len(name) == 1 else None
    return events.Key(name, character)


def _over(app: CuecardApp) -> bool:
    return app._closing or app._closed or app._exit or app._exception is not None


class SteadyApp(CuecardApp):
    """The app, with a pilot that is told when it rests."""

    # Textual looks for the style sheets of an app beside the module of its class.
    CSS_PATH: ClassVar[Any] = [
        Path(inspect.getfile(CuecardApp)).parent / str(name) for name in CuecardApp.CSS_PATH
    ]

    def notify(self, message: str, **named: Any) -> None:
        """What is told stays until a test has looked, however busy the machine is."""
        super().notify(message, **{**named, "timeout": 600})

    @asynccontextmanager
    async def run_test(self, **named: Any) -> AsyncGenerator[SteadyPilot]:
        async with super().run_test(**named):
            yield SteadyPilot(self)


class BareApp(SteadyApp):
    """The app without its Home, which asks the workspace for everything that waits: what a test opens stands on an empty screen."""

    MODES: ClassVar[Any] = {**CuecardApp.MODES, "home": CuecardScreen}
