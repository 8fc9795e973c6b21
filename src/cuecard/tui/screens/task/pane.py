"""The base of all tabs of the editor, and of tabs with a list beside a form."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from rich.text import Text
from textual.app import ComposeResult
from textual.message import Message
from textual.widget import Widget

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.task_data import Path
from cuecard.annotate.lint.codes import Finding
from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.drawing import Container, Vertical, VerticalScroll
from cuecard.tui.grid import Grid
from cuecard.tui.grid.cell_input import CellInput
from cuecard.tui.screens.task.fields import FieldSpec, Form
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.inputs import FittedColumn, FittedTable
from cuecard.tui.widgets.nav import EmptyState

_LIST_KEYS = ("up", "down", "home", "end")


@dataclass(frozen=True)
class Spot:
    """Where a list, grid or scrolled text of a tab was: its cursor (None where it has none) and how far it was scrolled."""

    row: int | None
    column: int | None
    scroll: float


@runtime_checkable
class AsksFirst(Protocol):
    """A screen whose task may be one that is not changed without a question."""

    @property
    def asks_first(self) -> bool:
        """Whether a question stands before the first change."""
        ...

    def to_change(self, then: Callable[[], object]) -> None:
        """Do `then`, which changes the task or goes where it is changed: at once, or after a yes."""
        ...


class TaskPane(Vertical):
    """The base of a tab. `load` shows an edit, `noticed` is called for each change of it, `reveal` goes to a place.

    `EDITS`: keys inside the pane change the task; otherwise entering it is still reading.
    """

    EDITS: ClassVar[bool] = True

    ahead = False
    """Whether it is made before it is asked for: its forms are empty then, and `grow` piece by piece."""

    class PlaceWanted(Message):
        """The person wants to go to this place, on whatever tab it is."""

        def __init__(self, path: Path) -> None:
            super().__init__()
            self.path = path

    async def grow(self, most: int | None = None) -> bool:
        """Make fields of a pane that was made `ahead`, at `most` so many; whether there were any."""
        for form in self.query(Form):
            if await form.grow(most) and most is not None:
                return True
        return False

    def load(self, edit: TaskEdit) -> None:
        """Show the edit as it stands."""
        raise NotImplementedError

    @property
    def writing(self) -> bool:
        """Whether keys go where they change the task."""
        return self.EDITS and self.has_focus_within

    def commit(self) -> None:
        """Write what is typed and not yet in the edit."""

    def noticed(self, path: Path) -> None:
        """Something at `path` was changed through a field."""

    def spots(self) -> Sequence[Spot]:
        """Where everything in it that has a cursor or scrolls is, for `put_back`."""
        return [
            Spot(
                each.cursor_row if isinstance(each, Grid) else each.cursor if isinstance(each, EntryList) else None,
                each.cursor_column if isinstance(each, Grid) else None,
                each.scroll_y,
            )
            for each in self._that_move()
        ]  # fmt: skip

    def put_back(self, spots: Sequence[Spot]) -> None:
        """Go where `spots` say, so far as there is still such a row."""
        moving = self._that_move()
        if len(moving) != len(spots):
            return
        for each, spot in zip(moving, spots, strict=True):
            if spot.row is not None and isinstance(each, Grid) and spot.row < each.count:
                each.move_to(spot.row, spot.column)
            elif (
                spot.row is not None
                and isinstance(each, EntryList)
                and spot.row < len(each.entries)
            ):
                each.move_to(spot.row)

        def scroll() -> None:
            for each, spot in zip(moving, spots, strict=True):
                each.scroll_to(y=spot.scroll, animate=False)

        # The rows that the cursor went to are laid out by then.
        self.call_after_refresh(scroll)

    def _that_move(self) -> list[Grid | EntryList | VerticalScroll]:
        return [
            each
            for each in self.walk_children(with_self=False)
            if isinstance(each, (Grid, EntryList, VerticalScroll))
        ]

    def found(self, problems: Sequence[Finding]) -> None:
        """These are the task's problems as of a moment ago."""

    def locate(self, path: Path) -> None:
        """Show the thing that holds `path`, without taking the focus there."""

    def reveal(self, path: Path) -> None:
        """Go to where `path` is edited."""

    def browse(self, key: str) -> None:
        """A key that moves about was pressed while the pane is read from outside: the list follows the
        arrows; the text beside it, or the list where it is alone, goes by pages.
        """
        shown = [each for each in self.walk_children(Widget) if each.is_on_screen]
        lists = [each for each in shown if isinstance(each, (Grid, EntryList))]
        texts = [each for each in shown if isinstance(each, VerticalScroll) and each.max_scroll_y]
        if lists and (key in _LIST_KEYS or not texts):
            _walk(lists[0], key)
        elif texts:
            _scroll(texts[0], key)

    def to_change(self, then: Callable[[], object]) -> None:
        """Do `then`, a change of the task, once the person means it; see `AsksFirst`."""
        screen = self.screen
        if isinstance(screen, AsksFirst):
            screen.to_change(then)
        else:
            then()

    def crumbs(self) -> Sequence[str]:
        """What Escape leaves first inside the pane."""
        return [_("cell")] if isinstance(self.screen.focused, CellInput) else []

    def step_back(self) -> bool:
        """Escape: go one level up inside the pane; False when there is none."""
        return False


