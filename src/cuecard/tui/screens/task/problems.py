"""The tab of what is wrong with the task; Enter goes to the place."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.message import Message

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.trees import Path, parse_place
from cuecard.annotate.authoring.validity import Problem
from cuecard.core.i18n import N_, _
from cuecard.tui.screens.task.pane import TaskPane
from cuecard.tui.widgets.empty import EmptyState
from cuecard.tui.widgets.fitted_table import FittedColumn, FittedTable
from cuecard.tui.widgets.grid import Grid
from cuecard.tui.widgets.plain import PlainText

MARK = {"error": "✗", "warning": "!"}


class ProblemsPane(TaskPane):
    """`show` what was found; the one under the cursor stands below in full."""

    class Chosen(Message):
        """The person wants to go to this place."""

        def __init__(self, path: Path) -> None:
            super().__init__()
            self.path = path

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._problems: Sequence[Problem] = ()

    def compose(self) -> ComposeResult:
        columns = (
            FittedColumn("", 1),
            FittedColumn(N_("Place"), 16, grow=2),
            FittedColumn(N_("Problem"), 20, grow=3),
        )
        yield FittedTable(columns)
        yield PlainText(id="problem")
        yield EmptyState(
            _("Nothing is wrong here"),
            _("Fields are checked while you type; what the linter finds in a complete task too."),
        )

    @property
    def table(self) -> FittedTable:
        return self.query_one(FittedTable)

    def load(self, edit: TaskEdit) -> None:
        """Problems are shown when they are found."""

    def show(self, problems: Sequence[Problem]) -> None:
        self._problems = problems
        self.table.fill([(MARK[p.severity], p.place or "–", p.reason) for p in problems])
        self.table.display = self.query_one("#problem").display = bool(problems)
        self.query_one(EmptyState).display = not problems
        self._explain()

    def reveal(self, path: Path) -> None:
        self.table.focus()

    def on_grid_cursor_moved(self, event: Grid.CursorMoved) -> None:
        event.stop()
        self._explain()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        if event.row < len(self._problems):
            self.post_message(self.Chosen(parse_place(self._problems[event.row].place)))

    def _explain(self) -> None:
        if 0 <= self.table.cursor_row < len(self._problems):
            problem = self._problems[self.table.cursor_row]
            text = "\n".join(filter(None, (problem.place, problem.reason, problem.hint)))
            self.query_one("#problem", PlainText).load(text)
