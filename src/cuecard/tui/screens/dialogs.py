"""General dialogs: for a text, for one line, for confirmation, and the list of keys."""

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import ActiveBinding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Button, Input, Static, TextArea

from cuecard.core.i18n import N_, _
from cuecard.core.text import for_display, one_line
from cuecard.tui.actions import Key, KeyBar, keys
from cuecard.tui.app import CuecardDialog
from cuecard.tui.widgets.inputs import LineEditor
from cuecard.tui.widgets.text import PlainText


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
        yield KeyBar()

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
    """Asks for an explicit yes: the button that goes back has the focus, and Escape presses it."""

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
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#no", Button).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(event.button.id == "yes")

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)


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
        yield KeyBar()

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


_EVERYWHERE = ("go.", "app.", "screen.")


class HelpDialog(CuecardDialog[None]):
    """Takes the active bindings of the screen it was called from."""

    DEFAULT_CSS = """
    HelpDialog .group { height: 1; color: $primary; text-style: bold; }
    HelpDialog .keys { height: auto; margin-bottom: 1; }
    """
    BINDINGS = keys(
        Key(
            "help.close", "escape,question_mark", "dismiss", N_("Close"), N_("Back"), shown_as="esc"
        ),
    )

    def __init__(self, bindings: list[ActiveBinding]) -> None:
        super().__init__()
        named = [shown for shown in bindings if shown.binding.id and shown.binding.description]
        general = [shown for shown in named if (shown.binding.id or "").startswith(_EVERYWHERE)]
        self._here = [shown for shown in named if shown not in general]
        self._general = sorted(
            general, key=lambda shown: not (shown.binding.id or "").startswith("go.")
        )

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog") as box:
            box.border_title = _("Keys that work here")
            if self._here:
                yield Static(_("On this screen"), classes="group")
                yield Static(self._table(self._here), classes="keys")
            yield Static(_("Everywhere"), classes="group")
            yield Static(self._table(self._general), classes="keys")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def _table(self, bindings: list[ActiveBinding]) -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_column(justify="right", no_wrap=True, min_width=5)
        table.add_column(no_wrap=True, min_width=12)
        table.add_column()
        for active in bindings:
            binding = active.binding
            key = Text(self.app.get_key_display(binding), style="bold")
            tip = Text("" if active.tooltip == binding.description else active.tooltip, style="dim")
            table.add_row(key, Text(binding.description), tip)
        return table
