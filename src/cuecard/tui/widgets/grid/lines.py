"""The lines of a grid as strips, each drawn once per look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from cuecard.core.i18n import _
from cuecard.tui.widgets.grid.bar import MORE, NO_BAR, THUMB
from cuecard.tui.widgets.grid.columns import PADDING, GridColumn
from cuecard.tui.widgets.grid.drawing import Runs, add_styled, aligned
from cuecard.tui.widgets.grid.layout import Layout
from cuecard.tui.widgets.grid.source import GridCell, GridSource, ListSource

if TYPE_CHECKING:
    from cuecard.tui.widgets.grid.view import GridView

BAR, MARK = "▌", "✓"
BLANK = " " * PADDING
NO_FRAME, FRAME = (BLANK, BLANK), ("▐", "▌")
BAR_SIGN, LESS_SIGN, MORE_SIGN = "▐", "‹", "›"
_KEPT = 250


class Look(NamedTuple):
    """What a row's strip depends on besides its cells and the layout."""

    cursor: bool
    column: int  # of the cell cursor; -1 for none
    covered: bool  # whether something lies over that cell
    marked: bool
    scroll_x: int
    bar: int  # the part of the scrollbar at its end


class Lines:
    """Strips of one grid. `marking` and `gutter`: whether each has a cell of its own."""

    def __init__(self, grid: GridView, *, marking: bool, gutter: bool) -> None:
        self._grid = grid
        self._marking = marking
        self._gutter = gutter
        self._source: GridSource = ListSource(())
        self._columns: Sequence[GridColumn] = ()
        self._strips: dict[int, dict[Look, Strip]] = {}
        self._styles: dict[str, Style] = {}

    def load(self, source: GridSource, columns: Sequence[GridColumn]) -> None:
        self._source, self._columns = source, columns
        self.clear()

    def clear(self) -> None:
        self._strips.clear()
        self._styles.clear()

    def changed(self, row: int, look: Look, layout: Layout) -> bool:
        """The cells of this row are other ones now; whether that is to be seen."""
        known = self._strips.pop(row, None)
        old = known.get(look) if known else None
        return old is None or old != self.row(row, look, layout)

    def blank(self, layout: Layout) -> Strip:
        return Strip.blank(layout.room + 1, self._style(""))

    def head(self, layout: Layout, scroll_x: int) -> Strip:
        """The labels; signs at the ends say that there are more columns there."""
        base, runs = self._style("head"), Runs()
        lead = f"{LESS_SIGN if scroll_x else '':>{layout.lead}}"
        runs.add(lead, base + self._ink("accent"), layout.lead)
        for i, width in layout.widths.items():
            column = self._columns[i]
            label = column.label if column.raw else _(column.label)
            text = aligned(label, width, right=column.right)
            runs.add(f"{BLANK}{text}", base, width + PADDING)
            if runs.width < layout.total:
                runs.add(BLANK, base, PADDING)
        more = MORE if layout.total - scroll_x > layout.room else NO_BAR
        return self._ended(runs, layout, scroll_x, more, base)

    def row(self, row: int, look: Look, layout: Layout) -> Strip:
        strips = self._strips.get(row)
        if strips is None:
            if len(self._strips) >= _KEPT:
                self._strips.clear()
            strips = self._strips[row] = {}
        strip = strips.get(look)
        if strip is None:
            strip = strips[look] = self._drawn(row, look, layout)
        return strip

    def _drawn(self, row: int, look: Look, layout: Layout) -> Strip:
        base, runs = self._style(_base_of(look)), Runs()
        self._add_lead(runs, row, look, layout, base)
        cells = self._source.cells(row)
        columns, many = self._columns, len(cells)
        for i, width in layout.widths.items():
            edges, style, outer = NO_FRAME, base, base
            if i == look.column:
                edges, style, outer = FRAME, self._style("cursor"), base + self._ink("bar")
            runs.add(edges[0], outer, PADDING)
            cell, right = cells[i] if i < many else "", columns[i].right
            if look.covered and i == look.column:
                cell = ""
            if isinstance(cell, Text):
                console = self._grid.app.console
                add_styled(runs, cell, width, right=right, base=style, console=console)
            elif isinstance(cell, GridCell):
                ink = style if cell.tone == "plain" else style + self._ink(cell.tone)
                runs.add(aligned(cell.text, width, right=right), ink, width)
            else:
                runs.add(aligned(cell, width, right=right), style, width)
            if runs.width < max(layout.total, layout.room):
                runs.add(edges[1], outer, PADDING)
        return self._ended(runs, layout, look.scroll_x, look.bar, base)

    def _add_lead(self, runs: Runs, row: int, look: Look, layout: Layout, base: Style) -> None:
        """The bar, the source's mark, the mark of marking and the number."""
        if look.cursor:
            runs.add(BAR, base + self._ink("bar"), 1)
        else:
            runs.add(" ", base, 1)
        if self._gutter:
            text, tone = self._source.gutter(row)
            runs.add(aligned(text, 1), base + self._ink(tone) if text else base, 1)
        if self._marking:
            if look.marked:
                runs.add(MARK, base + self._ink("mark"), 1)
            else:
                runs.add(" ", base, 1)
        if layout.digits:
            number = f"{row + 1:>{layout.digits}}{BLANK}"
            runs.add(number, base + self._ink("muted"), layout.digits + PADDING)

    def _ended(self, runs: Runs, layout: Layout, scroll_x: int, bar: int, base: Style) -> Strip:
        """What of a whole line is in view, and the scrollbar."""
        if runs.width > layout.room:
            line = runs.strip()
            if scroll_x:
                rest = line.crop(layout.pinned + scroll_x, layout.room + scroll_x)
                line = Strip.join([line.crop(0, layout.pinned), rest])
            runs = Runs.of(line.crop(0, layout.room))
        left = layout.room - runs.width
        runs.add(" " * left, base, left)
        if bar == THUMB:
            runs.add(BAR_SIGN, base + self._ink("thumb"), 1)
        elif bar == MORE:
            runs.add(MORE_SIGN, base + self._ink("accent"), 1)
        else:
            runs.add(" ", base, 1)
        return runs.strip()

    def _style(self, name: str) -> Style:
        """The whole style of a component; of the grid itself without a name."""
        style = self._styles.get(name)
        if style is None:
            grid = self._grid
            style = grid.get_component_rich_style(f"grid--{name}") if name else grid.rich_style
            self._styles[name] = style
        return style

    def _ink(self, name: str) -> Style:
        """What a component adds to another style."""
        if name == "plain":
            return Style.null()
        return self._grid.get_component_rich_style(f"grid--{name}", partial=True)


def _base_of(look: Look) -> str:
    if look.cursor and look.column < 0:
        return "cursor"
    if look.marked:
        return "marked"
    return "row" if look.cursor else ""
