"""What an agent writes, from the engine's thread to frames of the screen, without polling."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

from textual.message import Message
from textual.message_pump import MessagePump
from textual.timer import Timer

FRAME = 1 / 30
"""Seconds from one frame to the next, at least."""
REST = 2.0
"""How much longer than it takes to paint a frame the screen is left to other work."""

KEY = 0.025
"""Seconds after a key that belong to what it changed."""
LATE = 0.15
"""Seconds after which a frame is painted, whoever types."""


@dataclass
class Streamed(Message):
    """More of the agent's reply in `turn`; never in the log."""

    turn: int
    text: str


class Gathering:
    """Lives on the engine's loop. The first piece of a turn is posted at once; those that come within
    a frame after it are posted as one. Whoever posts something else `flush`es before, so that everything
    arrives in its order.
    """

    def __init__(self, post: Callable[[Message], Any]) -> None:
        self._post = post
        self._turn = -1
        self._pieces: list[str] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(self, turn: int, text: str) -> None:
        if turn != self._turn:
            self.flush()
            self._turn = turn
        self._pieces.append(text)
        if self._timer is None:
            self._frame()

    def flush(self) -> None:
        """Post what there is; the next piece counts as a first one."""
        self._send()
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _frame(self) -> None:
        self._timer = None
        if self._send():
            self._timer = asyncio.get_running_loop().call_later(FRAME, self._frame)

    def _send(self) -> bool:
        text = "".join(self._pieces)
        self._pieces.clear()
        if text:
            self._post(Streamed(self._turn, text))
        return bool(text)


class Frames:
    """Lives on the screen. Asked for a frame it paints at once, or, as long as the last one is fresh or
    somebody types, after a rest: however much is asked for, keys are heard in between.
    """

    def __init__(self, pump: MessagePump, paint: Callable[[], None]) -> None:
        self._pump, self._paint = pump, paint
        self._free_at = self._asked_at = 0.0
        self._timer: Timer | None = None

    def ask(self) -> None:
        """Have what has changed painted."""
        if self._timer is None:
            self._asked_at = monotonic()
            self._when_free()

    def give_way(self) -> None:
        """A key was pressed: what it changed is painted first, by itself."""
        self._free_at = max(self._free_at, monotonic() + KEY)

    def now(self) -> None:
        """Paint without waiting."""
        if self._timer:
            self._timer.stop()
            self._timer = None
        begun = monotonic()
        self._paint()
        taken = monotonic() - begun
        self._free_at = begun + taken + max(FRAME / 2, REST * taken)

    def _when_free(self) -> None:
        self._timer = None
        at = monotonic()
        wait = min(self._free_at, self._asked_at + LATE) - at
        if wait > 0:
            self._timer = self._pump.set_timer(wait, self._when_free)
        else:
            self.now()