class FormPane(TaskPane):
    """A tab that is one form."""

    def __init__(self, specs: Sequence[FieldSpec], place: Path, *, id: str) -> None:
        super().__init__(id=id)
        self._specs, self._place = specs, place

    def compose(self) -> ComposeResult:
        yield Form(self._specs)

    def load(self, edit: TaskEdit) -> None:
        self.query_one(Form).load(edit, self._place)

    def commit(self) -> None:
        self.query_one(Form).commit()

    def locate(self, path: Path) -> None:
        self.query_one(Form).locate(path[len(self._place) :])

    def reveal(self, path: Path) -> None:
        self.query_one(Form).reveal(path[len(self._place) :])


def _walk(rows: Grid | EntryList, key: str) -> None:
    match key:
        case "up" | "down":
            rows.action_walk(-1 if key == "up" else 1)
        case "home" | "end":
            rows.action_jump(0 if key == "home" else -1)
        case _ if isinstance(rows, Grid):
            rows.action_page(-1 if key == "pageup" else 1)
        case "pageup":
            rows.action_page_up()
        case _:
            rows.action_page_down()


def _scroll(text: VerticalScroll, key: str) -> None:
    match key:
        case "up" | "down":
            text.scroll_relative(y=-1 if key == "up" else 1, animate=False)
        case "home":
            text.scroll_home(animate=False)
        case "end":
            text.scroll_end(animate=False)
        case "pageup":
            text.scroll_page_up(animate=False)
        case _:
            text.scroll_page_down(animate=False)


@dataclass(frozen=True)
class CollectionSpec:
    """`columns` of the list; `cells` gives one line of it as plain text. `title` and `about` are
    shown where the list is empty. `beside`: the form stands beside the list even where it is narrow.
    """

    path: Path
    columns: Sequence[FittedColumn]
    cells: Callable[[TaskEdit, int], Sequence[str]]
    fields: Sequence[FieldSpec]
    blank: Callable[[], Any]
    title: str
    about: str
    beside: bool = False


class ItemList(Protocol):
    """A list of things that `Collection` stands on: one line of `cells` each, and a cursor."""

    @property
    def has_focus(self) -> Any: ...

    @property
    def count(self) -> int: ...

    @property
    def cursor_row(self) -> int: ...

    def fill(self, cells: Sequence[Sequence[str | Text]], cursor: int | None = None) -> None: ...

    def update_row(self, index: int, cells: Sequence[str | Text]) -> None: ...

    def go_to(self, row: int) -> None: ...

    def focus(self) -> object: ...


