"""Lists: columns are declared, rows have a key, and cursor, marks, sorting, filter and refresh come with it.

`ListView` is a widget for screens, panes and dialogs; `list_screens` has whole screens around one. See docs/lists.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Generic

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Input

from cuecard.core.i18n import N_, NP_, _, headed, ngettext
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.drawing import Vertical
from cuecard.tui.grid import Grid
from cuecard.tui.grid.cells import plain, plainly
from cuecard.tui.kit.columns import Column, ListGrid, ListRows, Row
from cuecard.tui.present.keyboard import hint
from cuecard.tui.widgets.text import ChangingText

_TOLD = 3
"""Lines of the status line at most."""


class ListView(Vertical, Generic[Row]):
    """`load` rows. `row` is the one under the cursor, `chosen` the marked ones or else that one.

    The last line tells how many rows are marked, and in full what of the row under the cursor is cut or left out, unless
    `tells` is false, because something else does. Marks and cursor stay with a row's `key`.
    """

    ALLOW_MAXIMIZE = True
    DEFAULT_CSS = """
    ListView { height: 1fr; }
    ListView .told { height: 1; color: $muted; padding: 0 1; }
    ListView Input { height: 1; background: $panel; padding: 0 1; border: none; }
    """
    BINDINGS = keys(
        Key("list.filter", Means.FILTER, "filter", N_("Filter"), N_("Only lines with the words that I type"), show=False),
        Key("list.clear", Means.UP_ONE, "clear", N_("All lines"), N_("Take the filter away"), show=False),
        Key("list.filters", Means.FILTERS, "filters", N_("Filters"), N_("Keep the filter that is on under a name, or choose one that was kept"), show=False),
        Key("list.sort_next", Means.SORT, "sort(1)", N_("Sort"), N_("Sort by the next column; after the last one unsorted"), show=False),
        Key("list.undo", Means.UNDO, "take_back", N_("Undo"), N_("Take back what was last done to rows of this list"), show=False),
        Key("list.turn", Means.SORT_TURN, "turn", NP_("the order of a list", "Turn"), N_("Sort the other way round"), show=False),
    )  # fmt: skip

    class OfList(Message):
        def __init__(self, view: ListView[Any]) -> None:
            super().__init__()
            self.view = view

    class Moved(OfList):
        """Another row is under the cursor, or the same one says something else."""

    class Opened(OfList):
        """The row under the cursor was clicked twice."""

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        key: Callable[[Row], Hashable],
        *,
        marking: bool = False,
        filters: bool = True,
        tells: bool = True,
        paged: bool = False,
        id: str | None = None,
    ) -> None:
        """`paged`: rows come as pages are read, which `changed` tells; they are not sorted or filtered here."""
        super().__init__(id=id)
        self.columns = tuple(columns)
        self.key = key
        self.grid = ListGrid(self.columns, marking=marking)
        self.filters, self._tells, self._paged = filters and not paged, tells, paged
        self._every: Sequence[Row] = ()
        self._rows: Sequence[Row] = ()
        self._words = ""
        self._texts: list[str] | None = None
        self._by: int | None = None
        self._down = False
        self._told = 0
        self.way_back: Callable[[], Awaitable[object]] | str = ""
        """Takes back what was last done to rows, or says how that is done; see `bulk.to_each`."""
        # Both are mounted when there is need of them: each widget makes the first frame later.
        self._input: Input | None = None
        self._line = ChangingText(classes="told", markup=False)

    def compose(self) -> ComposeResult:
        yield self.grid

    @property
    def rows(self) -> Sequence[Row]:
        """The rows that are listed, in this order."""
        return self._rows

    @property
    def every(self) -> Sequence[Row]:
        """The rows without the filter, as they were loaded."""
        return self._every

    @property
    def row(self) -> Row | None:
        """The one under the cursor."""
        at = self.grid.cursor_row
        return self._rows[at] if at < len(self._rows) else None

    @property
    def marked(self) -> list[Row]:
        return [self._rows[at] for at in sorted(self.grid.marked) if at < len(self._rows)]

    @property
    def chosen(self) -> list[Row]:
        """What an action is about: the marked rows; without any, the one under the cursor."""
        return self.marked or [row for row in (self.row,) if row is not None]

    def focus(self, scroll_visible: bool = True) -> ListView[Row]:
        self.grid.focus(scroll_visible)
        return self

    def load(self, rows: Sequence[Row], to: Hashable = None) -> None:
        """Show these rows, with the cursor on the one with the key `to` or where it was."""
        self._every, self._texts = rows, None
        self._show(to)

    def changed(self, row: int | None = None) -> None:
        """This row, or any, says something else; of a `paged` list there may be more or fewer."""
        self.grid.changed(row)
        self._moved()

    def declare(self, columns: Sequence[Column[Row]]) -> None:
        """Show the rows in other columns, as many as before."""
        self.columns = self.grid.declared = tuple(columns)
        self.grid.show_order(self._by, down=self._down)

    @property
    def narrowing(self) -> dict[str, Any]:
        """The words of the filter, the title of the column that rows are sorted by, and whether downwards."""
        sort = None if self._by is None else self.columns[self._by].title
        return {"words": self._words, "sort": sort, "down": self._down}

    def narrow(self, by: Mapping[str, Any]) -> None:
        """Filter and sort by what `narrowing` was once."""
        titles = [column.title for column in self.columns]
        sort = by.get("sort")
        self._by = titles.index(sort) if sort in titles and not self._paged else None
        self._down = self._by is not None and by.get("down") is True
        self._words = str(by.get("words") or "") if self.filters else ""
        if self._words or self._input is not None:
            self._field().value = self._words
        self.grid.show_order(self._by, down=self._down)
        self._show()
        self.refresh_bindings()

    def go_to(self, key: Hashable) -> None:
        """Put the cursor on the row with this key, if it is listed."""
        if (at := self._place_of(key)) is not None:
            self.grid.move_to(at)

    def _place_of(self, key: Hashable) -> int | None:
        at = self.grid.cursor_row
        if at < len(self._rows) and self.key(self._rows[at]) == key:
            return at
        return next((at for at, row in enumerate(self._rows) if self.key(row) == key), None)

    def _show(self, to: Hashable = None) -> None:
        """Filter and sort again."""
        row, grid = self.row, self.grid
        to = self.key(row) if to is None and row is not None and not self._paged else to
        marked = {self.key(row) for row in self.marked}
        self._rows = self._sorted(self._kept())
        at = self._place_of(to) if to is not None else None
        at = min(grid.cursor_row, len(self._rows) - 1) if at is None else at
        # ChangingText once, below: the grid's own message is of a row that may be the same.
        with self.prevent(Grid.CursorMoved):
            grid.load(ListRows(self._rows, self.columns), cursor=(max(at, 0), 0))
        if marked or grid.marked:
            grid.mark(at for at, row in enumerate(self._rows) if self.key(row) in marked)
        self._told = int(grid.cuts)
        self._moved()

    def _kept(self) -> Sequence[Row]:
        words = plainly(self._words).split()
        if not words:
            return self._every
        if self._texts is None:
            self._texts = [self._text_of(row) for row in self._every]
        texts = zip(self._every, self._texts, strict=True)
        return [row for row, text in texts if all(word in text for word in words)]

    def _text_of(self, row: Row) -> str:
        return " ".join(plainly(plain(column.get(row))) for column in self.columns)

    def _sorted(self, rows: Sequence[Row]) -> Sequence[Row]:
        if self._by is None:
            return rows
        value = self.columns[self._by].value
        valued = [(value(row), row) for row in rows]
        known = [pair for pair in valued if pair[0] is not None]
        known.sort(key=itemgetter(0), reverse=self._down)
        return [row for _value, row in known] + [row for value, row in valued if value is None]

    def on_resize(self) -> None:
        self._told = int(self.grid.cuts)
        self._tell()

    def on_grid_cursor_moved(self, event: Grid.CursorMoved) -> None:
        event.stop()
        self._moved()

    def on_grid_marks_changed(self) -> None:
        self._tell()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self.post_message(self.Opened(self))

    def on_grid_head_clicked(self, event: Grid.HeadClicked) -> None:
        event.stop()
        if not self._paged:
            self.sort_by(event.column, down=event.column == self._by and not self._down)

    def _moved(self) -> None:
        self._tell()
        self.post_message(self.Moved(self))

    def _tell(self) -> None:
        """How many are marked, and what of the row under the cursor is cut. Lines that were needed once stay, so that the list
        does not jump.
        """
        parts: list[str] = []
        if (self._tells or self.filters) and (marked := len(self.grid.marked)):
            parts.append(ngettext("{n} marked", "{n} marked", marked).format(n=f"{marked:,}"))
        if self._words:
            every = len(self._every)
            told = ngettext("{n} of {all} line", "{n} of {all} lines", every)
            parts.append(f"/ {self._words}")
            parts.append(told.format(n=f"{len(self._rows):,}", all=f"{every:,}"))
            if not self._rows:
                parts.append(hint(_("{UP_ONE} shows all again"), typing=True))
        if self._tells and self.row is not None:
            cut = self.grid.left_out(self.grid.cursor_row)
            parts += [headed(title, text) if title else text for title, text in cut]
        text, line = " · ".join(parts), self._line
        needed = -(-cell_len(text) // max(1, self.size.width - 2))
        self._told = max(self._told, min(needed, _TOLD))
        there = bool(text) or (self._tells and self._told > 0)
        if there and not line.is_attached:
            self.mount(line)
        line.display, line.styles.height = there, max(1, self._told)
        line.tell(text, layout=False)  # another layout for each step of the cursor would be seen

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "filter":
                return self.filters and bool(self._every)
            case "filters":
                from cuecard.tui.kit.saved_filters import around

                return self.grid.has_focus and (self.filters or around(self) is not None)
            case "clear":
                return bool(self._words) or (self._input is not None and self._input.has_focus)
            case "take_back":
                return bool(self.way_back)
            case "sort" | "turn":
                return not self._paged and len(self._rows) > 1 and self.grid.has_focus
            case _:
                return True

    def why_not(self, action: str) -> str:
        return (
            _("Nothing was done to rows here that can be taken back.")
            if action == "take_back"
            else ""
        )

    @guarded("undo")
    async def action_take_back(self) -> None:
        back = self.way_back
        if isinstance(back, str):
            self.notify(back, markup=False)
        else:
            self.way_back = ""
            await back()

    def _field(self) -> Input:
        """Where words are typed, not shown at first."""
        if self._input is None:
            told = _("words that must occur")
            self._input = Input(compact=True, placeholder=told, select_on_focus=False)
            self._input.display = False
            self.mount(self._input, after=self.grid)
        return self._input

    def action_filter(self) -> None:
        words = self._field()
        words.display = True
        words.focus()

    def action_filters(self) -> None:
        from cuecard.tui.kit.saved_filters import choose_filter

        choose_filter(self)

    def action_clear(self) -> None:
        if self._input is not None:
            self._input.display = False
            self._input.value = ""
        self.grid.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._words = event.value
        self._show()
        self.refresh_bindings()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        event.input.display = False
        self.grid.focus()

    def action_sort(self, by: int) -> None:
        circle = [None, *self._there()]
        at = circle.index(self._by) if self._by in circle else 0
        self.sort_by(circle[(at + by) % len(circle)])

    def action_turn(self) -> None:
        self.sort_by(self._there()[0] if self._by is None else self._by, down=not self._down)

    def _there(self) -> list[int]:
        return [at for at in range(len(self.columns)) if not self.grid.is_silent(at)]

    def sort_by(self, column: int | None, *, down: bool = False) -> None:
        """Sort by a column, or show the rows as they were loaded."""
        self._by, self._down = column, down and column is not None
        self.grid.show_order(column, down=self._down)
        self._show()
