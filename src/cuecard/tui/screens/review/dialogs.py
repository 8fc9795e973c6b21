"""Dialogs of a review: writing a comment, choosing a page to open, and all comments with their answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static, TextArea

from cuecard.core.i18n import N_, _
from cuecard.core.text import for_display, one_line
from cuecard.tui.actions import Key, KeyBar, keys
from cuecard.tui.app import CuecardDialog, CuecardScreen, guarded
from cuecard.tui.present.review_document import counted
from cuecard.tui.screens.dialogs import ChoiceDialog
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.review import ThreadList


@dataclass(frozen=True)
class Pin:
    """Where a comment belongs: an element or a part of it, and the dimension it explains, if any."""

    place: str
    dimension: str = ""


@dataclass(frozen=True)
class Pinned:
    """A comment as it was left; `before`: the pin of the one that was changed, if there was one."""

    pin: Pin
    text: str
    before: Pin | None


class CommentDialog(CuecardDialog[Pinned | None]):
    """Writes the comment at `pin`; keys pin it to another of `places` or `dimensions`. An empty text
    takes a comment away. `text_at` gives the text that is pinned somewhere already.
    """

    DEFAULT_CSS = """
    CommentDialog { align: center middle; }
    CommentDialog TextArea { height: 8; }
    CommentDialog Static { height: auto; }
    """
    BINDINGS = keys(
        Key("comment.accept", "ctrl+s", "accept", N_("Keep"), N_("Keep this comment"), shown_as="^s", priority=True),
        Key("comment.place", "f2", "turn_place", N_("Other place"), N_("Pin it to a part of the element, or to the whole task"), priority=True),
        Key("comment.dimension", "f3", "turn_dimension", N_("Dimension"), N_("Which dimension it explains, or none"), priority=True),
    )  # fmt: skip

    def __init__(
        self,
        pin: Pin,
        places: Sequence[tuple[str, str]],
        dimensions: Sequence[tuple[str, str]],
        text_at: Callable[[Pin], str],
        ask: str = "",
    ) -> None:
        """`places` and `dimensions`: values with how they are called. `ask`: what is wanted."""
        super().__init__()
        self._pin = pin
        self._places, self._dimensions = list(places), [("", _("none")), *dimensions]
        self._text_at, self._ask = text_at, ask
        self._found = text_at(pin)
        self._before = pin if self._found else None

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Text(_("Comment"))
            if self._ask:
                yield Static(Text(for_display(self._ask), "bold"), markup=False)
            yield Static(id="pin", markup=False)
            yield TextArea(self._found, soft_wrap=True)
            yield Static(_("An empty text takes the comment away."), classes="muted", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        area.move_cursor(area.document.end)
        self._show()

    def action_accept(self) -> None:
        # The key comes here at once, what was typed before it may still wait for the field.
        self.query_one(TextArea).call_later(self._accept)

    def _accept(self) -> None:
        if self.is_current:
            text = self.query_one(TextArea).text
            self.dismiss(Pinned(self._pin, text, self._before))

    def action_turn_place(self) -> None:
        values = [value for value, _label in self._places]
        self._move(Pin(_after(values, self._pin.place), self._pin.dimension))

    def action_turn_dimension(self) -> None:
        values = [value for value, _label in self._dimensions]
        self._move(Pin(self._pin.place, _after(values, self._pin.dimension)))

    def _move(self, pin: Pin) -> None:
        """To another pin: what is typed goes along; where nothing is, what stands there is shown."""
        area = self.query_one(TextArea)
        untouched = area.text == self._found
        there = self._text_at(pin)
        if untouched and (there or self._before is None or not area.text.strip()):
            self._found = there
            self._before = pin if there else None
            area.text = there
            area.move_cursor(area.document.end)
        self._pin = pin
        self._show()

    def _show(self) -> None:
        places, dimensions = dict(self._places), dict(self._dimensions)
        text = Text(overflow="ellipsis")
        text.append(f"{_('On')}  ", "dim")
        text.append(one_line(places.get(self._pin.place, self._pin.place)), "bold")
        text.append(f"\n{_('Dimension')}  ", "dim")
        text.append(one_line(dimensions.get(self._pin.dimension, self._pin.dimension)), "bold")
        self.query_one("#pin", Static).update(text)


def source_dialog(urls: Sequence[str], opened: Sequence[str]) -> ChoiceDialog:
    """Which of several pages to open; those that were opened are marked."""
    options = [(url, "", f"{'✓' if url in opened else ' '} {one_line(url)}") for url in urls]
    fresh = next((url for url in urls if url not in opened), "")
    return ChoiceDialog(_("Open which page?"), "", options, first=fresh)


def _after(values: Sequence[str], value: str) -> str:
    at = values.index(value) if value in values else -1
    return values[(at + 1) % len(values)]


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
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(EmptyState).display = False
        self.load()

    @guarded("threads")
    async def load(self) -> None:
        from cuecard.annotate.review.comments import comments_for
        from cuecard.annotate.review.protocol import protocol_of

        person, task_id = self.person, self._task_id
        protocol = protocol_of(await self.services.config())
        comments = await self.services.ask(lambda ws: comments_for(ws, person, task_id))
        listed, title = self.query_one(ThreadList), _("Comments")
        listed.display = comments is not None
        self.query_one(EmptyState).display = comments is None
        if comments is not None:
            title = " · ".join([title, counted(comments.threads), one_line(comments.task.title)])
            listed.load_comments(comments, protocol)
        self.query_one("#title", Static).update(title)

    def on_thread_list_wanted(self, event: ThreadList.Wanted) -> None:
        event.stop()
        self.dismiss(event.thread.place)

    def on_thread_list_said(self, event: ThreadList.Said) -> None:
        event.stop()
        self.say(event)

    @guarded("say")
    async def say(self, said: ThreadList.Said) -> None:
        from cuecard.annotate.review.comments import answer

        person, comment = self.person, said.thread.comment
        await self.services.ask(lambda ws: answer(ws, comment, person, said.text, turns=said.turns))
        self.load()

    def action_back(self) -> None:
        self.dismiss(None)
