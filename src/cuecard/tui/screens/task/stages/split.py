"""Where to split a stage: the cursor goes through its line, both halves are shown."""

from __future__ import annotations

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Footer, Label, TextArea

from cuecard.annotate.authoring.stages import split_points
from cuecard.core.i18n import N_, _
from cuecard.core.text import for_display
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog
from cuecard.tui.widgets.plain import PlainText


class SplitDialog(CuecardDialog[int | None]):
    """Dismissed with the character at which the next stage's line begins."""

    DEFAULT_CSS = """
    SplitDialog TextArea { height: auto; max-height: 7; border: none; margin-bottom: 1; }
    SplitDialog Label { color: $primary; text-style: bold; }
    SplitDialog .half { padding-left: 2; }
    """
    BINDINGS = keys(
        Key("split.here", "enter", "here", N_("Split here"), N_("The next stage begins at the cursor"), priority=True),
        Key("split.next", "tab", "hop(1)", N_("Next sentence"), N_("To the start of the next sentence"), priority=True),
        Key("split.previous", "shift+tab", "hop(-1)", N_("Sentence before"), N_("To the start of the sentence before"), priority=True, show=False),
    )  # fmt: skip

    def __init__(self, line: str) -> None:
        super().__init__()
        # Only what can be displayed has places that a cursor can point at.
        self._line = line if for_display(line) == line else ""
        self._points = split_points(line)

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog", can_focus=False) as box:
            box.border_title = Text(_("Split this stage"))
            yield TextArea(self._line, read_only=True, soft_wrap=True, compact=True)
            yield Label(_("This stage says"), markup=False)
            yield PlainText(id="first", classes="half")
            yield Label(_("The next one says"), markup=False)
            yield PlainText(id="second", classes="half")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        area.focus()
        self._go(self._points[0] if self._points else len(self._line) // 2)

    def on_text_area_selection_changed(self) -> None:
        at = self._at
        self.query_one("#first", PlainText).load(self._line[:at].rstrip() or "–")
        self.query_one("#second", PlainText).load(self._line[at:].lstrip() or "–")

    def action_hop(self, by: int) -> None:
        at = self._at
        ahead = (
            [p for p in self._points if p > at] if by > 0 else [p for p in self._points if p < at]
        )
        if ahead:
            self._go(ahead[0] if by > 0 else ahead[-1])

    def action_here(self) -> None:
        at = self._at
        if self._line[:at].strip() and self._line[at:].strip():
            self.dismiss(at)
        else:
            text = _("Both stages must have something to say: move the cursor into the line.")
            self.notify(text, severity="warning", markup=False)

    @property
    def _at(self) -> int:
        area = self.query_one(TextArea)
        row, column = area.cursor_location
        rows = self._line.split("\n")
        return sum(len(text) + 1 for text in rows[:row]) + column

    def _go(self, at: int) -> None:
        before = self._line[:at]
        self.query_one(TextArea).move_cursor((before.count("\n"), at - (before.rfind("\n") + 1)))
