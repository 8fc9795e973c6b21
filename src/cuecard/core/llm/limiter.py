"""What the calls of a model share: its rate limits and a fair queue."""

from __future__ import annotations

import asyncio
import copy
import heapq
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count

from cuecard.core.config_models import RateLimits
from cuecard.core.engine.messages import Usage
from cuecard.core.errors import Halt


@dataclass(frozen=True)
class Need:
    """What a party wants of an allowance that it shares with others. `whole`: all that there is; `has`: its part now, of which
    it cannot give back what it `used`; `want`: what it would use; `step`: the least that lets it do anything more; `holds`:
    seconds for which what was used counts, after its user is gone.
    """

    key: str
    whole: float
    has: float
    used: float
    want: float
    step: float = 0.0
    holds: float = 0.0


_HEADROOM = 1.2


@dataclass(eq=False)
class Entry:
    """What one call used of a window; `amount` is corrected when the real use is known."""

    at: float
    amount: float
    counts: bool = True


class Window:
    """A limit on the amount used within any `span` seconds; None: no limit."""

    def __init__(self, limit: float | None, span: float) -> None:
        self._limit = limit
        self.part: float | None = None
        """What of the limit this party may use; None: all of it."""
        self._span = span
        self._entries: deque[Entry] = deque()
        self._total = 0.0

    def delay(self, now: float, amount: float) -> float | None:
        """Seconds until `amount` may be used; more than the whole limit waits for an empty window. None: not before this
        party has a larger `part` of the limit.
        """
        if self._limit is None:
            return 0.0
        self._forget(now)
        part = self._limit if self.part is None else self.part
        excess = self._total + min(amount, self._limit) - part
        if excess <= 0:
            return 0.0
        for entry in self._entries:
            excess -= entry.amount
            if excess <= 0:
                return entry.at + self._span - now
        return None

    def need(self, key: str, now: float, waiting: float | None) -> Need | None:
        """`waiting`: what the next call would use; None if none waits. None: there is no limit."""
        if self._limit is None:
            return None
        self._forget(now)
        step = 0.0 if waiting is None else min(waiting, self._limit)
        want = self._total * _HEADROOM if waiting is None else self._limit
        return Need(key, self._limit, self.part or 0.0, self._total, want, step, self._span)

    def _forget(self, now: float) -> None:
        while self._entries and self._entries[0].at + self._span <= now:
            gone = self._entries.popleft()
            gone.counts = False
            self._total -= gone.amount

    def take(self, now: float, amount: float) -> Entry | None:
        if self._limit is None:
            return None
        entry = Entry(now, amount)
        self._entries.append(entry)
        self._total += amount
        return entry

    def correct(self, entry: Entry | None, amount: float) -> None:
        """Replace the expected amount of an entry by what was really used."""
        if entry is not None and entry.counts:
            self._total += amount - entry.amount
            entry.amount = amount


class Forecast:
    """Estimates the tokens of the next call from the last ones. At first one token per three bytes of the request's JSON
    is assumed, which is acceptable for English and Chinese.
    """

    _WEIGHT = 0.2

    def __init__(self, answer: int) -> None:
        self._per_byte = 1 / 3
        self._answer = float(answer)

    def tokens(self, size: int) -> int:
        """Tokens that a request of `size` bytes will use, its answer included."""
        return round(size * self._per_byte + self._answer)

    def learn(self, size: int, usage: Usage) -> None:
        if usage.prompt and size:
            self._per_byte += self._WEIGHT * (usage.prompt / size - self._per_byte)
        if usage.completion:
            self._answer += self._WEIGHT * (usage.completion - self._answer)


_HALVED_FOR = 1.0
CALLS, TOKENS, IN_FLIGHT = "calls", "tokens", "in flight"


@dataclass(order=True)
class _Waiting:
    ticket: int
    tokens: int = field(compare=False)
    turn: asyncio.Future[Slot | None] = field(compare=False)


class Slot:
    """Permission for one request. Return it with `leave`, whether or not the request succeeded."""

    __slots__ = ("_calls", "_limiter", "_tokens")

    def __init__(self, limiter: RateLimiter, calls: Entry | None, tokens: Entry | None) -> None:
        self._limiter = limiter
        self._calls = calls
        self._tokens = tokens

    def used(self, tokens: int) -> None:
        """Report the tokens that the request really used, if they are known."""
        self._limiter.correct(self._tokens, tokens)

    def leave(self) -> None:
        self._limiter.leave()


