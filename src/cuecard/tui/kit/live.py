"""Screens that read again when anybody changed something."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import ClassVar

from textual.timer import Timer
from textual.worker import Worker

from cuecard.core.errors import CuecardError
from cuecard.tui.app import CuecardScreen, guarded

LOOK = 1.5
"""Seconds between looks whether anybody changed anything."""
SHARE = 10
"""Reading again may take at most this fraction of the time: one part in ten."""


class LiveScreen(CuecardScreen[None]):
    """`load` reads what the screen shows within `reading`, and is called when the workspace was changed since."""

    LIVE: ClassVar[bool] = True
    """False for what is too dear to be read again unasked."""

    def __init__(self) -> None:
        super().__init__()
        self._seen = ""
        self._busy_reading = False
        self._next_look = 0.0
        self._looks: Timer | None = None

    def load(self) -> Worker[None]:
        raise NotImplementedError

    def on_mount(self) -> None:
        if self.LIVE:
            self._looks = self.set_interval(LOOK, self._look)

    def on_screen_suspend(self) -> None:
        # Behind a dialog it is seen. Behind anything else a tick would have Textual paint the whole screen above.
        if self._looks is not None and not self.app.screen.is_modal:
            self._looks.pause()

    def on_screen_resume(self) -> None:
        if self._looks is not None:
            self._looks.resume()

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[None]:
        """Whoever reads stands in it, so that what is saved meanwhile is read at the next look."""
        self._busy_reading, began = True, time.monotonic()
        try:
            if self.LIVE:
                self._seen = await self.services.version()
            yield
        finally:
            self._busy_reading, now = False, time.monotonic()
            self._next_look = now + SHARE * (now - began)

    def _look(self) -> None:
        due = self._seen and time.monotonic() >= self._next_look
        if due and self.is_current and not self._busy_reading:
            self.look()

    @guarded("look", background=True)
    async def look(self) -> None:
        """Read again if anybody changed anything since the last time."""
        try:
            now = await self.services.version()
        except CuecardError:
            return  # Whatever is read next says so.
        if now != self._seen and not self._busy_reading:
            self.cue_app.in_background(self.load())
