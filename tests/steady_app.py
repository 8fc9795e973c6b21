"""The app for tests that look at the screen as soon as a key is pressed."""

# Whether an app is at work is nothing that Textual tells.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

from textual import events
from textual.pilot import Pilot

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
        await super().press(*keys)
        await self.settle()

    async def pause(self, delay: float | None = None) -> None:
        await super().pause(delay)
        if delay is None:
            await self.settle()

    async def settle(self) -> None:
        """Wait until no key is held, no message is under way, no worker that keys wait for runs, and all is painted."""
        app = self.app
        assert isinstance(app, CuecardApp)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and not _over(app):
            if app._held or not app._settled(events.Key("escape", None)):
                await asyncio.sleep(_PAUSE)
                continue
            screen = app.screen
            if not (screen._layout_required or screen._repaint_required or screen._dirty_widgets):
                return
            screen._on_timer_update()
            await asyncio.sleep(0)
            if app._batch_count or not screen.is_current:
                return


def _over(app: CuecardApp) -> bool:
    return app._closing or app._closed or app._exit or app._exception is not None


class SteadyApp(CuecardApp):
    """The app, with a pilot that is told when it rests."""

    # Textual looks for the style sheets of an app beside the module of its class.
    CSS_PATH: ClassVar[Any] = [
        Path(inspect.getfile(CuecardApp)).parent / str(name) for name in CuecardApp.CSS_PATH
    ]

    @asynccontextmanager
    async def run_test(self, **named: Any) -> AsyncGenerator[SteadyPilot]:
        async with super().run_test(**named):
            yield SteadyPilot(self)


class BareApp(SteadyApp):
    """The app without its Home, which asks the workspace for everything that waits: what a test opens stands on an empty screen."""

    MODES: ClassVar[Any] = {**CuecardApp.MODES, "home": CuecardScreen}
