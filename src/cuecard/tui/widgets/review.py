"""Lists for reviews: dimensions rated by key, and comments that are answered or resolved by key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from cuecard.core.i18n import N_, NP_, _
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.present.entries import ink, wrap
from cuecard.tui.present.labels import RATING
from cuecard.tui.present.review_document import thread_entries
from cuecard.tui.screens.dialogs import TextDialog
from cuecard.tui.widgets.entry_list import EntryList

if TYPE_CHECKING:
    from cuecard.annotate.review.comments import Comments, Thread, Turn
    from cuecard.annotate.review.workflow import Dimension, Protocol
    from cuecard.core.records import Rating


_HANG = 4


class DimensionList(Widget, can_focus=True):
    """`load` dimensions and ratings; posts `Rated` when the person decides. `hints` stand behind a
    dimension, `wants` below it: what is still to be done about it.
    """

    DEFAULT_CSS = """
    DimensionList { height: auto; width: 1fr; }
    """
    BINDINGS = keys(
        Key("dimensions.pass", Means.YES, "rate('pass')", N_("Pass"), N_("This dimension passes")),
        Key("dimensions.fail", Means.NO, "rate('fail')", N_("Fail"), N_("This dimension fails; say why")),
        Key("dimensions.unsure", Means.UNSURE, "rate('cannot_judge')", N_("Unsure"), N_("I cannot judge this dimension")),
        Key("dimensions.up", Means.UP, "walk(-1)", N_("Up"), N_("To the dimension before"), show=False),
        Key("dimensions.down", Means.DOWN, "walk(1)", N_("Down"), N_("To the next dimension"), show=False),
    )  # fmt: skip
    cursor = reactive(0)

    class Rated(Message):
        """The person rated the dimension `key`."""

        def __init__(self, key: str, rating: Rating) -> None:
            super().__init__()
            self.key = key
            self.rating: Rating = rating

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._dimensions: Sequence[Dimension] = ()
        self._ratings: Mapping[str, Rating] = {}
        self._hints: Mapping[str, str] = {}
        self._wants: Mapping[str, str] = {}

    def load(
        self,
        dimensions: Sequence[Dimension],
        ratings: Mapping[str, Rating],
        *,
        hints: Mapping[str, str] | None = None,
        wants: Mapping[str, str] | None = None,
    ) -> None:
        self._dimensions = dimensions
        self._ratings = dict(ratings)
        self._hints, self._wants = dict(hints or {}), dict(wants or {})
        self.refresh(layout=True)

    def go_to(self, key: str) -> None:
        """Put the cursor on a dimension."""
        for index, dimension in enumerate(self._dimensions):
            if dimension.key == key:
                self.cursor = index

    @property
    def current(self) -> str:
        """The key of the dimension under the cursor."""
        return self._dimensions[self.cursor].key if self._dimensions else ""

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        told = self._dimensions[self.cursor : self.cursor + 1]
        extra = sum(len(wrap(_(dimension.help), width - _HANG)) for dimension in told)
        return len(self._dimensions) + extra + len(self._wants)

    def render(self) -> Text:
        colours = self.app.theme_variables
        lines: list[Text] = []
        for index, dimension in enumerate(self._dimensions):
            glyph, variable, label = RATING[self._ratings.get(dimension.key, "")]
            here = index == self.cursor and self.has_focus
            rated = f"  {_(label)}" if dimension.key in self._ratings else ""
            hint = self._hints.get(dimension.key, "")
            line = Text.assemble(
                ("▸ " if here else "  ", "bold"),
                (f"{glyph} ", ink(colours, variable)),
                (_(dimension.label), "bold" if here else ""),
                (rated, "dim"),
                (f"  {hint}" if hint else "", f"italic {ink(colours, 'muted')}".strip()),
            )
            line.truncate(self.content_size.width, overflow="ellipsis")
            lines.append(line)
            if want := self._wants.get(dimension.key):
                lines.append(Text(f"{' ' * _HANG}! {want}", ink(colours, "warning")))
            if index == self.cursor:
                told = wrap(_(dimension.help), self.content_size.width - _HANG)
                lines += [Text(" " * _HANG + part, "dim") for part in told]
        return Text("\n", no_wrap=True, overflow="ellipsis").join(lines)

    def watch_cursor(self) -> None:
        self.refresh(layout=True)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def action_walk(self, step: int) -> None:
        self.cursor = max(0, min(len(self._dimensions) - 1, self.cursor + step))

    def action_rate(self, rating: Rating) -> None:
        if not self._dimensions:
            return
        self.post_message(self.Rated(self._dimensions[self.cursor].key, rating))
        self.action_walk(1)


_TURN: dict[str, Turn] = {"answer": "", "resolve": "resolved", "reopen": "open"}


class ThreadList(EntryList):
    """`load_comments`; posts `Wanted` when the person wants to go to an element, and `Posted` when they
    have something to say.
    """

    BINDINGS = keys(
        Key("threads.go", Means.OPEN, "open", N_("Go there"), N_("To the element that the comment is about")),
        Key("threads.answer", Means.COMMENT, "say('answer')", NP_("verb", "Answer"), N_("Say something to this comment")),
        Key("threads.resolve", Means.YES, "say('resolve')", N_("Resolve"), N_("This is settled")),
        Key("threads.reopen", Means.NO, "say('reopen')", N_("Reopen"), N_("This is not settled after all; say why")),
    )  # fmt: skip

    class Wanted(Message):
        """The person wants to go to what the comment is about."""

        def __init__(self, thread: Thread) -> None:
            super().__init__()
            self.thread = thread

    class Posted(Message):
        """The person says `text` to the comment, which `turns` it."""

        def __init__(self, thread: Thread, text: str, turns: Turn) -> None:
            super().__init__()
            self.thread = thread
            self.text = text
            self.turns: Turn = turns

    def __init__(self) -> None:
        super().__init__(gap=True)
        self._comments: Comments | None = None

    def load_comments(self, comments: Comments, protocol: Protocol) -> None:
        """`protocol` names dimensions."""
        current = self.thread.comment.id if self.thread else ""
        self._comments = comments
        labels = {d.key: _(d.label) for d in protocol.dimensions(comments.task.family)}
        self.load(thread_entries(comments.threads, comments.data, comments.reader, labels))
        self.go_to(current)
        self.refresh_bindings()

    def go_to(self, comment: str) -> None:
        """Put the cursor on the comment with this id, if it is listed."""
        threads = self._comments.threads if self._comments is not None else ()
        at = [thread.comment.id for thread in threads]
        if comment in at:
            self.move_to(at.index(comment))

    @property
    def thread(self) -> Thread | None:
        """The comment under the cursor."""
        threads = self._comments.threads if self._comments is not None else ()
        return threads[self.cursor] if self.cursor < len(threads) else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "say":
            if self.thread is None or self._comments is None:
                return False
            return _TURN[str(parameters[0])] in self._comments.turns(self.thread)
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
                self.post_message(self.Posted(thread, text.strip(), turns))

        self.app.push_screen(TextDialog(title, "", note), say)
