"""Columns of a list, and the grid that shows them: how wide they are, what they say, and what is left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from rich.cells import cell_len
from rich.text import Text

from cuecard.core.i18n import _
from cuecard.tui.grid import GridCell, GridColumn, GridSource
from cuecard.tui.grid.cells import PADDING, flat, grow, measured, order_of, plain
from cuecard.tui.widgets.inputs import ListTable

Row = TypeVar("Row")
Cell = str | GridCell | Text
_MOST = 200
"""Cells that a column takes at most, however long what it says is."""
_FIRST = 40
"""Cells that every column gets in its turn before one gets more."""
_UNGROWN = 24
"""Cells that a column which does not grow takes at most."""


@dataclass(frozen=True)
class Column(Generic[Row]):
    """A column: its title, marked with `N_` or shown as it is with `raw`, and what it says of a row.

    It is as wide as its contents. Where there is no room for all, those with `spare` are left out, the highest first;
    then those that `grow` are cut, the lowest first, to no less than `least` cells. Room that is left is shared by those
    that grow. It keeps `wide` cells for what it may say later. Sorted by `sort`, or by what it says: as a number if it stands on the `right`. None comes last.
    One that is `quiet` is not there while it says nothing of any row. Of one whose texts are told apart by their `tail` the end is shown.
    """

    title: str
    get: Callable[[Row], Cell]
    grow: int = 0
    least: int = 8
    right: bool = False
    tail: bool = False
    spare: int = 0
    wide: int = 0
    sort: Callable[[Row], Any] | None = None
    raw: bool = False
    quiet: bool = False

    @property
    def label(self) -> str:
        return self.title if self.raw else _(self.title)

    def value(self, row: Row) -> Any:
        """What the row is sorted by."""
        if self.sort is not None:
            return self.sort(row)
        return order_of(self.get(row), number=self.right)


def widths_of(
    columns: Sequence[Column[Any]], room: int, contents: Mapping[int, int]
) -> dict[int, int]:
    """Width by index of each column that is shown in `room` cells. `contents`: the longest cell of each."""
    contents = {i: max(column.wide, contents[i]) for i, column in enumerate(columns)}
    wants = {
        i: 0
        if column.quiet and not contents[i]
        else max(cell_len(column.label), min(contents[i], _MOST if column.grow else _UNGROWN))
        for i, column in enumerate(columns)
    }
    widths = {
        i: min(wants[i], column.least) if column.grow else wants[i]
        for i, column in enumerate(columns)
        if wants[i]
    }
    # What says nothing goes first, then what can be spared, until what matters most has room.
    top = max(column.grow for column in columns)
    needs = {
        i: min(wants[i], _FIRST) if top and columns[i].grow == top else widths[i] for i in widths
    }
    while sum(needs[i] + 2 * PADDING for i in widths) > room:
        out = max(widths, key=lambda i: (not contents[i], columns[i].spare, i))
        if contents[out] and not columns[out].spare:
            break
        del widths[out]
    left = room - sum(widths.values()) - 2 * PADDING * len(widths)
    growing = sorted((i for i in widths if columns[i].grow), key=lambda i: -columns[i].grow)
    for most in (_FIRST, _MOST):
        for i in growing:
            part = max(0, min(min(wants[i], most) - widths[i], left))
            widths[i] += part
            left -= part
    grow(widths, {i: columns[i].grow for i in growing}, max(0, left))
    return widths


class ListRows(GridSource, Generic[Row]):
    """The rows as a grid's source; a row's cells are made when it is drawn."""

    def __init__(self, rows: Sequence[Row], columns: Sequence[Column[Row]]) -> None:
        self._rows, self._columns = rows, columns

    def __len__(self) -> int:
        return len(self._rows)

    def cells(self, row: int) -> Sequence[Cell]:
        return [column.get(self._rows[row]) for column in self._columns]

    def longest(self, column: int) -> int:
        """Cells of what a column says, over all rows."""
        said = {plain(each) for each in map(self._columns[column].get, self._rows)}
        return max(map(cell_len, said), default=0)


class ListGrid(ListTable):
    """The lines of a `ListView`."""

    DEFAULT_CSS = """
    ListGrid {
        & > .grid--cursor { background: $background; text-style: none; }
        &:focus > .grid--cursor { background: $cursor; text-style: $cursor-style; }
    }
    """

    def __init__(self, declared: Sequence[Column[Any]], *, marking: bool) -> None:
        self.declared = self._heads = tuple(declared)
        super().__init__(self._made(), marking=marking)

    def show_order(self, by: int | None, *, down: bool) -> None:
        """Mark the column that the rows are sorted by."""
        mark = "▼" if down else "▲"
        self._heads = tuple(
            replace(column, title=f"{mark} {column.label}".rstrip(), raw=True)
            if i == by
            else column
            for i, column in enumerate(self.declared)
        )
        self.set_columns(self._made())

    def left_out(self, row: int) -> list[tuple[str, str]]:
        """Title and text of the cells of a row that are cut or not shown."""
        widths, cells = self._laid_out().widths, self.source.cells(row)
        said = [flat(plain(cell), 1_000) for cell in cells]
        return [
            (self.declared[i].label, text)
            for i, text in enumerate(said)
            if cell_len(text) > widths.get(i, 0)
        ]

    def is_silent(self, column: int) -> bool:
        """Whether it is not there because it says nothing."""
        return self.declared[column].quiet and column not in self._laid_out().widths

    @property
    def cuts(self) -> bool:
        """Whether any row is likely to be cut."""
        widths, wanted = self._laid_out().widths, self._wanted or {}
        return any(wanted[i] > widths.get(i, 0) for i in wanted)

    def fit(self, room: int) -> dict[int, int]:
        if self._wanted is None:
            self._wanted = measured(self.source, self.columns)
            for i, head in enumerate(self._heads):
                if head.quiet and not self._wanted.get(i) and isinstance(self.source, ListRows):
                    self._wanted[i] = min(_MOST, self.source.longest(i))
        return widths_of(self._heads, room, self._wanted)

    def _made(self) -> list[GridColumn]:
        return [
            GridColumn(
                head.label, head.least, right=head.right, tail=head.tail, raw=True, most=_MOST
            )
            for head in self._heads
        ]
