"""A list of comments with their answers, each answered, settled or opened again by a key."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual.message import Message

from cuecard.core.i18n import N_, NP_, _
from cuecard.tui.actions import Key, keys
from cuecard.tui.screens.ask import TextDialog
from cuecard.tui.state.review_threads import thread_entries
from cuecard.tui.widgets.entry_list import EntryList

if TYPE_CHECKING:
    from cuecard.annotate.review.answering import Turn
    from cuecard.annotate.review.comments import Thread
    from cuecard.core.review import TaskState

_TURN: dict[str, Turn] = {"answer": "", "resolve": "resolved", "reopen": "open"}


class ThreadList(EntryList):
    """`load_threads`; posts `Wanted` when the person wants to go to an element, and `Said` when they
    have something to say.
    """

    BINDINGS = keys(
        Key("threads.go", "enter", "open", N_("Go there"), N_("To the element that the comment is about"), shown_as="⏎"),
        Key("threads.answer", "a", "say('answer')", NP_("verb", "Answer"), N_("Say something to this comment")),
        Key("threads.resolve", "r", "say('resolve')", N_("Resolve"), N_("This is settled")),
        Key("threads.reopen", "o", "say('reopen')", N_("Reopen"), N_("This is not settled after all; say why")),
    )  # fmt: skip

    class Wanted(Message):
        """The person wants to go to what the comment is about."""

        def __init__(self, thread: Thread) -> None:
            super().__init__()
            self.thread = thread

    class Said(Message):
        """The person says `text` to the comment, which `turns` it."""

        def __init__(self, thread: Thread, text: str, turns: Turn) -> None:
            super().__init__()
            self.thread = thread
            self.text = text
            self.turns: Turn = turns

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(gap=True, id=id)
        self._threads: Sequence[Thread] = ()
        self._authors: Collection[str] = ()
        self._state: TaskState | None = None
        self._me = ""

    def load_threads(
        self,
        threads: Sequence[Thread],
        data: Mapping[str, Any],
        *,
        me: str,
        authors: Collection[str],
        labels: Mapping[str, str],
        state: TaskState,
    ) -> None:
        """`data`: the newest revision; `authors` may settle; `labels` names dimensions; `state`: where
        the task stands.
        """
        current = self.thread.comment.id if self.thread else ""
        self._threads, self._authors, self._me = list(threads), authors, me
        self._state = state
        self.load(thread_entries(threads, data, me, labels))
        at = [thread.comment.id for thread in threads]
        if current in at:
            self.move_to(at.index(current))
        self.refresh_bindings()

    @property
    def thread(self) -> Thread | None:
        """The comment under the cursor."""
        return self._threads[self.cursor] if self.cursor < len(self._threads) else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "say":
            from cuecard.annotate.review.answering import may_turn

            if self.thread is None or self._state is None:
                return False
            turns = may_turn(self.thread, self._me, self._authors, self._state)
            return _TURN[str(parameters[0])] in turns
        if action == "open":
            return self.thread is not None
        return action != "open_all"

    def on_entry_list_cursor_moved(self, event: EntryList.CursorMoved) -> None:
        event.stop()
        self.refresh_bindings()

    def on_entry_list_chosen(self, event: EntryList.Chosen) -> None:
        event.stop()
        if self.thread is not None:
            self.post_message(self.Wanted(self.thread))

    def action_say(self, what: str) -> None:
        thread, turns = self.thread, _TURN[what]
        if thread is None:
            return
        title = {
            "answer": _("Answer the comment"),
            "resolve": _("Resolve the comment"),
            "reopen": _("Open the comment again"),
        }[what]
        note = thread.comment.text
        if what == "resolve":
            note = "\n".join([note, _("What was done may stay unsaid.")])

        def say(text: str | None) -> None:
            if text is not None and (text.strip() or turns == "resolved"):
                self.post_message(self.Said(thread, text.strip(), turns))

        self.app.push_screen(TextDialog(title, "", note), say)
