"""How much was used within the last minute, and how much a call is going to use."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from cuecard.core.parts import Usage


@dataclass(eq=False)
class Entry:
    """What one call took from a window. `amount` may be corrected when it is known."""

    at: float
    amount: float
    counts: bool = True


class Window:
    """A limit on what is used within any `span` seconds. Without a limit it keeps nothing."""

    def __init__(self, limit: float | None, span: float) -> None:
        self._limit = limit
        self._span = span
        self._entries: deque[Entry] = deque()
        self._total = 0.0

    def delay(self, now: float, amount: float) -> float:
        """Seconds until `amount` may be used; more than the whole limit waits for an empty window."""
        if self._limit is None:
            return 0.0
        while self._entries and self._entries[0].at + self._span <= now:
            gone = self._entries.popleft()
            gone.counts = False
            self._total -= gone.amount
        excess = self._total + min(amount, self._limit) - self._limit
        if excess <= 0:
            return 0.0
        for entry in self._entries:
            excess -= entry.amount
            if excess <= 0:
                return entry.at + self._span - now
        return 0.0

    def take(self, now: float, amount: float) -> Entry | None:
        if self._limit is None:
            return None
        entry = Entry(now, amount)
        self._entries.append(entry)
        self._total += amount
        return entry

    def correct(self, entry: Entry | None, amount: float) -> None:
        """Put what was really used in the place of what was expected."""
        if entry is not None and entry.counts:
            self._total += amount - entry.amount
            entry.amount = amount


class Forecast:
    """Expects of the next call what the last ones were like. A token is at first taken for three
    bytes of the request's JSON, which fits neither English nor Chinese badly.
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
