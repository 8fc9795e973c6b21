"""Review: the queue of tasks that wait for my eyes, and the reviews that I may read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Footer, Static

from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.glyphs import FAMILY, LANGUAGE_LABEL, TASK_STATE, badge
from cuecard.tui.widgets.empty import EmptyState
from cuecard.tui.widgets.fitted_table import FittedColumn
from cuecard.tui.widgets.grid import Grid
from cuecard.tui.widgets.list_table import ListTable
from cuecard.tui.widgets.nav import NavBar

if TYPE_CHECKING:
    from cuecard.store.records import TaskSummary
    from cuecard.store.workspace import Workspace

COLUMNS = (
    FittedColumn(N_("Family"), 13),
    FittedColumn(N_("Task"), 20, grow=3),
    FittedColumn(N_("Lang"), 4, hidden_below=64),
    FittedColumn(N_("Domain"), 14, grow=1, hidden_below=100),
    FittedColumn(N_("Rev"), 3, right=True),
    FittedColumn("", 12, hidden_below=48),
)


@dataclass(frozen=True)
class Look:
    """`begun`: (task, revision) of this person's unfinished reviews."""

    queue: tuple[TaskSummary, ...] = ()
    done: tuple[TaskSummary, ...] = ()
    begun: frozenset[tuple[str, int]] = frozenset()


def look_for(workspace: Workspace, person: str) -> Look:
    """What this person can review and what they may read; runs in a thread."""
    from cuecard.annotate.review import review_queue

    return Look(
        queue=review_queue(workspace, person, datetime.now(UTC)),
        done=tuple(workspace.reviews.reviewed(person)),
        begun=frozenset(workspace.review_forms.of(person)),
    )


class ReviewQueueScreen(CuecardScreen[None]):
    """Enter opens the task under the cursor; neither list names authors."""

    CSS_PATH = "review.tcss"
    BINDINGS = keys(
        Key("review.open", "enter", "open", N_("Open"), N_("Review or read the task under the cursor")),
        Key("review.done", "d", "turn", N_("Done/to do"), N_("Reviews that are in, or tasks to review")),
        Key("review.refresh", "r", "look_again", N_("Refresh"), N_("Look again for tasks to review")),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._look = Look()
        self._reading = False

    def compose(self) -> ComposeResult:
        yield NavBar("review")
        with Vertical(id="body"):
            yield Static("", id="heading", markup=False)
            yield ListTable(COLUMNS, id="queue")
            yield EmptyState(
                _("No task waits for your review"),
                _(
                    "Every task is reviewed by two people who are not its authors and do not see"
                    " each other's review until both are in. Both must approve the same revision."
                ),
                ("2", _("Tasks: open one of yours and submit it; others will find it here")),
                ("d", _("Reviews that are in: yours, and those of your tasks")),
                ("r", _("Look again")),
                id="nothing",
            )
            yield EmptyState(
                _("No reviews to read yet"),
                _("Your own reviews are here, and those of your tasks once both are in."),
                ("d", _("Tasks to review")),
                id="none-done",
            )
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        for widget in self.query("#body > *"):
            widget.display = False

    def on_screen_resume(self) -> None:
        self.query_one(NavBar).load(self.person, self.services.url)
        self.look()

    @property
    def _tasks(self) -> tuple[TaskSummary, ...]:
        return self._look.done if self._reading else self._look.queue

    @guarded("review")
    async def look(self) -> None:
        person = self.person
        self._look = await self.services.ask(lambda ws: look_for(ws, person))
        self._show()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self._tasks) if action == "open" else True

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self.action_open()

    def action_open(self) -> None:
        from cuecard.tui.screens.review_task import ReviewTaskScreen

        row = self.query_one(ListTable).cursor_row
        if row < len(self._tasks):
            self.app.push_screen(ReviewTaskScreen(self._tasks[row].id))

    def action_turn(self) -> None:
        self._reading = not self._reading
        self._show(cursor=0)

    def action_look_again(self) -> None:
        self.look()

    def _show(self, cursor: int | None = None) -> None:
        tasks, table, heading = (
            self._tasks,
            self.query_one(ListTable),
            self.query_one("#heading", Static),
        )
        table.display = heading.display = bool(tasks)
        self.query_one("#nothing").display = not tasks and not self._reading
        self.query_one("#none-done").display = not tasks and self._reading
        heading.update(
            _("Reviews that are in: yours, and those of your tasks")
            if self._reading
            else _("Tasks to review, blind to their authors and to other reviewers")
        )
        table.fill([self._cells(task) for task in tasks], cursor=cursor)
        if tasks:
            table.focus()
        self.refresh_bindings()

    def _cells(self, task: TaskSummary) -> tuple[str | Text, ...]:
        colours = self.app.theme_variables
        begun = not self._reading and (task.id, task.revision) in self._look.begun
        return (
            badge(FAMILY, task.family, colours),
            task.title,
            LANGUAGE_LABEL[task.language],
            task.domain,
            str(task.revision),
            badge(TASK_STATE, task.state, colours)
            if self._reading
            else _("begun")
            if begun
            else "",
        )
