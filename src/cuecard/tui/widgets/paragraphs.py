"""A few paragraphs in their tones, wrapped; for panes that hold little text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.widgets import Static

from cuecard.core.text import for_display
from cuecard.tui.state.transcript import Paragraph, Tone

_VARIABLE: dict[Tone, str] = {
    "user": "secondary",
    "agent": "primary",
    "stage": "primary",
    "good": "success",
    "bad": "error",
    "muted": "muted",
}


class Paragraphs(Static):
    """`load` paragraphs; text from outside is shown as text."""

    DEFAULT_CSS = """
    Paragraphs { height: auto; width: 1fr; }
    """

    def load(self, paragraphs: Sequence[Paragraph]) -> None:
        colours = self.app.theme_variables
        text = Text()
        for index, paragraph in enumerate(paragraphs):
            style = "bold" if paragraph.tone == "strong" else ""
            style = style or colours.get(_VARIABLE.get(paragraph.tone, ""), "")
            body = for_display(paragraph.text).replace("\n", "\n" + " " * paragraph.indent)
            text.append("\n" if index else "")
            text.append(" " * paragraph.indent + body, style)
        self.update(text)
