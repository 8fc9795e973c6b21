"""The tabs of the editor on which a second gold is built."""

from __future__ import annotations

from textual.app import ComposeResult

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.trees import Path
from cuecard.tui.screens.task.forms_chain import CHAIN
from cuecard.tui.screens.task.pane import FormPane, TaskPane
from cuecard.tui.screens.task.panes import make_pane
from cuecard.tui.screens.task.table.pane import TablePane
from cuecard.tui.state.second_gold_brief import brief_entries
from cuecard.tui.state.task_places import TabId
from cuecard.tui.widgets.entry_list import EntryList

_ANSWER_FIELDS = (("gold", "final_answer"), ("gold", "final_aliases"))
_OF_COLUMNS = ("add_column", "remove_column", "shift_column")


class GivenBrief(TaskPane):
    """What is asked, to be read."""

    EDITS = False

    def compose(self) -> ComposeResult:
        yield EntryList(gap=True)

    def load(self, edit: TaskEdit) -> None:
        self.query_one(EntryList).load(brief_entries(edit.data))

    def reveal(self, path: Path) -> None:
        self.query_one(EntryList).focus()


class GivenColumns(TablePane):
    """Rows for columns that stand."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action not in _OF_COLUMNS and super().check_action(action, parameters)


def second_pane(tab: TabId) -> TaskPane:
    """A new pane for the tab, with the tab's id."""
    match tab:
        case "brief":
            return GivenBrief(id=tab)
        case "table":
            return GivenColumns(id=tab)
        case "chain":
            fields = tuple(field for field in CHAIN if field.path in _ANSWER_FIELDS)
            return FormPane(fields, (), id=tab)
        case _:
            return make_pane(tab)
