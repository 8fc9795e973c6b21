"""Review: the queue of tasks that wait for my eyes, and how tasks get there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import DataTable, Footer, Static

from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.glyphs import FAMILY, LANGUAGE_LABEL, badge
from cuecard.tui.widgets.empty import EmptyState
from cuecard.tui.widgets.list_table import ListTable
from cuecard.tui.widgets.nav import NavBar

if TYPE_CHECKING:
    from cuecard.store.records import TaskSummary


class ReviewQueueScreen(CuecardScreen[None]):
    """Enter opens the task under the cursor; the queue names no authors."""

    CSS_PATH = "review.tcss"
    BINDINGS = keys(
        Key("review.open", "enter", "open", N_("Review"), N_("Review the task under the cursor")),
        Key("review.refresh", "r", "look_again", N_("Refresh"), N_("Look again for tasks to review")),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._queue: tuple[TaskSummary, ...] = ()

    def compose(self) -> ComposeResult:
        yield NavBar("review")
        with Vertical(id="body"):
            yield Static("", id="heading", markup=False)
            yield ListTable(id="queue")
            yield EmptyState(
                _("No task waits for your review"),
                _(
                    "Every task is reviewed by two people who are not its authors and do not see"
                    " each other's review until both are in. Both must approve the same revision."
                ),
                ("2", _("Tasks: open one of yours and submit it; others will find it here")),
                ("r", _("Look again")),
            )
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._table.add_columns("", _("Task"), _("Language"), _("Domain"), _("Revision"))

    def on_screen_resume(self) -> None:
        self.query_one(NavBar).load(self.person, self.services.url)
        self.look()

    @property
    def _table(self) -> ListTable:
        return self.query_one("#queue", ListTable)

    @guarded("review")
    async def look(self) -> None:
        from cuecard.annotate.review import review_queue

        person = self.person
        self._queue = await self.services.ask(lambda ws: review_queue(ws, person))
        table = self._table
        row = table.cursor_row
        table.clear()
        for task in self._queue:
            table.add_row(
                badge(FAMILY, task.family, self.app.theme_variables),
                Text(one_line(task.title)),
                Text(LANGUAGE_LABEL[task.language]),
                Text(one_line(task.domain, 24)),
                Text(str(task.revision), justify="right"),
            )
        table.move_cursor(row=min(row, max(len(self._queue) - 1, 0)))
        table.display = bool(self._queue)
        self.query_one(EmptyState).display = not self._queue
        heading = _("Tasks to review, blind to their authors and to other reviewers")
        self.query_one("#heading", Static).update(heading if self._queue else "")
        if self._queue:
            table.focus()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self._queue) if action == "open" else True

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        event.stop()
        self.action_open()

    def action_open(self) -> None:
        from cuecard.tui.screens.review_task import ReviewTaskScreen

        row = self._table.cursor_row
        if row < len(self._queue):
            self.app.push_screen(ReviewTaskScreen(self._queue[row].id))

    def action_look_again(self) -> None:
        self.look()
