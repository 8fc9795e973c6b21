"""What every tab of the editor can do."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.trees import Path
from cuecard.annotate.authoring.validity import Problem
from cuecard.tui.screens.task.form import Form
from cuecard.tui.screens.task.specs import FieldSpec


class TaskPane(Vertical):
    """`load` shows an edit, `noticed` hears of each change in it, `reveal` goes to a place."""

    class PlaceWanted(Message):
        """The person wants to go to this place, on whatever tab it is."""

        def __init__(self, path: Path) -> None:
            super().__init__()
            self.path = path

    def load(self, edit: TaskEdit) -> None:
        """Show the edit as it stands."""
        raise NotImplementedError

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

    def reveal(self, path: Path) -> None:
        self.query_one(Form).reveal(path[len(self._place) :])
