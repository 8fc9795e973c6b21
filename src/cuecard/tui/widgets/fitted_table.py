"""A table whose columns share the width that there is, so that nothing is off to the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text
from textual.coordinate import Coordinate
from textual.events import Resize
from textual.widgets import DataTable

from cuecard.core.i18n import _
from cuecard.core.text import one_line

MAX_CELL = 400


@dataclass(frozen=True)
class FittedColumn:
    """`width` cells at least; what is left over goes to columns by their share `grow`. `label` is
    marked with `N_`. From `hidden_below` cells of table width down the column is left out.
    """

    label: str
    width: int
    grow: int = 0
    right: bool = False
    hidden_below: int = 0


def cell(text: str | Text, *, right: bool = False) -> Text:
    """Foreign text as one line of a table cell: no markup, no escape sequence."""
    shown = text.copy() if isinstance(text, Text) else Text(one_line(text, MAX_CELL))
    shown.no_wrap, shown.overflow = True, "ellipsis"
    if right:
        shown.justify = "right"
    return shown


def fitted_widths(columns: Sequence[FittedColumn], room: int, padding: int = 1) -> dict[int, int]:
    """Width by index of each column that is shown in `room` cells. Without room for all the
    growing columns shrink, to no less than 4 cells.
    """
    shown = [i for i, column in enumerate(columns) if room >= column.hidden_below]
    widths = {i: columns[i].width for i in shown}
    left = room - sum(widths.values()) - 2 * padding * len(shown)
    growing = [i for i in shown if columns[i].grow]
    shares = sum(columns[i].grow for i in growing)
    for position, i in enumerate(growing):
        last = position == len(growing) - 1
        part = left if last else left * columns[i].grow // shares
        shares -= columns[i].grow
        left -= part
        widths[i] = max(4, widths[i] + part)
    return widths


class FittedTable(DataTable[Text]):
    """`fill` it with rows of cells; the cursor stays where it was."""

    def __init__(self, fitted: Sequence[FittedColumn], *, id: str | None = None) -> None:
        super().__init__(id=id, cursor_type="row", zebra_stripes=False)
        self._fitted = fitted
        self._cells: list[Sequence[str | Text]] = []
        self._widths: dict[int, int] = {}
        self._wanted = 0

    def fill(self, cells: Sequence[Sequence[str | Text]], cursor: int | None = None) -> None:
        """Show these rows, with the cursor on row `cursor` or where it was."""
        self._cells = list(cells)
        self._wanted = self.cursor_row if cursor is None else cursor
        self._rebuild()

    @property
    def count(self) -> int:
        """How many rows there are, drawn yet or not."""
        return len(self._cells)

    def go_to(self, row: int) -> None:
        """Put the cursor on `row`, now or when the table has its size."""
        self._wanted = row
        if self.row_count:
            self.move_cursor(row=row)

    def update_row(self, index: int, cells: Sequence[str | Text]) -> None:
        """Show other cells in one row."""
        if not 0 <= index < len(self._cells):
            return
        self._cells[index] = cells
        if index < self.row_count:
            for column, position in enumerate(self._widths):
                text = cell(cells[position], right=self._fitted[position].right)
                self.update_cell_at(Coordinate(index, column), text)

    def on_resize(self, event: Resize) -> None:
        # What was filled in while the table was hidden is not drawn yet.
        behind = self.row_count != len(self._cells)
        if behind or fitted_widths(self._fitted, self._room) != self._widths:
            self._wanted = self.cursor_row if self.row_count else self._wanted
            self._rebuild()

    @property
    def _room(self) -> int:
        # One cell stays free for the scrollbar, which comes and goes with the rows.
        return max(0, self.content_size.width - 1)

    def _rebuild(self) -> None:
        if not self._room:
            return
        widths = fitted_widths(self._fitted, self._room)
        same = widths == self._widths and len(self.columns) == len(widths)
        scroll = self.scroll_y
        self.clear(columns=not same)
        if not same:
            self._widths = widths
            for position, width in widths.items():
                column = self._fitted[position]
                self.add_column(cell(_(column.label), right=column.right), width=width)
        for cells in self._cells:
            self.add_row(*(cell(cells[p], right=self._fitted[p].right) for p in widths))
        if self._cells:
            self.scroll_to(y=scroll, animate=False)
            self.move_cursor(row=max(0, min(self._wanted, len(self._cells) - 1)))
