"""What every tab of the editor can do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Protocol, runtime_checkable

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.message import Message

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.trees import Path
from cuecard.annotate.authoring.validity import Problem
from cuecard.tui.screens.task.form import Form
from cuecard.tui.screens.task.specs import FieldSpec
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.grid import Grid

_LIST_KEYS = ("up", "down", "home", "end")


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
    """`load` shows an edit, `noticed` hears of each change in it, `reveal` goes to a place.

    `EDITS`: whether the task is changed by keys inside the pane; else going in is still reading.
    """

    EDITS: ClassVar[bool] = True

    class PlaceWanted(Message):
        """The person wants to go to this place, on whatever tab it is."""

        def __init__(self, path: Path) -> None:
            super().__init__()
            self.path = path

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

    def found(self, problems: Sequence[Problem]) -> None:
        """These are the task's problems as of a moment ago."""

    def locate(self, path: Path) -> None:
        """Show the thing that holds `path`, without taking the focus there."""

    def reveal(self, path: Path) -> None:
        """Go to where `path` is edited."""

    def browse(self, key: str) -> None:
        """A key that moves about was pressed while the pane is read from outside: the list follows the
        arrows; the text beside it, or the list where it is alone, goes by pages.
        """
        shown = [each for each in self.query("*") if each.is_on_screen]
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