class Collection(TaskPane):
    """The keys of the list work while the list has the focus; Enter goes to the form, Escape back."""

    BINDINGS = keys(
        Key("items.add", Means.ADD, "add", N_("Add"), N_("Add one below")),
        Key("items.delete", Means.DELETE, "remove", N_("Delete"), N_("Delete this one; {UNDO} brings it back")),
        Key("items.copy", Means.DUPLICATE, "copy", N_("Copy"), N_("Add one like this below"), show=False),
        Key("items.up", Means.MOVE_UP, "shift(-1)", N_("Move"), N_("Move this one up")),
        Key("items.down", Means.MOVE_DOWN, "shift(1)", N_("Move down"), N_("Move this one down"), show=False),
    )  # fmt: skip

    DEFAULT_CSS = """
    Collection {
        .detail EmptyState { display: none; }
        &.-nothing .detail > * { display: none; }
        &.-nothing .detail > EmptyState { display: block; }
    }
    """

    def __init__(self, spec: CollectionSpec, *, id: str) -> None:
        super().__init__(id=id, classes="-beside" if spec.beside else "-stacked")
        self.spec = spec
        self._edit: TaskEdit | None = None
        self._index = -1

    def compose(self) -> ComposeResult:
        with Container(classes="collection"):
            with Vertical(classes="list"):
                yield from self.compose_list()
                yield from self.compose_below()
            with Vertical(classes="detail"):
                yield Form(self.spec.fields)
                yield from self.compose_more()
                yield EmptyState(
                    _(self.spec.title), _(self.spec.about), ("{ADD}", _("add the first one"))
                )

    def compose_list(self) -> ComposeResult:
        """The list, which `table` finds again."""
        yield FittedTable(self.spec.columns)

    def compose_below(self) -> ComposeResult:
        """What stands below the list."""
        yield from ()

    def compose_more(self) -> ComposeResult:
        """What stands below the form."""
        yield from ()

    @property
    def table(self) -> ItemList:
        return self.query_one(FittedTable)

    @property
    def form(self) -> Form:
        return self.query_one(Form)

    @property
    def edit(self) -> TaskEdit | None:
        """What is shown."""
        return self._edit

    @property
    def index(self) -> int:
        """Of the thing under the cursor; -1 where there is none."""
        return self._index

    def load(self, edit: TaskEdit) -> None:
        self.fill(edit, self._index)

    def commit(self) -> None:
        self.form.commit()

    def noticed(self, path: Path) -> None:
        depth, edit = len(self.spec.path), self._edit
        if edit is None or path[:depth] != self.spec.path or len(path) <= depth:
            return
        index = path[depth]
        if isinstance(index, int) and len(edit.items(self.spec.path)) == self.table.count:
            self.table.update_row(index, self.spec.cells(edit, index))
            if index == self._index:
                self.show_item(edit, index)

    def locate(self, path: Path) -> None:
        depth = len(self.spec.path)
        index = path[depth] if len(path) > depth else None
        if isinstance(index, int) and 0 <= index < self.table.count:
            self.table.go_to(index)
            self._go(index)

    def reveal(self, path: Path) -> None:
        self.locate(path)
        inner = path[len(self.spec.path) + 1 :]
        if inner and self._index >= 0:
            self.form.reveal(inner)
        else:
            self.table.focus()

    def crumbs(self) -> Sequence[str]:
        return [] if self.table.has_focus else [_("field")]

    def step_back(self) -> bool:
        if self.table.has_focus:
            return False
        self.table.focus()
        return True

    def show_item(self, edit: TaskEdit, index: int) -> None:
        """The thing under the cursor is another one, or changed."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "add":  # from within a field too, by the key that is none of its letters
            return self.table.has_focus or self.form.has_focus_within
        if action not in ("remove", "copy", "shift"):
            return True
        return self.table.has_focus and self._index >= 0

    def on_grid_cursor_moved(self, event: Grid.CursorMoved) -> None:
        event.stop()
        self.follow()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        if self._index >= 0:
            self.form.reveal(())

    def action_add(self) -> None:
        self._insert(self.spec.blank())
        self.form.reveal(())

    def action_copy(self) -> None:
        if self._edit is not None:
            self._insert(self._edit.items(self.spec.path)[self._index])

    def action_remove(self) -> None:
        if self._edit is not None:
            self.settle()
            ops.delete_item(self._edit, self.spec.path, self._index)
            self.fill(self._edit, self._index)

    def action_shift(self, by: int) -> None:
        edit = self._edit
        if edit is not None and 0 <= self._index + by < len(edit.items(self.spec.path)):
            self.settle()
            ops.move_item(edit, self.spec.path, self._index, self._index + by)
            self.fill(edit, self._index + by)

    def _insert(self, value: Any) -> None:
        if self._edit is not None:
            self.settle()
            ops.insert_item(self._edit, self.spec.path, self._index + 1, value)
            self.fill(self._edit, self._index + 1)

    def settle(self) -> None:
        """Places are about to shift: write what is typed, then let go of them."""
        self.form.commit()
        self.form.unload()

    def fill(self, edit: TaskEdit, index: int) -> None:
        """Show the list anew, with the cursor on `index`."""
        count = len(edit.items(self.spec.path))
        self._edit = edit
        self._index = -1
        index = min(max(index, 0), count - 1)
        self.table.fill([self.spec.cells(edit, i) for i in range(count)], cursor=max(index, 0))
        self._go(index)
        self.refresh_bindings()

    def follow(self) -> None:
        """The cursor of the list has moved."""
        self._go(self.table.cursor_row)

    def _go(self, index: int) -> None:
        edit = self._edit
        if edit is None or index == self._index >= 0:
            return
        here = 0 <= index < len(edit.items(self.spec.path))
        self._index = index if here else -1
        self.set_class(not here, "-nothing")
        if here:
            self.form.load(edit, (*self.spec.path, index))
            self.show_item(edit, index)
        else:
            self.form.unload()
