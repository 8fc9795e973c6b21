"""Where the columns of a grid stand in the room that there is. Pure: no screen, no drawing."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from cuecard.tui.widgets.grid.columns import PADDING


class Layout(NamedTuple):
    """A lead (bar, mark, gutter, number) and columns with padding, in `room` cells.

    `starts` are the columns' text, from the left edge, nothing scrolled. What is left of `pinned`
    never scrolls, the rest by whole columns: to one of `stops`. The last column has no padding on
    its right where all fits.
    """

    room: int
    lead: int
    digits: int
    widths: Mapping[int, int]
    starts: Mapping[int, int]
    pinned: int
    stops: Sequence[int]
    total: int

    @classmethod
    def of(
        cls,
        fit: Callable[[int], Mapping[int, int]],
        room: int,
        *,
        digits: int = 0,
        marks: int = 0,
        fixed: int = 0,
    ) -> Layout:
        """`fit` gives the widths by column for some room; `marks` cells follow the bar."""
        lead = 1 + marks + (digits + PADDING if digits else 0)
        widths = fit(max(0, room - lead + PADDING))
        starts: dict[int, int] = {}
        x = pinned = lead
        for column, width in widths.items():
            starts[column] = x + PADDING
            x += width + 2 * PADDING
            if column < fixed:
                pinned = x
        # Too much that stays would leave nothing to scroll.
        pinned = lead if pinned > room * 2 // 3 else pinned
        total = max(lead, x - PADDING if x - PADDING <= room else x)
        stops = [0, *(s - PADDING - pinned for s in starts.values() if s - PADDING > pinned)]
        return cls(room, lead, digits, widths, starts, pinned, stops, total)

    @property
    def scrolls(self) -> bool:
        return self.total > self.room

    @property
    def most(self) -> int:
        """How far to scroll until the last column is in view."""
        return self._stop_from(self.total - self.room) if self.scrolls else 0

    def stop(self, scroll_x: int) -> int:
        """The stop at or before `scroll_x`."""
        return self.stops[bisect_right(self.stops, max(0, min(scroll_x, self.most))) - 1]

    def stop_beyond(self, scroll_x: int, by: int) -> int:
        """The stop next to where `scroll_x` is, on the right or left."""
        at = bisect_right(self.stops, self.stop(scroll_x)) - 1 + by
        return self.stops[max(0, min(at, len(self.stops) - 1))]

    def _stop_from(self, scroll_x: int) -> int:
        return self.stops[min(bisect_left(self.stops, scroll_x), len(self.stops) - 1)]

    def span(self, column: int, scroll_x: int) -> tuple[int, int] | None:
        """Where a column's text starts and ends in view; None for one that is not in view."""
        if column not in self.starts:
            return None
        start = self.starts[column]
        end = start + self.widths[column]
        if start >= self.pinned:
            start, end = max(start - scroll_x, self.pinned), end - scroll_x
        end = min(end, self.room)
        return (start, end) if start < end else None

    def column_at(self, x: int, scroll_x: int) -> int | None:
        """The column whose text or padding is at `x`."""
        if x >= self.pinned:
            x += scroll_x
        found = None
        for column, start in self.starts.items():
            if start - PADDING <= x:
                found = column
        return found

    def scroll_for(self, column: int, scroll_x: int) -> int:
        """How far to scroll sideways so that a column is in view, padding included."""
        start = self.starts.get(column)
        if start is None or start < self.pinned or not self.scrolls:
            return scroll_x
        left, right = start - PADDING, start + self.widths[column] + PADDING
        if left - scroll_x < self.pinned:
            return left - self.pinned
        if right - scroll_x <= self.room:
            return scroll_x
        return min(self._stop_from(right - self.room), left - self.pinned)
