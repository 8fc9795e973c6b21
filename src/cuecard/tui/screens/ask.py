"""Two small dialogs: ask for a text, ask whether to go on."""

from __future__ import annotations

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Button, Footer, Static, TextArea

from cuecard.core.i18n import N_, _
from cuecard.core.text import for_display, one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog
from cuecard.tui.widgets.plain import PlainText


class TextDialog(CuecardDialog[str | None]):
    """Dismissed with the text (which may be empty), or None when left with Escape."""

    DEFAULT_CSS = """
    TextDialog { align: center middle; }
    TextDialog TextArea { height: 8; }
    TextDialog Static { height: auto; }
    """
    BINDINGS = keys(
        Key("text_dialog.accept", "ctrl+s", "accept", N_("Save"), N_("Take this text"), shown_as="^s", priority=True),
    )  # fmt: skip

    def __init__(self, title: str, text: str = "", note: str = "") -> None:
        super().__init__()
        self._title, self._text, self._note = title, text, note

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Text(one_line(self._title))  # a string would be parsed for markup
            if self._note:
                yield Static(for_display(self._note), classes="muted", markup=False)
            yield TextArea(self._text, soft_wrap=True)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        area.move_cursor(area.document.end)

    def action_accept(self) -> None:
        # The key comes here at once, what was typed before it may still wait for the field.
        self.query_one(TextArea).call_later(self._accept)

    def _accept(self) -> None:
        if self.is_current:
            self.dismiss(self.query_one(TextArea).text)


class ConfirmDialog(CuecardDialog[bool]):
    """A yes that must be given on purpose: the way back has the focus, and Escape takes it."""

    DEFAULT_CSS = """
    ConfirmDialog { align: center middle; }
    """
    BINDINGS = keys(
        Key("ask.yes", "y", "answer(True)", N_("Yes"), N_("Do it")),
        Key("ask.no", "n,escape", "answer(False)", N_("No"), N_("Leave it"), shown_as="n"),
    )

    def __init__(self, title: str, text: str, yes: str) -> None:
        super().__init__()
        self._title, self._text, self._yes = title, text, yes

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog", can_focus=False) as box:
            box.border_title = Text(one_line(self._title))  # a string would be parsed for markup
            yield PlainText(self._text)
            with Horizontal(classes="buttons"):
                yield Button(_("No"), id="no")
                yield Button(self._yes, variant="warning", id="yes")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one("#no", Button).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(event.button.id == "yes")

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)
