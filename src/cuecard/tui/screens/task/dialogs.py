"""The editor's small dialogs: a line of text, a plain question."""

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


class Confirm(CuecardDialog[bool]):
    """A yes that must be given on purpose: the way back has the focus."""

    BINDINGS = keys(Key("confirm.yes", "y", "yes", N_("Yes"), N_("Do it")))

    def __init__(self, title: str, text: str, *, button: str) -> None:
        super().__init__()
        self._title, self._text, self._button = title, text, button

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog", can_focus=False) as box:
            box.border_title = Text(self._title)
            yield PlainText(self._text)
            with Horizontal(classes="buttons"):
                yield Button(_("Cancel"), id="no")
                yield Button(self._button, variant="warning", id="yes")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one("#no", Button).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_yes(self) -> None:
        self.dismiss(True)
