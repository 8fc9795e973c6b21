"""What was found in a trial becomes a comment on its task: where it is pinned, and what it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Footer, Static, TextArea

from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog


@dataclass(frozen=True)
class ToldAuthors:
    """A comment: `place` in the task, "" for the whole of it."""

    place: str
    text: str


class TellDialog(CuecardDialog[ToldAuthors | None]):
    """Takes the places that the comment may be pinned to, with how they are called, the first one chosen; and
    the text to begin with.
    """

    DEFAULT_CSS = """
    TellDialog { align: center middle; }
    TellDialog TextArea { height: 9; margin: 1 0; }
    TellDialog Static { height: auto; }
    """
    BINDINGS = keys(
        Key("tell.send", "ctrl+s", "send", N_("Tell them"), N_("Open this comment on the task"), shown_as="^s", priority=True),
        Key("tell.place", "f2", "turn_place", N_("Other place"), N_("Pin it to a part, or to the whole task"), priority=True),
    )  # fmt: skip

    def __init__(self, places: Sequence[tuple[str, str]], text: str) -> None:
        super().__init__()
        self._places, self._text, self._at = list(places), text, 0

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Text(_("A comment for the task's authors"))
            yield Static(id="pin", markup=False)
            yield TextArea(self._text, soft_wrap=True)
            told = _(
                "It stands with the comments on this revision and names this trial, its run and agent."
            )
            yield Static(told, classes="muted", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        area.move_cursor(area.document.end)
        area.focus()
        self._show()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return len(self._places) > 1 if action == "turn_place" else True

    def action_turn_place(self) -> None:
        self._at = (self._at + 1) % len(self._places)
        self._show()

    def action_send(self) -> None:
        # The key comes here at once, what was typed before it may still wait for the field.
        self.query_one(TextArea).call_later(self._send)

    def _send(self) -> None:
        text = self.query_one(TextArea).text.strip()
        if self.is_current and text:
            self.dismiss(ToldAuthors(self._places[self._at][0], text))
        elif not text:
            self.notify(_("Say in a few words what is wrong."), severity="warning", markup=False)

    def _show(self) -> None:
        text = Text(overflow="ellipsis")
        text.append(f"{_('On')}  ", "dim")
        text.append(one_line(self._places[self._at][1], 200), "bold")
        self.query_one("#pin", Static).update(text)
