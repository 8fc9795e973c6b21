"""A list of tasks with a filter, a detail pane, marks, and two actions: `app.push_screen(TaskShelf())`."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.annotate.review.workflow import retire
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.records import TaskSummary
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.list_screens import ListScreen
from cuecard.tui.present.entries import Paragraph
from cuecard.tui.present.tasks import moment
from cuecard.tui.screens.dialogs import AskLine
from cuecard.tui.widgets.nav import EmptyState


class TaskShelf(ListScreen[TaskSummary]):
    """Enter opens the task under the cursor, `d` archives the marked ones or that one."""

    MARKING = True
    NEED_ROW = ("open", "archive")
    BINDINGS = keys(
        Key("shelf.open", Means.OPEN, "open", N_("Open"), N_("Read this task")),
        Key("shelf.archive", Means.DELETE, "archive", N_("Archive"), N_("Take tasks out of use")),
        Key("shelf.back", Means.UP_ONE, "leave", N_("Back"), N_("Back")),
    )

    def columns(self) -> Sequence[Column[TaskSummary]]:
        return (
            Column(N_("Title"), lambda task: task.title, grow=2, least=16),
            Column(N_("Domain"), lambda task: task.domain, grow=1, spare=1),
            Column(N_("Rev"), lambda task: str(task.revision), right=True),
            Column(N_("When"), lambda task: moment(task.updated_at), sort=lambda t: t.updated_at),
        )

    def key(self, row: TaskSummary) -> str:
        return row.id

    async def read(self) -> Sequence[TaskSummary]:
        return await self.services.ask(lambda ws: ws.tasks.summaries())

    def empty(self) -> EmptyState:
        return EmptyState(_("No tasks yet"), _("Tasks are listed here."), ("esc", _("Back")))

    def title_words(self) -> str:
        count = len(self.view.every)
        return ngettext("{n} task", "{n} tasks", count).format(n=count)

    def detail(self, row: TaskSummary) -> Sequence[Paragraph]:
        return (Paragraph(row.title, "strong"), Paragraph(f"{row.id} · {row.author}", "muted"))

    def action_open(self) -> None:
        from cuecard.tui.screens.task.screen import TaskScreen

        if self.row is not None:
            self.app.push_screen(TaskScreen(self.row.id))

    @guarded("archive")
    async def action_archive(self) -> None:
        chosen, person = self.view.chosen, self.person
        question = AskLine(_("Archive this task?"), "", button=_("Archive"), placeholder=_("Why?"))
        if reason := await self.app.push_screen_wait(question):
            for task in chosen:
                await self.services.ask(lambda ws, id=task.id: retire(ws, id, person, reason))
            self.load()