class RateLimiter:
    """Admits calls of one model in the order of their tickets, within `limits`.

    The number of concurrent calls is halved when the server is too busy, at most once per second, and raised again by
    one for each round of successes. A call that is tried again keeps its ticket. Belongs to one event loop. `minute`:
    the length of a minute in seconds, for tests.
    """

    def __init__(self, limits: RateLimits, *, minute: float = 60.0) -> None:
        self._most = self._part = limits.in_flight
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
        self._shared: Callable[[], None] | None = None
        self._until = float("inf")
        self.held = False

    @property
    def allowed(self) -> int:
        """How many calls may be under way at the same time, as far as the server has coped."""
        return int(self._allowed)

    @property
    def active(self) -> int:
        return self._active

    @property
    def paused(self) -> Halt | None:
        """Why the model is paused, if it is."""
        return self._paused

    def share_out(self, short: Callable[[], None] | None) -> None:
        """Others use the same limits from now on: calls wait for `give`. `short` is called when the first of them waits, and
        when the model is paused. None: nobody else uses them.
        """
        self._shared = short
        if short:
            self.give({}, 0.0)
        else:
            self._part, self._calls.part, self._tokens.part = self._most, None, None
            self._until = float("inf")
            self._pump()

    def give(self, parts: Mapping[str, float], until: float) -> None:
        """What of each limit (`CALLS`, `TOKENS`, `IN_FLIGHT`) the calls here may use, until this time of the event loop."""
        self._part = int(parts.get(IN_FLIGHT, 0))
        self._calls.part, self._tokens.part = parts.get(CALLS, 0.0), parts.get(TOKENS, 0.0)
        self._until = until
        self._pump()

    def needs(self) -> list[Need]:
        """What the calls here want of each limit; keys are those of `give`."""
        now = asyncio.get_running_loop().time()
        waiting = [one for one in self._waiting if not one.turn.done()]
        first = min(waiting) if waiting else None
        flight = self._active + len(waiting)
        step = float(first is not None)
        found = (
            Need(IN_FLIGHT, self._most, self._part, self._active, min(flight, self._most), step),
            self._calls.need(CALLS, now, 1.0 if first else None),
            self._tokens.need(TOKENS, now, first.tokens if first else None),
        )
        return [need for need in found if need is not None]

    def hold(self, held: bool) -> None:
        """Begin no calls as long as it is `held`; they wait."""
        self.held = held
        self._pump()

    def ticket(self) -> int:
        """A place in the queue, for all attempts of one call."""
        return next(self._tickets)

    async def enter(self, ticket: int, tokens: int = 0) -> Slot:
        """Wait until the request may be made; `tokens`: its expected use. Raises the `Halt` of `stop` or `pause`."""
        self.check()
        if not self._waiting and self._delay(tokens) == 0:
            return self._admit(tokens)
        turn: asyncio.Future[Slot | None] = asyncio.get_running_loop().create_future()
        if self._shared and not self._waiting and self._part == 0:
            self._shared()
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
            # It was paused and reopened before this task woke: queue again with the same ticket.
            return await self.enter(ticket, tokens)
        return slot

    async def sleep(self, seconds: float) -> None:
        """Wait before a further attempt. Raises the `Halt` of `stop` or `pause`."""
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
        """Raises the `Halt` of `stop` or `pause`, if there is one."""
        halt = self._stopped or self._paused
        if halt is not None:
            # A copy, since an exception that is raised repeatedly collects all the frames it passed.
            raise copy.copy(halt)

    def stop(self, halt: Halt) -> None:
        """Admit no more calls; waiting ones raise `halt`."""
        self._stopped = self._stopped or halt
        self._wake_all()

    def pause(self, halt: Halt) -> None:
        """`stop`, until a call that is under way succeeds."""
        self._paused = self._paused or halt
        self._wake_all()
        if self._shared:
            self._shared()

    def reset(self) -> None:
        """Admit calls again, with the full limits."""
        self._stopped = self._paused = None
        self._allowed, self._held_until = float(self._most), 0.0

    def succeeded(self) -> None:
        """Called after a success: more concurrent calls are allowed, and a pause ends."""
        self._paused = None
        self._allowed = min(self._most, self._allowed + 1 / self._allowed)

    def busy(self, wait: float | None) -> None:
        """Called when the server is too busy: fewer calls are allowed, and none for `wait` seconds."""
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
        """Seconds until the next call may be made; None: not before another one ends."""
        now = asyncio.get_running_loop().time()
        if self.held or self._active >= min(int(self._allowed), self._part) or now >= self._until:
            return None
        calls, used = self._calls.delay(now, 1), self._tokens.delay(now, tokens)
        if calls is None or used is None:
            return None
        return max(0.0, self._held_until - now, calls, used)

    def _admit(self, tokens: int) -> Slot:
        self._active += 1
        now = asyncio.get_running_loop().time()
        return Slot(self, self._calls.take(now, 1), self._tokens.take(now, tokens))

    def _pump(self) -> None:
        """Admit the calls that may be made now, and schedule the next one."""
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

    def _wake_all(self) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if not one.turn.done():
                one.turn.set_result(None)
        for waking in self._asleep:
            _wake(waking)


def _wake(waking: asyncio.Future[None]) -> None:
    if not waking.done():
        waking.set_result(None)
