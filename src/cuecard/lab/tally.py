"""What a run has done so far: counted from its events, for those who watch it, in the app or on the command line."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from typing import NamedTuple

from cuecard.core.parts import Usage
from cuecard.core.run_events import (
    CallAnswered,
    RunBegan,
    RunEvent,
    TrialBegan,
    TrialFinished,
    TrialLeftOpen,
    TurnPlayed,
)

_WINDOW = 30.0
_REASONS = 5


class Trouble(NamedTuple):
    """Why a trial failed, or what went wrong after it."""

    cell: str
    reason: str


class Tally:
    """Told of events on one thread, read on another: all values are whole objects or numbers."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._turns: deque[float] = deque()
        self.total = self.ended = self.failed = self.problems = self.turns = self.calls = 0
        self.usage = Usage()
        self.cost: float | None = None
        self.by_cell: dict[str, int | None] = {}
        self.ends: Counter[str] = Counter()
        self.troubles: deque[Trouble] = deque(maxlen=_REASONS)

    def told(self, event: RunEvent) -> None:
        match event:
            case RunBegan(cells=cells):
                self.total = cells
                self._began = self._clock()
            case TrialBegan(cell=cell, resumed=resumed):
                # Unknown in a trial that goes on, until it has come to its next turn.
                self.by_cell[cell] = None if resumed else 1
            case TurnPlayed(cell=cell, turn=turn):
                self.by_cell[cell] = turn + 2
                self.turns += 1
                self._turns.append(self._clock())
            case CallAnswered(usage=usage, cost=cost):
                self.calls += 1
                self.usage = self.usage.plus(usage)
                if cost is not None:
                    self.cost = (self.cost or 0.0) + cost
            case TrialFinished(cell=cell, termination=end, detail=detail, problem=problem):
                self.by_cell.pop(cell, None)
                self.ended += 1
                self.failed += end.is_failure
                self.problems += bool(problem)
                self.ends[end.value] += 1
                if end.is_failure or problem:
                    self.troubles.append(Trouble(cell, problem or detail))
            case TrialLeftOpen(cell=cell):
                self.by_cell.pop(cell, None)
            case _:
                pass

    @property
    def turns_a_second(self) -> float:
        """Over the last half minute."""
        now = self._clock()
        while self._turns and now - self._turns[0] > _WINDOW:
            self._turns.popleft()
        span = min(now - self._began, _WINDOW)
        return len(self._turns) / span if span > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """At the pace of the trials that have ended so far; None before the first."""
        if not self.ended or not self.total:
            return None
        return (self._clock() - self._began) / self.ended * (self.total - self.ended)
