"""Where the person types: Enter sends, Ctrl+J makes a new line, the arrows walk through what was said."""

from __future__ import annotations

from textual import events
from textual.message import Message
from textual.widgets import TextArea

from cuecard.core.i18n import N_
from cuecard.core.text import for_display
from cuecard.tui.actions import Key, keys
from cuecard.tui.state.play_history import InputHistory

LONGEST_PASTE = 100_000
"""Characters; more than anybody says to an agent."""


class Composer(TextArea):
    """Typing is never blocked; what is typed while the agent works stays until it can be sent.

    Up on the first line and Down on the last walk through what was `said`; the unfinished draft is kept.
    """

    DEFAULT_CSS = """
    Composer { height: auto; min-height: 3; max-height: 10; padding: 0 1; }
    """
    BINDINGS = keys(
        Key("play.send", "enter", "send", N_("Send"), N_("Say this to the agent"), priority=True),
        # Ctrl+J is the one key for a new line that every terminal can send.
        Key(
            "play.newline",
            "ctrl+j,alt+enter,shift+enter",
            "newline",
            N_("New line"),
            N_("Begin a new line in the message"),
            show=False,
            priority=True,
        ),
    )

    class Submitted(Message):
        """Enter was pressed."""

    class Shortened(Message):
        """What was pasted was longer than `LONGEST_PASTE`."""

    def __init__(self, said: InputHistory) -> None:
        super().__init__(soft_wrap=True, show_line_numbers=False, tab_behavior="focus")
        self._said = said
        self._recalled: str | None = None

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert(for_display(event.text[:LONGEST_PASTE]))
        if len(event.text) > LONGEST_PASTE:
            self.post_message(self.Shortened())

    def action_send(self) -> None:
        self.post_message(self.Submitted())

    def action_newline(self) -> None:
        self.insert("\n")

    def action_cursor_up(self, select: bool = False) -> None:
        first = self.navigator.is_first_wrapped_line(self.cursor_location)
        if select or not (first or self._untouched) or not self._walk(-1):
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        last = self.navigator.is_last_wrapped_line(self.cursor_location)
        if select or not (last or self._untouched) or not self._walk(1):
            super().action_cursor_down(select)

    def put(self, text: str) -> None:
        """Insert `text` at the cursor, parted from what stands there already."""
        before = self.document.get_line(self.cursor_location[0])[: self.cursor_location[1]]
        apart = " " if before and not before[-1:].isspace() and before.isascii() else ""
        self.insert(f"{apart}{text}")
        self.focus()

    def take(self, text: str) -> None:
        """Replace everything by `text`, with the cursor at its end."""
        self.load_text(text)
        self.move_cursor(self.document.end)

    @property
    def _untouched(self) -> bool:
        """Whether an earlier message stands here as it was said."""
        return self._said.browsing and self._recalled == self.text

    def _walk(self, step: int) -> bool:
        text = self._said.walk(step, self.text)
        if text is None:
            return False
        self.take(text)
        self._recalled = text
        return True
