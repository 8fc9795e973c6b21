"""All comments on a task that this person may read, with their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.widgets import Footer, Static

from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.state.review_threads import counted
from cuecard.tui.widgets.empty import EmptyState
from cuecard.tui.widgets.thread_list import ThreadList

if TYPE_CHECKING:
    from cuecard.annotate.review.comments import Thread
    from cuecard.core.review import TaskState
    from cuecard.core.tasks import Task
    from cuecard.store.workspace import Workspace


class ThreadsScreen(CuecardScreen[str | None]):
    """Dismissed with the place of the comment that was chosen, or None."""

    DEFAULT_CSS = """
    ThreadsScreen {
        #title { height: 1; background: $panel; color: $primary; text-style: bold; padding: 0 1; }
        ThreadList { height: 1fr; }
    }
    """
    BINDINGS = keys(
        Key("threads.back", "escape", "back", N_("Back"), N_("Back to the task")),
    )

    def __init__(self, task_id: str) -> None:
        super().__init__()
        self._task_id = task_id

    def compose(self) -> ComposeResult:
        yield Static("", id="title", markup=False)
        yield ThreadList()
        yield EmptyState(
            _("No comments"),
            _("What reviewers pin to elements of the task stands here once their reviews are in."),
        )
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one(EmptyState).display = False
        self.load()

    @guarded("threads")
    async def load(self) -> None:
        from cuecard.annotate.review.comments import threads_for
        from cuecard.annotate.review.protocol import protocol_of

        person, task_id = self.person, self._task_id
        protocol = protocol_of(await self.services.config())

        def fetch(ws: Workspace) -> tuple[tuple[Thread, ...], Task, frozenset[str], TaskState]:
            threads = threads_for(ws, person, task_id)
            task, authors = ws.tasks.revision(task_id).task, ws.tasks.authors(task_id)
            return threads, task, authors, ws.reviews.state(task_id)

        threads, task, authors, state = await self.services.ask(fetch)
        labels = {d.key: _(d.label) for d in protocol.dimensions(task.family)}
        title = " · ".join([_("Comments"), counted(threads), one_line(task.title)])
        self.query_one("#title", Static).update(title)
        self.query_one(EmptyState).display = not threads
        listed = self.query_one(ThreadList)
        listed.display = bool(threads)
        data = task.model_dump(mode="json")
        listed.load_threads(threads, data, me=person, authors=authors, labels=labels, state=state)

    def on_thread_list_wanted(self, event: ThreadList.Wanted) -> None:
        event.stop()
        self.dismiss(event.thread.place)

    def on_thread_list_said(self, event: ThreadList.Said) -> None:
        event.stop()
        self.say(event)

    @guarded("say")
    async def say(self, said: ThreadList.Said) -> None:
        from cuecard.annotate.review.answering import answer

        person, comment = self.person, said.thread.comment
        await self.services.ask(lambda ws: answer(ws, comment, person, said.text, turns=said.turns))
        self.load()

    def action_back(self) -> None:
        self.dismiss(None)
