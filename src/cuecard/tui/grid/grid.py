"""A table of any number of rows with keys, mouse, marks and messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from textual import events
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip

from cuecard.core.i18n import N_
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.grid.cells import PADDING, GridColumn
from cuecard.tui.grid.view import GridView


class OfGrid(Message):
    def __init__(self, grid: Grid) -> None:
        super().__init__()
        self.grid = grid

    @property
    def control(self) -> Grid:
        return self.grid


class OfCell(OfGrid):
    """A message about a cell; `row` and `column` count from 0, hidden columns included."""

    def __init__(self, grid: Grid, row: int, column: int) -> None:
        super().__init__(grid)
        self.row = row
        self.column = column


class Grid(GridView, can_focus=True):
    """`load` a source of rows; arrows move the cursor, Enter chooses, space marks where marking is on."""

    BINDINGS = keys(
        Key("grid.choose", Means.OPEN, "choose", N_("Choose"), N_("Choose what is under the cursor"), show=False),
        Key("grid.mark", Means.MARK, "mark", N_("Mark"), N_("Mark this row, or take the mark away")),
        Key("grid.extend_up", Means.EXTEND_UP, "extend(-1)", N_("Mark up"), N_("Mark this row and the one above"), show=False),
        Key("grid.extend_down", Means.EXTEND_DOWN, "extend(1)", N_("Mark down"), N_("Mark this row and the one below"), show=False),
        Key("grid.mark_all", Means.MARK_ALL, "mark_all", N_("Mark all"), N_("Mark all rows, or none"), show=False),
        Key("grid.unmark", Means.UP_ONE, "unmark", N_("Unmark"), N_("Take all marks away"), show=False),
        Key("grid.up", Means.UP, "walk(-1)", N_("Up"), N_("To the row above"), show=False),
        Key("grid.down", Means.DOWN, "walk(1)", N_("Down"), N_("To the row below"), show=False),
        Key("grid.left", Means.LEFT, "step(-1)", N_("Left"), N_("To the cell on the left"), show=False),
        Key("grid.right", Means.RIGHT, "step(1)", N_("Right"), N_("To the cell on the right"), show=False),
        Key("grid.page_up", Means.PAGE_UP, "page(-1)", N_("Page up"), N_("One page up"), show=False),
        Key("grid.page_down", Means.PAGE_DOWN, "page(1)", N_("Page down"), N_("One page down"), show=False),
        Key("grid.home", Means.START, "edge(-1)", N_("Start"), N_("To the first column, or the first row"), show=False),
        Key("grid.end", Means.END, "edge(1)", N_("End"), N_("To the last column, or the last row"), show=False),
        Key("grid.first", Means.FIRST, "jump(0)", N_("First row"), N_("To the first row"), show=False),
        Key("grid.last", Means.LAST, "jump(-1)", N_("Last row"), N_("To the last row"), show=False),
    )  # fmt: skip

    class CursorMoved(OfCell):
        """The cursor is on another row or column, by key, mouse, `load` or `move_to`."""

    class Chosen(OfCell):
        """Enter was pressed, or a row clicked twice."""

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
        super().__init__(
            columns,
            by_cell=cursor == "cell",
            marking=marking,
            numbered=numbered,
            fixed=fixed,
            id=id,
            classes=classes,
        )
        self._dragging = False
        self._edge: int | None = None
        self._widened = False
        self._pressed: tuple[int, int | None] | None = None

    @property
    def marking(self) -> bool:
        return self._marking

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

    def _show_move(self, before: tuple[int, int]) -> None:
        if self._place == before:
            self._reveal()
            return
        self._refresh_row(before[0])
        self._reveal()
        self._refresh_row(self._cursor.row)
        self._moved(before)

    def _moved(self, before: tuple[int, int]) -> None:
        if self._place != before and self.count:
            self.post_message(self.CursorMoved(self, *self._place))

    def _tell_marks(self, before: frozenset[int]) -> None:
        if before != self.marked:
            for row in before ^ self.marked:
                self._refresh_row(row)
            self.post_message(self.MarksChanged(self, self.marked))
            self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("mark", "extend", "mark_all"):
            return self._marking
        if action == "unmark":
            return bool(self.marked)
        if action == "step":
            return self._by_cell or self.max_scroll_x > 0
        return True

    def action_choose(self) -> None:
        if self.count:
            self.post_message(self.Chosen(self, *self._place))

    def action_walk(self, by: int) -> None:
        self.move_to(self._cursor.row + by)

    def action_step(self, by: int) -> None:
        """To the next column; without a cell cursor the columns scroll, if there is more of them."""
        if not self._by_cell:
            to = self._laid_out().stop_beyond(self.left, by)
            self.scroll_to(x=to, animate=False, immediate=True)
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

    def on_click(self, event: events.Click) -> None:
        event.prevent_default()  # which a second time selects all text
        # What is let go elsewhere than it was pressed is dragged, not clicked.
        if self._on_bar(event.x) or self._widened or self._place_at(event) != self._pressed:
            self._widened = False
            return
        column = self._laid_out().column_at(event.x, self.left)
        if event.y < self._head:
            if column is not None:
                self.post_message(self.HeadClicked(self, column))
            return
        row = int(self.scroll_y) + event.y - self._head
        if row >= self.count:
            return
        if self._marking and event.shift:
            self.action_extend(row - self._cursor.row)
        else:
            self.move_to(row, column)
            if self._marking and event.ctrl:
                self.action_mark()
            elif event.chain > 1:
                self.action_choose()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._pressed = self._place_at(event)
        if self._on_bar(event.x):
            self._dragging = True
            self.capture_mouse()
            self._drag(event.y)
            event.stop()
        elif event.y < self._head and (edge := self._edge_at(event.x)) is not None:
            self._edge = edge
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragging:
            self._drag(event.y)
            event.stop()
        elif self._edge is not None:
            span = self._laid_out().span(self._edge, self.left)
            if span is not None and event.x != span[1]:
                self._widened = True
                self.widen(self._edge, event.x - span[0])
            event.stop()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self._edge is not None:
            self._edge = None
            self.release_mouse()
        if self._dragging:
            self._dragging = False
            self.release_mouse()
            event.stop()

    @property
    def allow_select(self) -> bool:
        """Text is selected in rows: heads and the scrollbar are dragged."""
        at = self.app.mouse_position - self.region.offset
        return super().allow_select and at.y >= self._head and not self._on_bar(at.x)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """What is drawn of the rows that the mouse went over; of what it began or ended outside of, no more than is in view."""
        top = int(self.scroll_y)
        first = selection.start.y if selection.start else top
        last = selection.end.y if selection.end else top + self._page_rows - 1
        layout, lines = self._laid_out(), list[str]()
        for row in range(max(0, first), min(last + 1, self.count)):
            start, end = selection.get_span(row) or (0, 0)
            text = self._lines.row(row, self._state_of(row), layout).text[:-1]
            lines.append(text[start : None if end == -1 else end].rstrip())
        return "\n".join(lines), "\n"

    def render_line(self, y: int) -> Strip:
        return super().render_line(y).apply_offsets(0, int(self.scroll_y) + y - self._head)

    def _place_at(self, event: events.MouseEvent) -> tuple[int, int | None]:
        """The row under the mouse, -1 for the head, and where that matters the column."""
        row = -1 if event.y < self._head else int(self.scroll_y) + event.y - self._head
        by_column = self._by_cell or row < 0
        return row, self._laid_out().column_at(event.x, self.left) if by_column else None

    def _edge_at(self, x: int) -> int | None:
        """The column that ends at `x`."""
        layout = self._laid_out()
        spans = {column: layout.span(column, self.left) for column in layout.widths}
        ends = (column for column, span in spans.items() if span and 0 <= x - span[1] < 2 * PADDING)
        return next(ends, None)

    def _on_bar(self, x: int) -> bool:
        """Whether the scrollbar is at `x`."""
        return self._bar.shown and x >= self._view.width - 1

    def _drag(self, y: int) -> None:
        self.scroll_to(y=self._bar.top_at(y - self._head), animate=False, immediate=True)
