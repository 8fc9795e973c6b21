"""Lists: columns are declared, rows have a key, and cursor, marks, sorting, filter and refresh come with it.

`ListView` is a widget for screens, panes and dialogs; `list_screens` has whole screens around one. See docs/lists.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Generic, TypeVar

from rich.cells import cell_len
from rich.text import Text
from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Input

from cuecard.core.i18n import N_, NP_, _, headed, ngettext
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.drawing import Vertical
from cuecard.tui.grid import Grid, GridCell, GridColumn, GridSource
from cuecard.tui.grid.cells import PADDING, flat, grow, measured, order_of, plain, plainly
from cuecard.tui.present.keyboard import hint
from cuecard.tui.widgets.inputs import ListTable
from cuecard.tui.widgets.text import ChangingText

Row = TypeVar("Row")
Cell = str | GridCell | Text

_MOST = 200
_FIRST = 40
"""Cells that every column gets in its turn before one gets more."""
_UNGROWN = 24
"""Cells that a column which does not grow takes at most."""
_TOLD = 3
"""Lines of the status line at most."""


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


class _Rows(GridSource, Generic[Row]):
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
                if head.quiet and not self._wanted.get(i) and isinstance(self.source, _Rows):
                    self._wanted[i] = min(_MOST, self.source.longest(i))
        return widths_of(self._heads, room, self._wanted)

    def _made(self) -> list[GridColumn]:
        return [
            GridColumn(
                head.label, head.least, right=head.right, tail=head.tail, raw=True, most=_MOST
            )
            for head in self._heads
        ]


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
            grid.load(_Rows(self._rows, self.columns), cursor=(max(at, 0), 0))
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
