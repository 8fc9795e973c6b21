"""The tab of what reviewers say about the task: each comment is answered, settled, or gone to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Static

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.trees import Path, parse_place
from cuecard.core.i18n import _
from cuecard.tui.screens.task.pane import TaskPane
from cuecard.tui.state.review_threads import counted
from cuecard.tui.widgets.thread_list import ThreadList

if TYPE_CHECKING:
    from cuecard.annotate.review.answering import Turn
    from cuecard.annotate.review.comments import Thread
    from cuecard.core.review import TaskState
    from cuecard.core.tasks import Task
    from cuecard.store.workspace import Workspace
    from cuecard.tui.screens.task.drafting import DraftingScreen


class CommentsPane(TaskPane):
    """`show` comments; elements are found wherever they are in what is edited now."""

    EDITS = False

    DEFAULT_CSS = """
    CommentsPane {
        #open { height: 1; padding: 0 1; color: $text-muted; }
        ThreadList { height: 1fr; }
    }
    """

    class Chosen(Message):
        """The person wants to go to this place."""

        def __init__(self, path: Path) -> None:
            super().__init__()
            self.path = path

    class Said(Message):
        """The person says `text` to the comment, which `turns` it."""

        def __init__(self, thread: Thread, text: str, turns: Turn) -> None:
            super().__init__()
            self.thread = thread
            self.text = text
            self.turns: Turn = turns

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._edit: TaskEdit | None = None
        self._newest: Mapping[str, Any] = {}

    def compose(self) -> ComposeResult:
        yield Static(id="open", markup=False)
        yield ThreadList()

    @property
    def threads(self) -> ThreadList:
        return self.query_one(ThreadList)

    def load(self, edit: TaskEdit) -> None:
        """Comments are shown when they are read."""
        self._edit = edit

    def show(
        self,
        threads: Sequence[Thread],
        newest: Mapping[str, Any],
        *,
        me: str,
        authors: Collection[str],
        labels: Mapping[str, str],
        state: TaskState,
    ) -> None:
        """`newest`: the revision in which the comments' places are; see `ThreadList`."""
        self._newest = newest
        self.query_one("#open", Static).update(counted(threads))
        self.threads.load_threads(
            threads, newest, me=me, authors=authors, labels=labels, state=state
        )

    def reveal(self, path: Path) -> None:
        self.threads.focus()

    def on_thread_list_wanted(self, event: ThreadList.Wanted) -> None:
        event.stop()
        place = event.thread.place
        here = None if place is None else self._now(place)
        if here is None:
            self.notify(_("What this comment is about is gone."), markup=False)
        else:
            self.post_message(self.Chosen(parse_place(here)))

    def on_thread_list_said(self, event: ThreadList.Said) -> None:
        event.stop()
        self.post_message(self.Said(event.thread, event.text, event.turns))

    def _now(self, place: str) -> str | None:
        """Where an element of the newest revision stands in what is edited."""
        from cuecard.annotate.review.following import Following

        data = self._edit.data if self._edit is not None else self._newest
        return Following(self._newest, data).follow(place)


async def show_comments(screen: DraftingScreen, *, begin: bool = False) -> None:
    """Read the comments and tell how many are open; `begin`: open their tab if any is. Raises
    `CuecardError`.
    """
    from cuecard.annotate.review.comments import threads_for
    from cuecard.annotate.review.protocol import protocol_of

    task_id, person = screen.task_id, screen.author

    def fetch(
        ws: Workspace,
    ) -> tuple[tuple[Thread, ...], Task, frozenset[str], TaskState] | None:
        threads = threads_for(ws, person, task_id)
        if not threads:
            return None
        task, authors = ws.tasks.revision(task_id).task, ws.tasks.authors(task_id)
        return threads, task, authors, ws.reviews.state(task_id)

    found = await screen.services.ask(fetch)
    if found is None or not screen.loaded:
        return
    threads, task, authors, state = found
    open_ones = sum(thread.open for thread in threads)
    await screen.editor.show_comments(open_ones)
    if begin and open_ones and not screen.begin_at:
        await screen.editor.enter("comments")
        return  # opening the tab reads them once more
    panes = screen.query(CommentsPane)
    if panes:
        protocol = protocol_of(await screen.services.config())
        labels = {d.key: _(d.label) for d in protocol.dimensions(task.family)}
        data = task.model_dump(mode="json")
        for pane in panes:
            pane.show(threads, data, me=person, authors=authors, labels=labels, state=state)


async def say(screen: DraftingScreen, said: CommentsPane.Said) -> None:
    """Enter what the person said to a comment. Raises `CuecardError`."""
    from cuecard.annotate.review.answering import answer

    comment, person = said.thread.comment, screen.author
    await screen.services.ask(lambda ws: answer(ws, comment, person, said.text, turns=said.turns))
