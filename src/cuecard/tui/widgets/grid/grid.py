"""A table of any number of rows that draws only the lines in view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from textual import events
from textual.actions import SkipAction
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from cuecard.core.i18n import N_
from cuecard.tui.actions import Key, keys
from cuecard.tui.widgets.grid.columns import GridColumn, fitted, measured
from cuecard.tui.widgets.grid.cursor import GridCursor
from cuecard.tui.widgets.grid.layout import Layout
from cuecard.tui.widgets.grid.lines import Lines, Look
from cuecard.tui.widgets.grid.messages import OfCell, OfGrid
from cuecard.tui.widgets.grid.source import GridSource, ListSource

HEAD = 1


class Grid(ScrollView, can_focus=True):
    """`load` a source of rows; arrows move the cursor, Enter chooses, space marks where marking is on."""

    ALLOW_SELECT = False
    ONE_CLICK = False  # whether a click chooses at once, or only on the row that has the cursor
    GUTTER = True  # whether the source's marks have a place

    DEFAULT_CSS = """
    Grid {
        height: 1fr; background: $background; color: $foreground; overflow: auto auto;
        scrollbar-size: 1 1; scrollbar-gutter: stable;
        & > .grid--head { background: $panel; color: $muted; }
        & > .grid--cursor { background: $primary 25%; color: $foreground; text-style: bold; }
        & > .grid--row { background: $primary 10%; }
        & > .grid--marked { background: $secondary 22%; }
        & > .grid--bar { color: $primary; }
        & > .grid--mark { color: $secondary; text-style: bold; }
        & > .grid--muted { color: $muted; }
        & > .grid--strong { text-style: bold; }
        & > .grid--good { color: $success; }
        & > .grid--warn { color: $warning; }
        & > .grid--bad { color: $error; }
        & > .grid--accent { color: $primary; }
        &:focus > .grid--cursor { background: $primary 45%; }
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
    }
    BINDINGS = keys(
        Key("grid.choose", "enter", "choose", N_("Choose"), N_("Choose what is under the cursor"), show=False),
        Key("grid.mark", "space", "mark", N_("Mark"), N_("Mark this row, or take the mark away")),
        Key("grid.extend_up", "shift+up", "extend(-1)", N_("Mark up"), N_("Mark this row and the one above"), show=False),
        Key("grid.extend_down", "shift+down", "extend(1)", N_("Mark down"), N_("Mark this row and the one below"), show=False),
        Key("grid.mark_all", "ctrl+a", "mark_all", N_("Mark all"), N_("Mark all rows, or none"), show=False),
        Key("grid.unmark", "escape", "unmark", N_("Unmark"), N_("Take all marks away"), show=False),
        Key("grid.up", "up", "walk(-1)", N_("Up"), N_("To the row above"), show=False),
        Key("grid.down", "down", "walk(1)", N_("Down"), N_("To the row below"), show=False),
        Key("grid.left", "left", "step(-1)", N_("Left"), N_("To the cell on the left"), show=False),
        Key("grid.right", "right", "step(1)", N_("Right"), N_("To the cell on the right"), show=False),
        Key("grid.page_up", "pageup", "page(-1)", N_("Page up"), N_("One page up"), show=False),
        Key("grid.page_down", "pagedown", "page(1)", N_("Page down"), N_("One page down"), show=False),
        Key("grid.home", "home", "edge(-1)", N_("Start"), N_("To the first column, or the first row"), show=False),
        Key("grid.end", "end", "edge(1)", N_("End"), N_("To the last column, or the last row"), show=False),
        Key("grid.first", "ctrl+home", "jump(0)", N_("First row"), N_("To the first row"), show=False),
        Key("grid.last", "ctrl+end", "jump(-1)", N_("Last row"), N_("To the last row"), show=False),
    )  # fmt: skip

    class CursorMoved(OfCell):
        """The cursor is on another row or column, by key, mouse, `load` or `move_to`."""

    class Chosen(OfCell):
        """Enter was pressed, or the row under the cursor clicked."""

    class HeadClicked(OfGrid):
        """The head of a column was clicked."""

        def __init__(self, grid: Grid, column: int) -> None:
            super().__init__(grid)
            self.column = column

    class MarksChanged(OfGrid):
        """Other rows are marked than before."""

        def __init__(self, grid: Grid, marked: frozenset[int]) -> None:
            super().__init__(grid)
            self.marked = marked

    def __init__(
        self,
        columns: Sequence[GridColumn],
        *,
        cursor: Literal["row", "cell"] = "row",
        marking: bool = False,
        numbered: bool = False,
        fixed: int = 0,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """`fixed` columns from the left stay in view when the others scroll sideways."""
        super().__init__(id=id, classes=classes)
        self._columns = tuple(columns)
        self._by_cell = cursor == "cell"
        self._marking = marking
        self._numbered = numbered
        self._fixed = fixed
        self._source: GridSource = ListSource(())
        self._cursor = GridCursor()
        self._lines = Lines(self, marking=marking, gutter=self.GUTTER)
        self._layout_now: Layout | None = None
        self._wanted: dict[int, int] | None = None
        self._revealed = False

    @property
    def columns(self) -> Sequence[GridColumn]:
        return self._columns

    @property
    def editable_columns(self) -> list[int]:
        """Those that are shown and can be edited, from the left."""
        return [i for i in self._laid_out().widths if self._columns[i].editable]

    @property
    def marking(self) -> bool:
        return self._marking

    @property
    def source(self) -> GridSource:
        return self._source

    @property
    def count(self) -> int:
        return self._cursor.rows

    @property
    def cursor_row(self) -> int:
        """0 where there are no rows."""
        return self._cursor.row

    @property
    def cursor_column(self) -> int:
        """Index among the columns as they were given, hidden ones included."""
        return self._cursor.column

    @property
    def marked(self) -> frozenset[int]:
        return self._cursor.marked

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
        self._tell(before)

    def set_columns(self, columns: Sequence[GridColumn], *, fixed: int | None = None) -> None:
        """Show other columns; the cursor's column is kept if there still is one there."""
        self._columns = tuple(columns)
        self._fixed = self._fixed if fixed is None else fixed
        self._wanted = None
        self._cursor.column = max(0, min(self._cursor.column, len(columns) - 1))
        self._arrange()

    def changed(self, row: int | None = None) -> None:
        """The cells of `row`, or of any row, are other ones now; rows may have come or gone."""
        if row is not None and len(self._source) == self.count:
            self._lines.forget(row)
            self._refresh_row(row)
            return
        before = self._place
        if len(self._source) != self.count:
            self._cursor.resize(len(self._source))
        self._arrange()
        self._tell(before)

    def move_to(self, row: int, column: int | None = None) -> None:
        """Put the cursor there and scroll it into view."""
        before = self._place
        self._put(row, column)
        self._show_move(before)

    def mark(self, rows: Iterable[int]) -> None:
        """Mark these rows and no others."""
        before = self.marked
        self._cursor.mark(rows)
        self._tell_marks(before)

    def cell_region(self, row: int, column: int) -> Region:
        """Where a cell is, padding excluded, from this widget's corner; empty if out of view."""
        layout, view = self._laid_out(), self._view
        y = row - int(self.scroll_y) + HEAD
        span = layout.span(column, int(self.scroll_x))
        if span is None or not HEAD <= y < view.height or not 0 <= row < self.count:
            return Region()
        start, end = span
        return Region(start, y, max(0, min(end, view.width) - start), 1)

    def fit(self, room: int) -> dict[int, int]:
        """Width by index of the columns shown in `room` cells."""
        if self._wanted is None:
            self._wanted = measured(self._source, self._columns)
        return fitted(self._columns, room, self._wanted)

    # Drawing

    def render_line(self, y: int) -> Strip:
        layout, scroll_x = self._laid_out(), int(self.scroll_x)
        if y < HEAD:
            return self._lines.head(layout, scroll_x)
        row = int(self.scroll_y) + y - HEAD
        if row >= self.count:
            return Strip.blank(layout.room, self.rich_style)
        cursor = row == self._cursor.row
        column = self._cursor.column if cursor and self._by_cell else -1
        look = Look(cursor, column, row in self._cursor.marked, scroll_x)
        return self._lines.row(row, look, layout)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._lines.clear()
        self.refresh()

    def on_resize(self) -> None:
        self._arrange()
        if not self._revealed:
            self._reveal()

    @property
    def _view(self) -> Size:
        return self.scrollable_content_region.size

    @property
    def _page_rows(self) -> int:
        return max(1, self._view.height - HEAD)

    def _laid_out(self) -> Layout:
        room = self._view.width
        digits = max(2, len(str(self.count))) if self._numbered else 0
        now = self._layout_now
        if now is None or now.room != room or now.digits != digits:
            marks = self._marking + self.GUTTER
            now = Layout.of(self.fit, room, digits=digits, marks=marks, fixed=self._fixed)
            self._layout_now = now
            self._lines.clear()
        return now

    def _arrange(self) -> None:
        """Fit the columns anew and tell how large everything is."""
        self._layout_now = None
        self._lines.load(self._source, self._columns)
        if not self._view.width:
            return
        layout = self._laid_out()
        if self._cursor.column not in layout.widths and layout.widths:
            self._cursor.column = next(iter(layout.widths))
        self.virtual_size = Size(max(layout.total, 1), self.count + HEAD)
        # Scrollbars come and go with it now: a cursor may have to be scrolled to at once.
        self._scroll_update(self.virtual_size)
        self.refresh()

    def _refresh_row(self, row: int) -> None:
        y = row - int(self.scroll_y) + HEAD
        if HEAD <= y < self._view.height:
            self.refresh(Region(0, y, self.size.width, 1))

    # The cursor

    @property
    def _place(self) -> tuple[int, int]:
        return self._cursor.row, self._cursor.column

    def _put(self, row: int, column: int | None = None) -> None:
        self._cursor.go(row)
        if column is not None and 0 <= column < len(self._columns):
            self._cursor.column = column

    def _reveal(self) -> None:
        """Scroll the cursor into view; before there is a size it is done with the first one."""
        view = self._view
        self._revealed = view.height > HEAD
        if not self._revealed or not self.count:
            return
        top, page, row = int(self.scroll_y), self._page_rows, self._cursor.row
        y = row if row < top else row - page + 1 if row >= top + page else top
        x = int(self.scroll_x)
        if self._by_cell:
            x = self._laid_out().scroll_for(self._cursor.column, x)
        if (x, y) != (int(self.scroll_x), top):
            self.scroll_to(x=x, y=y, animate=False, immediate=True)

    def _show_move(self, before: tuple[int, int]) -> None:
        if self._place == before:
            self._reveal()
            return
        self._refresh_row(before[0])
        self._reveal()
        self._refresh_row(self._cursor.row)
        self._tell(before)

    def _tell(self, before: tuple[int, int]) -> None:
        if self._place != before and self.count:
            self.post_message(self.CursorMoved(self, *self._place))

    def _tell_marks(self, before: frozenset[int]) -> None:
        if before != self.marked:
            for row in before ^ self.marked:
                self._refresh_row(row)
            self.post_message(self.MarksChanged(self, self.marked))
            self.refresh_bindings()

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("mark", "extend", "mark_all"):
            return self._marking
        if action == "unmark":
            return bool(self.marked)
        return True

    def action_choose(self) -> None:
        if self.count:
            self.post_message(self.Chosen(self, *self._place))

    def action_walk(self, by: int) -> None:
        self.move_to(self._cursor.row + by)

    def action_step(self, by: int) -> None:
        """To the next column; without a cell cursor the columns scroll, if there is more of them."""
        if not self._by_cell:
            if not self.max_scroll_x:
                raise SkipAction()
            self.scroll_relative(x=8 * by, animate=False, immediate=True)
            return
        shown = list(self._laid_out().widths)
        if self._cursor.column in shown:
            at = shown.index(self._cursor.column) + by
            self.move_to(self._cursor.row, shown[max(0, min(at, len(shown) - 1))])

    def action_page(self, direction: int) -> None:
        """One page on, the cursor staying on its line of the screen."""
        by = direction * self._page_rows
        before, top = self._place, int(self.scroll_y)
        self._put(self._cursor.row + by)
        if self._place != before:
            y = max(0, min(top + by, self.max_scroll_y))
            if y != top:
                self.scroll_to(y=y, animate=False, immediate=True)
        self._show_move(before)

    def action_edge(self, direction: int) -> None:
        if not self._by_cell:
            self.action_jump(0 if direction < 0 else -1)
            return
        shown = list(self._laid_out().widths)
        if shown:
            self.move_to(self._cursor.row, shown[0 if direction < 0 else -1])

    def action_jump(self, row: int) -> None:
        self.move_to(self.count - 1 if row < 0 else row)

    def action_mark(self) -> None:
        before = self.marked
        self._cursor.toggle()
        self._tell_marks(before)

    def action_extend(self, by: int) -> None:
        before, marked = self._place, self.marked
        self._cursor.extend(by)
        self._show_move(before)
        self._tell_marks(marked)

    def action_mark_all(self) -> None:
        before = self.marked
        self._cursor.toggle_all()
        self._tell_marks(before)

    def action_unmark(self) -> None:
        self.mark(())

    # The mouse

    def on_click(self, event: events.Click) -> None:
        column = self._laid_out().column_at(event.x, int(self.scroll_x))
        if event.y < HEAD:
            if column is not None:
                self.post_message(self.HeadClicked(self, column))
            return
        row = int(self.scroll_y) + event.y - HEAD
        if row >= self.count:
            return
        again = row == self._cursor.row and (not self._by_cell or column == self._cursor.column)
        if self._marking and event.shift:
            self.action_extend(row - self._cursor.row)
        else:
            self.move_to(row, column)
            if self._marking and event.ctrl:
                self.action_mark()
            elif again or self.ONE_CLICK:
                self.action_choose()
