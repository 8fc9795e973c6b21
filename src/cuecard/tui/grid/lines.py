"""The geometry and the drawing of a grid's lines: columns, cursor, marks and scrollbar."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from cuecard.tui.grid.cells import (
    PADDING,
    GridCell,
    GridColumn,
    GridSource,
    ListSource,
    Runs,
    add_styled,
    aligned,
)

if TYPE_CHECKING:
    from textual.widget import Widget


def with_selection(strip: Strip, span: tuple[int, int], widget: Widget) -> Strip:
    """A line of which the mouse selected these characters, -1 for its end."""
    text = Text.assemble(*((s.text, s.style or "") for s in strip), end="", no_wrap=True)
    ink = widget.screen.get_component_rich_style("screen--selection")
    # A colour of the theme for what is selected may be "transparent", of which the ground is left.
    ink = Style(bgcolor=ink.bgcolor, color=None if ink.color == ink.bgcolor else ink.color)
    text.stylize(ink, span[0], len(text) if span[1] == -1 else span[1])
    return Strip(text.render(widget.app.console), strip.cell_length)


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


class GridCursor:
    """A place in `rows` x `columns` (`column` counts those that are not shown too) and marked rows."""

    def __init__(self, rows: int = 0, row: int = 0) -> None:
        self.rows = rows
        self.row = row
        self.column = 0
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


BAR, MARK = "▌", "✓"
BLANK = " " * PADDING
NO_FRAME, FRAME = (BLANK, BLANK), ("▐", "▌")
BAR_SIGN, LESS_SIGN, MORE_SIGN = "▐", "‹", "›"
_KEPT = 250


class RowState(NamedTuple):
    """What a row's drawing depends on besides its cells and the layout."""

    cursor: bool
    column: int  # of the cell cursor; -1 for none
    covered: bool  # whether something lies over that cell
    marked: bool
    scroll_x: int
    bar: int  # the part of the scrollbar at its end


class Lines:
    """Strips of one grid. `marking` and `gutter`: whether each has a cell of its own."""

    def __init__(self, grid: Widget, *, marking: bool, gutter: bool) -> None:
        self._grid = grid
        self._marking = marking
        self._gutter = gutter
        self._source: GridSource = ListSource(())
        self._columns: Sequence[GridColumn] = ()
        self._strips: dict[int, dict[RowState, Strip]] = {}
        self._styles: dict[str, Style] = {}

    def load(self, source: GridSource, columns: Sequence[GridColumn]) -> None:
        self._source, self._columns = source, columns
        self.clear()

    def clear(self) -> None:
        self._strips.clear()
        self._styles.clear()

    def changed(self, row: int, state: RowState, layout: Layout) -> bool:
        """The cells of this row are other ones now; whether that is to be seen."""
        known = self._strips.pop(row, None)
        old = known.get(state) if known else None
        return old is None or old != self.row(row, state, layout)

    def blank(self, layout: Layout) -> Strip:
        return Strip.blank(layout.room + 1, self._style(""))

    def head(self, layout: Layout, scroll_x: int) -> Strip:
        """The labels; signs at the ends say that there are more columns there."""
        base, runs = self._style("head"), Runs()
        lead = f"{LESS_SIGN if scroll_x else '':>{layout.lead}}"
        runs.add(lead, base + self._ink("accent"), layout.lead)
        for i, width in layout.widths.items():
            text = aligned(self._columns[i].head, width, right=self._columns[i].right)
            runs.add(f"{BLANK}{text}", base, width + PADDING)
            if runs.width < layout.total:
                runs.add(BLANK, base, PADDING)
        more = MORE if layout.total - scroll_x > layout.room else NO_BAR
        return self._ended(runs, layout, scroll_x, more, base)

    def row(self, row: int, state: RowState, layout: Layout) -> Strip:
        strips = self._strips.get(row)
        if strips is None:
            if len(self._strips) >= _KEPT:
                self._strips.clear()
            strips = self._strips[row] = {}
        strip = strips.get(state)
        if strip is None:
            strip = strips[state] = self._drawn(row, state, layout)
        return strip

    def _drawn(self, row: int, state: RowState, layout: Layout) -> Strip:
        base, runs = self._style(_base_of(state)), Runs()
        self._add_lead(runs, row, state, layout, base)
        cells = self._source.cells(row)
        columns, many = self._columns, len(cells)
        for i, width in layout.widths.items():
            edges, style, outer = NO_FRAME, base, base
            if i == state.column:
                edges, style, outer = FRAME, self._style("cursor"), base + self._ink("bar")
            runs.add(edges[0], outer, PADDING)
            cell, right, tail = cells[i] if i < many else "", columns[i].right, columns[i].tail
            if state.covered and i == state.column:
                cell = ""
            if isinstance(cell, Text):
                console = self._grid.app.console
                add_styled(runs, cell, width, right=right, base=style, console=console)
            elif isinstance(cell, GridCell):
                ink = style if cell.tone == "plain" else style + self._ink(cell.tone)
                runs.add(aligned(cell.text, width, right=right, tail=tail), ink, width)
            else:
                runs.add(aligned(cell, width, right=right, tail=tail), style, width)
            if runs.width < max(layout.total, layout.room):
                runs.add(edges[1], outer, PADDING)
        return self._ended(runs, layout, state.scroll_x, state.bar, base)

    def _add_lead(self, runs: Runs, row: int, state: RowState, layout: Layout, base: Style) -> None:
        """The bar, the source's mark, the mark of marking and the number."""
        if state.cursor:
            runs.add(BAR, base + self._ink("bar"), 1)
        else:
            runs.add(" ", base, 1)
        if self._gutter:
            text, tone = self._source.gutter(row)
            runs.add(aligned(text, 1), base + self._ink(tone) if text else base, 1)
        if self._marking:
            if state.marked:
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


def _base_of(state: RowState) -> str:
    if state.cursor and state.column < 0:
        return "cursor"
    if state.marked:
        return "marked"
    return "row" if state.cursor else ""
