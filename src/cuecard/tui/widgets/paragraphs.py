"""A few paragraphs in their tones, wrapped; for panes that hold little text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.geometry import Size
from textual.widget import Widget

from cuecard.tui.glyphs import ink
from cuecard.tui.state.transcript import Paragraph, Tone
from cuecard.tui.state.wrapping import wrap

_VARIABLE: dict[Tone, str] = {
    "user": "secondary",
    "agent": "primary",
    "stage": "primary",
    "good": "success",
    "bad": "error",
    "muted": "muted",
}


class Paragraphs(Widget):
    """`load` paragraphs; text from outside is shown as text, indented to its last line."""

    DEFAULT_CSS = """
    Paragraphs { height: auto; width: 1fr; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._paragraphs: list[Paragraph] = []

    def load(self, paragraphs: Sequence[Paragraph]) -> None:
        self._paragraphs = list(paragraphs)
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return sum(len(_lines(paragraph, width)) for paragraph in self._paragraphs)

    def render(self) -> Text:
        colours, width = self.app.theme_variables, self.content_size.width
        lines: list[Text] = []
        for paragraph in self._paragraphs:
            strong = paragraph.tone == "strong"
            style = "bold" if strong else ink(colours, _VARIABLE.get(paragraph.tone, ""))
            lines += [Text(line, style) for line in _lines(paragraph, width)]
        return Text("\n", no_wrap=True).join(lines)


def _lines(paragraph: Paragraph, width: int) -> list[str]:
    indent = min(paragraph.indent, width // 4)
    return [" " * indent + line for line in wrap(paragraph.text, width - indent)]
