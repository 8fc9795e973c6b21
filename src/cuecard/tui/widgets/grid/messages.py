"""What a grid tells its parents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from cuecard.tui.widgets.grid.grid import Grid


class OfGrid(Message):
    def __init__(self, grid: Grid) -> None:
        super().__init__()
        self.grid = grid

    @property
    def control(self) -> Grid:
        return self.grid


class OfCell(OfGrid):
    """`row` and `column` count from 0, hidden columns included."""

    def __init__(self, grid: Grid, row: int, column: int) -> None:
        super().__init__(grid)
        self.row = row
        self.column = column
