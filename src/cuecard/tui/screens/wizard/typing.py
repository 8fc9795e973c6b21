"""Where the person who plays the agent types: what to look up, what to reply, what to hand in, notes."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static, TextArea

from cuecard.core.i18n import N_, _
from cuecard.core.parts import ToolSpec
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.state.entries import Piece
from cuecard.tui.state.wizard_calls import hint_for
from cuecard.tui.state.wizard_hand_in import HandIn
from cuecard.tui.widgets.pieces import Lines


class SearchLine(Horizontal):
    """One line for one of the world's tools; `next_tool` takes the next one."""

    DEFAULT_CSS = """
    SearchLine {
        height: 1;
        & > Static { width: auto; padding: 0 1; color: $primary; text-style: bold; }
        & > Input { width: 1fr; background: $surface; }
        & > Input:focus { background: $primary 18%; }
    }
    """

    class Submitted(Message):
        """Enter was pressed: look `line` up with `tool`."""

        def __init__(self, tool: ToolSpec, line: str) -> None:
            super().__init__()
            self.tool = tool
            self.line = line

    def __init__(self) -> None:
        super().__init__()
        self._tools: tuple[ToolSpec, ...] = ()
        self._at = 0

    @property
    def text(self) -> str:
        return self.query_one(Input).value

    @property
    def tool(self) -> str:
        """The name of the tool in use, "" where there is none."""
        return self._tools[self._at].name if self._tools else ""

    def compose(self) -> ComposeResult:
        yield Static("", markup=False)
        yield Input(compact=True)

    def load(self, tools: tuple[ToolSpec, ...], tool: str = "", text: str = "") -> None:
        self._tools = tools
        self._at = next((i for i, spec in enumerate(tools) if spec.name == tool), 0)
        self.query_one(Input).value = text
        self.display = bool(tools)
        self._show()

    def take(self, text: str) -> None:
        self.query_one(Input).value = text

    def next_tool(self) -> None:
        if self._tools:
            self._at = (self._at + 1) % len(self._tools)
            self._show()

    def focus(self, scroll_visible: bool = True) -> SearchLine:
        self.query_one(Input).focus(scroll_visible)
        return self

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self._tools:
            self.post_message(self.Submitted(self._tools[self._at], event.value))

    def _show(self) -> None:
        if self._tools:
            self.query_one(Static).update(f"{one_line(self.tool, 20)} ▸")
            self.query_one(Input).placeholder = hint_for(self._tools[self._at])


class Words(TextArea):
    """The reply: Enter sends, Ctrl+J makes a new line."""

    DEFAULT_CSS = """
    Words { height: auto; min-height: 3; max-height: 8; padding: 0 1; }
    """
    BINDINGS = keys(
        Key("wizard.send", "enter", "send", N_("Send"), N_("Say this to the user; your turn ends"), priority=True),
        Key("wizard.newline", "ctrl+j,alt+enter,shift+enter", "newline", N_("New line"), N_("Begin a new line in the reply"), show=False, priority=True),
    )  # fmt: skip

    class Submitted(Message):
        """Enter was pressed."""

    def __init__(self) -> None:
        super().__init__(soft_wrap=True, show_line_numbers=False, tab_behavior="focus")

    def on_mount(self) -> None:
        self.placeholder = _("Your reply; Enter sends it")

    def take(self, text: str) -> None:
        """Replace everything by `text`, with the cursor at its end."""
        self.load_text(text)
        self.move_cursor(self.document.end)

    def action_send(self) -> None:
        self.post_message(self.Submitted())

    def action_newline(self) -> None:
        self.insert("\n")


class HandInPane(Vertical):
    """What is to be handed in, and what it amounts to."""

    DEFAULT_CSS = """
    HandInPane {
        height: 50%; min-height: 7;
        &.-short { height: 7; }
        & > TextArea { height: 1fr; padding: 0 1; }
        & > Lines { max-height: 4; padding: 0 1; background: $panel; }
    }
    """

    def compose(self) -> ComposeResult:
        yield TextArea(soft_wrap=False, show_line_numbers=True, tab_behavior="indent")
        yield Lines(id="handed")

    @property
    def text(self) -> str:
        return self.query_one(TextArea).text

    def ask(self, hint: str, text: str, *, short: bool) -> None:
        """`hint`: what to type; `short`: a few words will do."""
        self.set_class(short, "-short")
        area = self.query_one(TextArea)
        area.show_line_numbers = not short
        area.soft_wrap = short
        area.placeholder = hint
        area.load_text(text)
        area.move_cursor(area.document.end)

    def add(self, text: str) -> None:
        """Put `text` at the end, on lines of its own."""
        area = self.query_one(TextArea)
        area.load_text("\n".join(filter(None, (area.text.rstrip("\n"), text.strip("\n")))))
        area.move_cursor(area.document.end)

    def load(self, read: HandIn) -> None:
        """Show what its text was read as."""
        lines = [[Piece(read.told, "muted" if read.empty else "good")]]
        lines += [[Piece(f"⚠ {problem}", "bad")] for problem in read.problems[:3]]
        self.query_one(Lines).load(lines)


class Notes(TextArea):
    """The person's own notes."""

    def __init__(self) -> None:
        super().__init__(soft_wrap=True, show_line_numbers=False, tab_behavior="focus")

    def on_mount(self) -> None:
        self.placeholder = _("Your own notes. Nobody else sees them.")
