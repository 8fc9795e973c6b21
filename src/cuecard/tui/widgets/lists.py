"""Lists: tables whose columns share the width, lists opened by Enter, and check boxes."""

from collections.abc import Sequence
from typing import TypeVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.binding import Binding
from textual.strip import Strip
from textual.widgets import SelectionList
from textual.widgets.option_list import OptionDoesNotExist

from cuecard.tui.grid.cells import PADDING, GridCell, GridColumn, ListSource, grow
from cuecard.tui.grid.grid import Grid
from cuecard.tui.widgets.inputs import tick

FittedColumn = GridColumn


def fitted_widths(columns: Sequence[FittedColumn], room: int) -> dict[int, int]:
    """Width by index of each column that is shown in `room` cells. Without room for all the
    growing columns shrink, to no less than 4 cells.
    """
    shown = [i for i, column in enumerate(columns) if room >= column.hidden_below]
    widths = {i: columns[i].width for i in shown}
    left = room - sum(widths.values()) - 2 * PADDING * len(shown)
    shares = {i: columns[i].grow for i in shown if columns[i].grow}
    grow(widths, shares, left)
    return {i: max(4, width) if i in shares else width for i, width in widths.items()}


class FittedTable(Grid):
    """`fill` it with rows of cells; the cursor stays where it was. A click chooses."""

    ONE_CLICK = True
    GUTTER = False

    def __init__(
        self, fitted: Sequence[FittedColumn], *, marking: bool = False, id: str | None = None
    ) -> None:
        super().__init__(fitted, marking=marking, id=id)
        self._cells: list[Sequence[str | GridCell | Text]] = []

    def fill(
        self, cells: Sequence[Sequence[str | GridCell | Text]], cursor: int | None = None
    ) -> None:
        """Show these rows, with the cursor on row `cursor` or where it was."""
        self._cells = list(cells)
        self.load(ListSource(self._cells), cursor=None if cursor is None else (cursor, 0))

    def go_to(self, row: int) -> None:
        """Put the cursor on `row`."""
        self.move_to(row)

    def update_row(self, index: int, cells: Sequence[str | GridCell | Text]) -> None:
        """Show other cells in one row."""
        if 0 <= index < len(self._cells):
            self._cells[index] = cells
            self.changed(index)

    def fit(self, room: int) -> dict[int, int]:
        return fitted_widths(self.columns, room)


_WITHOUT_ENTER = [
    binding
    for binding in Grid.BINDINGS
    if isinstance(binding, Binding) and binding.id != "grid.choose"
]


class ListTable(FittedTable, inherit_bindings=False):
    """Moves by key; a click posts `Chosen`; Enter is left to the screen, whose footer names what
    it does.
    """

    BINDINGS = [*_WITHOUT_ENTER]


class FigureTable(Grid, inherit_bindings=False):
    """A table of figures with the cursor on a cell; Enter is the screen's, as in `ListTable`."""

    BINDINGS = [*_WITHOUT_ENTER]


Value = TypeVar("Value")


class TickList(SelectionList[Value]):
    """As `SelectionList`; a box is text, in the colours of its line."""

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        try:
            selection = self.get_option_at_index(self.scroll_offset.y + y)
        except OptionDoesNotExist:
            return strip
        _left, box, _right, blank, *line = strip
        style = (blank.style or Style()) + Style(meta=box.style.meta if box.style else None)
        return Strip([Segment(tick(selection.value in self.selected), style), blank, *line])
