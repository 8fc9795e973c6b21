"""The scrollbar of a grid, drawn as the last cell of its lines.

A scrollbar widget beside the lines costs as much per frame as the lines themselves: it is drawn line by
line, and every line of the grid is cut where it begins.
"""

from __future__ import annotations

from typing import NamedTuple

# What stands in the last cell of a line; `MORE` in the head's: columns are off to the right.
NO_BAR, TRACK, THUMB, MORE = range(4)


class ScrollBar(NamedTuple):
    """`rows` of which `page` are in view from `top`, on a track of `page` lines."""

    rows: int
    page: int
    top: int

    @property
    def shown(self) -> bool:
        return self.rows > self.page > 0

    @property
    def size(self) -> int:
        return max(1, self.page * self.page // self.rows)

    @property
    def start(self) -> int:
        """The thumb's first line. It is at an end only when the rows are."""
        most, free = self.rows - self.page, self.page - self.size
        if self.top <= 0 or free <= 0:
            return 0
        if self.top >= most:
            return free
        return max(1, min(self.top * free // most, free - 1)) if free > 1 else 0

    def part(self, line: int) -> int:
        """What stands on a line of the track."""
        if not self.shown:
            return NO_BAR
        return THUMB if self.start <= line < self.start + self.size else TRACK

    def top_at(self, line: int) -> int:
        """The first row in view when the thumb is dragged so that its middle is on `line`."""
        free = max(1, self.page - self.size)
        start = max(0, min(line - self.size // 2, free))
        return round(start * (self.rows - self.page) / free)
