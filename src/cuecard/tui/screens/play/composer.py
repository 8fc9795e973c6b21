"""Where the person types: Enter sends, Ctrl+J makes a new line."""

from __future__ import annotations

from textual.message import Message
from textual.widgets import TextArea

from cuecard.core.i18n import N_
from cuecard.tui.actions import Key, keys


class Composer(TextArea):
    """Typing is never blocked; what is typed while the agent works stays until it can be sent."""

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

    def __init__(self) -> None:
        super().__init__(soft_wrap=True, show_line_numbers=False, tab_behavior="focus")

    def action_send(self) -> None:
        self.post_message(self.Submitted())

    def action_newline(self) -> None:
        self.insert("\n")

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
