"""Where one was before a jump, and the moment that a trial is shown at."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Sequence
from dataclasses import dataclass

from cuecard.core.events import AgentSpoke, Event, UserSpoke
from cuecard.core.tasks import Task
from cuecard.tui.state.entries import Entry
from cuecard.tui.state.transcript import Fold

MOST = 50


@dataclass(frozen=True)
class Spot:
    """A place to come back to: the pane ("" for the transcript), its line, and the transcript's entry."""

    pane: str
    line: int
    entry: int
    top: int


class Jumps:
    """The spots that were jumped away from, the last `MOST` of them."""

    def __init__(self) -> None:
        self._spots: list[Spot] = []

    def __len__(self) -> int:
        return len(self._spots)

    def leave(self, spot: Spot) -> None:
        if not self._spots or self._spots[-1] != spot:
            self._spots = [*self._spots[-MOST + 1 :], spot]

    def back(self) -> Spot | None:
        return self._spots.pop() if self._spots else None


class Stepping:
    """A trial up to one of its events. `at` counts from 0."""

    def __init__(self, events: Sequence[Event], task: Task, at: int = 0) -> None:
        self._events, self._task = events, task
        self._spoken = [
            n for n, event in enumerate(events) if isinstance(event.body, UserSpoke | AgentSpoke)
        ]
        self.at = max(0, min(at, len(events) - 1))

    @property
    def total(self) -> int:
        return len(self._events)

    @property
    def seq(self) -> int:
        """The number of the event that is shown last."""
        return self._events[self.at].seq

    def move(self, by: int) -> None:
        """By events; not past the ends."""
        self.at = max(0, min(self.at + by, self.total - 1))

    def move_said(self, by: int) -> None:
        """To the next words that somebody says (`by` 1), or those before (-1); else to the end."""
        if by > 0:
            self.at = next((n for n in self._spoken if n > self.at), self.total - 1)
        else:
            self.at = next((n for n in reversed(self._spoken) if n < self.at), 0)

    def go_to(self, seq: int) -> None:
        """To event `seq`, or the last before it."""
        self.at = max(0, bisect_right(self._events, seq, key=lambda event: event.seq) - 1)

    def entries(
        self, whole: Sequence[Entry], events: Sequence[Event], left_out: Container[int]
    ) -> list[Entry]:
        """Of the entries of the whole trial, those that had begun by then: the last as far as it had come.
        `events` and `left_out` as the entries were made of.
        """
        known = [entry for entry in whole if entry.events and entry.events[0] <= self.seq]
        if not known or known[-1].events[-1] <= self.seq:
            return known
        begun = set(known[-1].events)
        fold = Fold(self._task, left_out)
        for event in events:
            if event.seq in begun and event.seq <= self.seq:
                fold.add(event)
        return [*known[:-1], *fold.entries()]
