"""A long text of headings, lists and tables in one widget."""

from __future__ import annotations

from rich.text import Text
from textual.geometry import Size
from textual.widget import Widget

from cuecard.tui.state.flowing import Line
from cuecard.tui.state.markdown import markdown_lines
from cuecard.tui.widgets.pieces import style_of

_UNBROKEN = 10_000


class Prose(Widget):
    """`load` Markdown (see `tui.state.markdown`)."""

    DEFAULT_CSS = """
    Prose { height: auto; width: 1fr; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._markdown = ""
        self._laid_out: tuple[int, list[Line]] = (-1, [])

    def load(self, markdown: str) -> None:
        self._markdown = markdown
        self._laid_out = (-1, [])
        self.refresh(layout=True)

    @property
    def text(self) -> str:
        """What is said, without its layout."""
        lines = markdown_lines(self._markdown, _UNBROKEN)
        return "\n".join("".join(piece.text for piece in line) for line in lines)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))

    def render(self) -> Text:
        variables = self.app.theme_variables
        text = Text(no_wrap=True)
        for number, line in enumerate(self._lines(self.content_size.width)):
            if number:
                text.append("\n")
            for piece in line:
                text.append(piece.text, style_of(piece.tone, variables))
        return text

    def _lines(self, width: int) -> list[Line]:
        if self._laid_out[0] != width:
            self._laid_out = (width, markdown_lines(self._markdown, width))
        return self._laid_out[1]
