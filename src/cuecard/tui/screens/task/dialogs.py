"""The editor's small dialog: a line of text."""

from __future__ import annotations

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Button, Footer, Input

from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog
from cuecard.tui.screens.task.fields import LineEditor
from cuecard.tui.widgets.plain import PlainText


class AskLine(CuecardDialog[str | None]):
    """A question with a one-line answer; None when the person left it. `required`: not blank."""

    BINDINGS = keys(
        Key("ask.accept", "ctrl+s", "accept", N_("OK"), N_("Take this answer"), shown_as="^s"),
    )

    def __init__(
        self,
        title: str,
        text: str,
        *,
        button: str,
        value: str = "",
        placeholder: str = "",
        required: bool = True,
    ) -> None:
        super().__init__()
        self._title, self._text, self._button = title, text, button
        self._value, self._placeholder, self._required = value, placeholder, required

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog", can_focus=False) as box:
            box.border_title = Text(self._title)
            yield PlainText(self._text)
            yield LineEditor(self._value, placeholder=self._placeholder, id="answer")
            with Horizontal(classes="buttons"):
                yield Button(self._button, variant="primary", id="accept")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one("#answer", Input).focus()

    def on_input_submitted(self) -> None:
        self.action_accept()

    def on_button_pressed(self) -> None:
        self.action_accept()

    def action_accept(self) -> None:
        answer = self.query_one("#answer", Input).value.strip()
        if answer or not self._required:
            self.dismiss(answer)
        else:
            self.notify(_("Please write something first."), severity="warning", markup=False)
