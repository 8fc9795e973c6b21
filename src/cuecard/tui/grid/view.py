"""The drawing of a grid: a source's rows in columns, of which only those in view are read."""

from collections.abc import Iterator, Sequence

from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from cuecard.tui.grid.cells import GridColumn, GridSource, ListSource, fitted, measured
from cuecard.tui.grid.lines import GridCursor, Layout, Lines, RowState, ScrollBar, with_selection


class GridView(ScrollView):
    """Draws a source with a cursor. `Grid` adds keys, mouse and messages."""

    # Other rows are no reason to lay out the whole screen again, unless it is as high as they are.
    virtual_size = Reactive(Size(0, 0), layout=False)
    GUTTER = True  # whether the source's marks have a cell of their own

    DEFAULT_CSS = """
    GridView {
        height: 1fr; background: $background; color: $foreground; overflow: auto auto;
        scrollbar-size: 0 0;
        & > .grid--head { background: $panel; color: $muted; }
        & > .grid--cursor { background: $cursor-blurred; color: $foreground; text-style: bold; }
        & > .grid--row { background: $cursor-blurred; }
        & > .grid--marked { background: $marked; }
        & > .grid--bar { color: $primary; }
        & > .grid--mark { color: $secondary; text-style: bold; }
        & > .grid--muted { color: $muted; }
        & > .grid--strong { text-style: bold; }
        & > .grid--good { color: $success; }
        & > .grid--warn { color: $warning; }
        & > .grid--bad { color: $error; }
        & > .grid--accent { color: $primary; }
        & > .grid--thumb { color: $scrollbar; }
        &:focus > .grid--cursor { background: $cursor; text-style: $cursor-style; }
    }
    """
    COMPONENT_CLASSES = {
        "grid--head",
        "grid--cursor",
        "grid--row",
        "grid--marked",
        "grid--bar",
        "grid--mark",
        "grid--muted",
        "grid--strong",
        "grid--good",
        "grid--warn",
        "grid--bad",
        "grid--accent",
        "grid--thumb",
    }

    def __init__(
        self,
        columns: Sequence[GridColumn],
        *,
        by_cell: bool,
        marking: bool,
        numbered: bool,
        fixed: int,
        id: str | None,
        classes: str | None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._columns = tuple(columns)
        self._by_cell = by_cell
        self._marking = marking
        self._numbered = numbered
        self._fixed = fixed
        self._source: GridSource = ListSource(())
        self._cursor = GridCursor()
        self._lines = Lines(self, marking=marking, gutter=self.GUTTER)
        self._layout_now: Layout | None = None
        self._wanted: dict[int, int] | None = None
        self._covered: tuple[int, int] | None = None
        self._dragged: dict[int, int] = {}  # widths that a person gave to columns

    @property
    def columns(self) -> Sequence[GridColumn]:
        return self._columns

    @property
    def editable_columns(self) -> list[int]:
        """Those that are shown and can be edited, from the left."""
        return [i for i in self._laid_out().widths if self._columns[i].editable]

    @property
    def source(self) -> GridSource:
        return self._source

    @property
    def count(self) -> int:
        return self._cursor.rows

    def load(self, source: GridSource, *, cursor: tuple[int, int] | None = None) -> None:
        """Show `source`, with the cursor on (row, column) `cursor` or where it was."""
        before = self._place
        self._source = source
        self._cursor.resize(len(source))
        self._wanted = None
        if cursor is not None:
            self._put(*cursor)
        self._arrange()
        if cursor is not None or self._place != before:
            self._reveal()
        self._moved(before)

    def set_columns(self, columns: Sequence[GridColumn], *, fixed: int | None = None) -> None:
        """Show other columns; the cursor's column is kept if there still is one there."""
        if len(columns) != len(self._columns):
            self._dragged.clear()
        self._columns = tuple(columns)
        self._fixed = self._fixed if fixed is None else fixed
        self._wanted = None
        self._cursor.column = max(0, min(self._cursor.column, len(columns) - 1))
        self._arrange()

    def changed(self, row: int | None = None) -> None:
        """The cells of `row`, or of any row, are other ones now; rows may have come or gone."""
        if row is not None and len(self._source) == self.count:
            if self._lines.changed(row, self._state_of(row), self._laid_out()):
                self._refresh_row(row)
            return
        before = self._place
        if len(self._source) != self.count:
            self._cursor.resize(len(self._source))
        self._arrange()
        self._moved(before)

    def cover(self, cell: tuple[int, int] | None) -> None:
        """Another widget covers this cell (None: no cell), so its text is not drawn and may change without a redraw."""
        before, self._covered = self._covered, cell
        for place in (before, cell):
            if place is not None:
                self._refresh_row(place[0])

    def cell_region(self, row: int, column: int) -> Region:
        """Where a cell is, padding excluded, from this widget's corner; empty if out of view."""
        layout, view, head = self._laid_out(), self._view, self._head
        y = row - int(self.scroll_y) + head
        span = layout.span(column, self.left)
        if span is None or not head <= y < view.height or not 0 <= row < self.count:
            return Region()
        start, end = span
        return Region(start, y, end - start, 1)

    def fit(self, room: int) -> dict[int, int]:
        """Width by index of the columns shown in `room` cells."""
        if self._wanted is None:
            self._wanted = measured(self._source, self._columns)
        return fitted(self._columns, room, self._wanted)

    def _fitted(self, room: int) -> dict[int, int]:
        return {i: self._dragged.get(i, width) for i, width in self.fit(room).items()}

    def widen(self, column: int, width: int) -> None:
        """Show a column with this many cells; where there is no room for all, they scroll sideways."""
        self._dragged[column] = max(1, width)
        self._arrange()

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines in view. They are kept as strips already, so that Textual's own cache, which is
        emptied at every scroll, is passed by where there is nothing but the lines to draw.
        """
        if self.styles.gutter or self.opacity < 1 or self.styles.tint.a:
            return super().render_lines(crop)
        background, filters = self.background_colors[1], self.get_line_filters()
        strips: list[Strip] = []
        for strip in self._strips(crop.line_range):
            if crop.x or strip.cell_length != crop.width:
                strip = strip.crop_extend(crop.x, crop.right, None)
            for line_filter in filters:
                strip = strip.apply_filter(line_filter, background)
            strips.append(strip)
        return strips

    def render_line(self, y: int) -> Strip:
        return next(self._strips(range(y, y + 1)))

    def _strips(self, lines: range) -> Iterator[Strip]:
        """Lines of the view, the head included, each as long as the view is wide."""
        layout, left, head, bar = self._laid_out(), self.left, self._head, self._bar
        selection = self.text_selection
        for y in lines:
            row = bar.top + y - head
            if y < head:
                yield self._lines.head(layout, left)
            elif row >= self.count:
                yield self._lines.blank(layout)
            else:
                strip = self._lines.row(row, self._state_of(row, left, bar), layout)
                span = selection.get_span(row) if selection else None
                yield with_selection(strip, span, self) if span else strip

    def _state_of(
        self, row: int, left: int | None = None, bar: ScrollBar | None = None
    ) -> RowState:
        cursor, bar = self._cursor, bar or self._bar
        here = row == cursor.row
        return RowState(
            cursor=here,
            column=cursor.column if here and self._by_cell else -1,
            covered=here and self._by_cell and self._covered == self._place,
            marked=row in cursor.marked,
            scroll_x=self.left if left is None else left,
            bar=bar.part(row - bar.top),
        )

    # The base class would also move scrollbars that are not there.

    def watch_scroll_x(self, old_value: float, new_value: float) -> None:
        if round(old_value) != round(new_value):
            self.refresh(self.size.region)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        if round(old_value) != round(new_value):
            self.refresh(self.size.region)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._lines.clear()
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self.count + self._head

    def on_resize(self) -> None:
        self._measure()  # it was painted in this size before it is told of it
        self._reveal()

    @property
    def _head(self) -> int:
        """Lines that the labels take: none, if there are none."""
        return int(any(column.label for column in self._columns))

    @property
    def left(self) -> int:
        """How far the columns are scrolled sideways, in cells."""
        return self._laid_out().stop(int(self.scroll_x))

    @property
    def _view(self) -> Size:
        return self.scrollable_content_region.size

    @property
    def _bar(self) -> ScrollBar:
        return ScrollBar(self.count, self._page_rows, int(self.scroll_y))

    @property
    def _page_rows(self) -> int:
        return max(1, self._view.height - self._head)

    @property
    def _place(self) -> tuple[int, int]:
        return self._cursor.row, self._cursor.column

    def _laid_out(self) -> Layout:
        # The last cell is the scrollbar's, whether it is there or not.
        room = max(0, self._view.width - 1)
        digits = max(2, len(str(self.count))) if self._numbered else 0
        now = self._layout_now
        if now is None or now.room != room or now.digits != digits:
            marks = self._marking + self.GUTTER
            now = Layout.of(
                self._fitted,
                room,
                digits=digits,
                marks=marks,
                fixed=self._fixed,
            )
            self._layout_now = now
            self._lines.load(self._source, self._columns)
        return now

    def _arrange(self) -> None:
        """Fit the columns anew and tell how large everything is."""
        self._layout_now = None
        if self._view.width:
            self._measure()
            self.refresh()

    def _measure(self) -> None:
        if not self._view.width:
            return
        layout, before = self._laid_out(), self.virtual_size
        if self._cursor.column not in layout.widths and layout.widths:
            self._cursor.column = next(iter(layout.widths))
            self.refresh()
        now = Size(self._view.width + layout.most, self.count + self._head)
        self.set_reactive(GridView.virtual_size, now)
        if before.height != now.height and self.styles.auto_dimensions:
            self.refresh(layout=True)
        # Scrollbars come and go with it now: a cursor may have to be scrolled to at once.
        self._scroll_update(now)

    def _refresh_row(self, row: int) -> None:
        y = row - int(self.scroll_y) + self._head
        if self._head <= y < self._view.height:
            self.refresh(Region(0, y, self.size.width, 1))

    def _put(self, row: int, column: int | None = None) -> None:
        self._cursor.go(row)
        if column is not None and 0 <= column < len(self._columns):
            self._cursor.column = column

    def _reveal(self) -> None:
        """Scroll the cursor into view; before there is a size it is done with the first one."""
        if self._view.height <= self._head or not self.count:
            return
        top, page, row = int(self.scroll_y), self._page_rows, self._cursor.row
        y = row if row < top else row - page + 1 if row >= top + page else top
        x = self.left
        if self._by_cell:
            x = self._laid_out().scroll_for(self._cursor.column, x)
        if (x, y) != (self.left, top):
            self.scroll_to(x=x, y=y, animate=False, immediate=True)

    def _moved(self, before: tuple[int, int]) -> None:
        """The cursor may be elsewhere than `before`."""
