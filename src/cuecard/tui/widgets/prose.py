"""A long text of headings and lists in one widget."""

from __future__ import annotations

from rich.text import Text
from textual.geometry import Size
from textual.widget import Widget

from cuecard.tui.state.blocks import Line
from cuecard.tui.state.prose import ProseBlock, prose_blocks, prose_lines
from cuecard.tui.widgets.pieces import as_text


class Prose(Widget):
    """`load` Markdown, of which the plain parts are laid out (see `tui.state.prose`)."""

    DEFAULT_CSS = """
    Prose { height: auto; width: 1fr; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._blocks: list[ProseBlock] = []
        self._laid_out: tuple[int, list[Line]] = (-1, [])

    def load(self, markdown: str) -> None:
        self._blocks = prose_blocks(markdown)
        self._laid_out = (-1, [])
        self.refresh(layout=True)

    @property
    def text(self) -> str:
        """What is said, without its layout."""
        return "\n".join("".join(p.text for p in block.pieces) for block in self._blocks)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))

    def render(self) -> Text:
        variables = self.app.theme_variables
        lines = self._lines(self.content_size.width)
        return Text("\n", no_wrap=True).join(as_text(line, variables) for line in lines)

    def _lines(self, width: int) -> list[Line]:
        if self._laid_out[0] != width:
            self._laid_out = (width, prose_lines(self._blocks, width))
        return self._laid_out[1]
