"""Who may call a model when: its limits, its troubles, and fairness between callers."""

from __future__ import annotations

import asyncio
import copy
import heapq
from dataclasses import dataclass, field
from itertools import count

from cuecard.core.config_models import RateLimits
from cuecard.core.errors import Halt
from cuecard.core.llm.rates import Entry, Window

_HALVED_FOR = 1.0


@dataclass(order=True)
class _Waiting:
    ticket: int
    tokens: int = field(compare=False)
    turn: asyncio.Future[Slot | None] = field(compare=False)


class Slot:
    """The right to one request. Given back with `leave`, whatever came of the request."""

    __slots__ = ("_calls", "_gate", "_tokens")

    def __init__(self, gate: Gate, calls: Entry | None, tokens: Entry | None) -> None:
        self._gate = gate
        self._calls = calls
        self._tokens = tokens

    def used(self, tokens: int) -> None:
        """What the request really took, where that is known."""
        self._gate.correct(self._tokens, tokens)

    def leave(self) -> None:
        self._gate.leave()


class Gate:
    """Lets calls of one model through, first come first served, within `limits`.

    The number of calls at the same time is halved when the server is too busy, at most once a
    second, and raised again by one for each round of successes. A call that comes back for
    a further attempt keeps its place. Belongs to one event loop. `minute`: what the limits
    call a minute, in seconds.
    """

    def __init__(self, limits: RateLimits, *, minute: float = 60.0) -> None:
        self._most = limits.in_flight
        self._allowed = float(limits.in_flight)
        self._active = 0
        self._calls = Window(limits.calls_per_minute, minute)
        self._tokens = Window(limits.tokens_per_minute, minute)
        self._tickets = count()
        self._waiting: list[_Waiting] = []
        self._asleep: set[asyncio.Future[None]] = set()
        self._held_until = 0.0
        self._halved_at = float("-inf")
        self._alarm: asyncio.TimerHandle | None = None
        self._stopped: Halt | None = None
        self._paused: Halt | None = None

    @property
    def allowed(self) -> int:
        """How many calls may be under way at the same time, as the server bears them."""
        return int(self._allowed)

    @property
    def active(self) -> int:
        return self._active

    def ticket(self) -> int:
        """A place in the queue, for all attempts of one call."""
        return next(self._tickets)

    async def enter(self, ticket: int, tokens: int = 0) -> Slot:
        """Wait for a turn; `tokens`: what the request may use. Raises the `Halt` that ends waiting."""
        self.check()
        if not self._waiting and self._delay(tokens) == 0:
            return self._admit(tokens)
        turn: asyncio.Future[Slot | None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, _Waiting(ticket, tokens, turn))
        self._pump()
        try:
            slot = await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and (late := turn.result()):
                late.used(0)
                late.leave()
            raise
        if slot is None:
            self.check()
            # Paused and opened again before this task woke: queue anew, in the old place.
            return await self.enter(ticket, tokens)
        return slot

    async def sleep(self, seconds: float) -> None:
        """Wait before a further attempt. Raises the `Halt` that ends waiting."""
        self.check()
        loop = asyncio.get_running_loop()
        waking: asyncio.Future[None] = loop.create_future()
        alarm = loop.call_later(seconds, _wake, waking)
        self._asleep.add(waking)
        try:
            await waking
        finally:
            self._asleep.discard(waking)
            alarm.cancel()
        self.check()

    def check(self) -> None:
        """Raises the `Halt` for which no call is made any more."""
        halt = self._stopped or self._paused
        if halt is not None:
            # A copy: an exception that is raised again and again holds all the frames it passed.
            raise copy.copy(halt)

    def stop(self, halt: Halt) -> None:
        """Let nobody through any more; what waits raises `halt`."""
        self._stopped = self._stopped or halt
        self._rouse()

    def pause(self, halt: Halt) -> None:
        """`stop`, until a call that is under way succeeds."""
        self._paused = self._paused or halt
        self._rouse()

    def reset(self) -> None:
        """Be open again, with all that the limits allow."""
        self._stopped = self._paused = None
        self._allowed, self._held_until = float(self._most), 0.0

    def succeeded(self) -> None:
        """A call went well: the server bears more."""
        self._paused = None
        self._allowed = min(self._most, self._allowed + 1 / self._allowed)

    def busy(self, wait: float | None) -> None:
        """The server wants fewer calls, and none for `wait` seconds."""
        now = asyncio.get_running_loop().time()
        if now - self._halved_at >= _HALVED_FOR:
            self._halved_at = now
            self._allowed = max(1.0, self._allowed / 2)
        if wait:
            self._held_until = max(self._held_until, now + wait)

    def correct(self, entry: Entry | None, tokens: int) -> None:
        self._tokens.correct(entry, tokens)

    def leave(self) -> None:
        self._active -= 1
        self._pump()

    def _delay(self, tokens: int) -> float | None:
        """Seconds until the next call may go; None: not before another one ends."""
        if self._active >= int(self._allowed):
            return None
        now = asyncio.get_running_loop().time()
        return max(
            0.0,
            self._held_until - now,
            self._calls.delay(now, 1),
            self._tokens.delay(now, tokens),
        )

    def _admit(self, tokens: int) -> Slot:
        self._active += 1
        now = asyncio.get_running_loop().time()
        return Slot(self, self._calls.take(now, 1), self._tokens.take(now, tokens))

    def _pump(self) -> None:
        """Let through whoever may go now; come back when the next one may."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        while self._waiting:
            first = self._waiting[0]
            if first.turn.done():
                heapq.heappop(self._waiting)
                continue
            delay = self._delay(first.tokens)
            if delay is None:
                return
            if delay > 0:
                self._alarm = asyncio.get_running_loop().call_later(delay, self._pump)
                return
            heapq.heappop(self._waiting)
            first.turn.set_result(self._admit(first.tokens))

    def _rouse(self) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if not one.turn.done():
                one.turn.set_result(None)
        for waking in self._asleep:
            _wake(waking)


def _wake(waking: asyncio.Future[None]) -> None:
    if not waking.done():
        waking.set_result(None)
