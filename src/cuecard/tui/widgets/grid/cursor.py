"""Where the cursor of a grid is and which rows are marked: no screen, no drawing."""

from __future__ import annotations

from collections.abc import Iterable


class GridCursor:
    """A place in `rows` x `columns` (`column` counts those that are not shown too) and marked rows."""

    def __init__(self, rows: int = 0, row: int = 0, column: int = 0) -> None:
        self.rows = rows
        self.row = row
        self.column = column
        self.marked: frozenset[int] = frozenset()
        # Where extending began, and what was marked before it.
        self._anchor: int | None = None
        self._before: frozenset[int] = frozenset()

    def resize(self, rows: int) -> None:
        """There are `rows` rows now; the cursor and the marks stay where they can."""
        self.rows = rows
        self.row = max(0, min(self.row, rows - 1))
        if any(row >= rows for row in self.marked):
            self.marked = frozenset(row for row in self.marked if row < rows)
        self._anchor = None

    def go(self, row: int) -> None:
        self.row = max(0, min(row, self.rows - 1))
        self._anchor = None

    def extend(self, by: int) -> None:
        """Move and mark all rows from where extending began to the cursor."""
        if not self.rows:
            return
        if self._anchor is None:
            self._anchor, self._before = self.row, self.marked
        self.row = max(0, min(self.row + by, self.rows - 1))
        first, last = sorted((self._anchor, self.row))
        self.marked = self._before | frozenset(range(first, last + 1))

    def toggle(self) -> None:
        if self.rows:
            self.marked = self.marked ^ {self.row}
            self._anchor = None

    def toggle_all(self) -> None:
        everything = frozenset(range(self.rows))
        self.marked = frozenset() if self.marked == everything else everything
        self._anchor = None

    def mark(self, rows: Iterable[int]) -> None:
        self.marked = frozenset(row for row in rows if 0 <= row < self.rows)
        self._anchor = None
