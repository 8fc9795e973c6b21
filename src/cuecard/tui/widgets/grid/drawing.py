"""Cells as segments: one line each, cut or padded to the cell's width, in cells of the terminal."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from cuecard.core.text import one_line, storable
from cuecard.tui.widgets.grid.source import GridCell

ELLIPSIS = "…"


def plain(cell: str | GridCell | Text) -> str:
    """What a cell says."""
    if isinstance(cell, Text):
        return cell.plain
    return cell.text if isinstance(cell, GridCell) else cell


def flat(text: str, limit: int) -> str:
    """Any text as one line of at most `limit` characters and an ellipsis, without escape sequences."""
    # No more can be seen, and blanks at most fold to fewer.
    text = text[: 4 * limit + 64]
    if text.isprintable() and "  " not in text:
        text = text.strip()
        return text if len(text) <= limit else f"{text[:limit]}{ELLIPSIS}"
    return one_line(storable(text), limit + 1)


def cut(text: str, width: int) -> str:
    """`text` in at most `width` cells, the last one an ellipsis if something is missing."""
    if width <= 0:
        return ""
    text = flat(text, width)
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + ELLIPSIS if width > 1 else ELLIPSIS


def aligned(text: str, width: int, *, right: bool = False) -> str:
    """`text` in exactly `width` cells."""
    text = cut(text, width)
    blanks = " " * (width - cell_len(text))
    return blanks + text if right else text + blanks


class Runs:
    """A line under construction: texts with their styles, neighbours of one style as one."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._style = Style.null()
        self._segments: list[Segment] = []
        self.width = 0

    @classmethod
    def of(cls, strip: Strip) -> Runs:
        """Go on from `strip`."""
        runs = cls()
        runs._segments, runs.width = list(strip), strip.cell_length
        return runs

    def add(self, text: str, style: Style, width: int) -> None:
        """`text` takes `width` cells."""
        if style is not self._style:
            self._flush()
            self._style = style
        self._texts.append(text)
        self.width += width

    def strip(self) -> Strip:
        self._flush()
        return Strip(self._segments, self.width)

    def _flush(self) -> None:
        if self._texts:
            self._segments.append(Segment("".join(self._texts), self._style))
            self._texts.clear()


def add_styled(
    runs: Runs, text: Text, width: int, *, right: bool, base: Style, console: Console
) -> None:
    """A styled text in exactly `width` cells."""
    base += console.get_style(text.style, default="")
    shown = text.copy()
    shown.no_wrap = True
    shown.truncate(max(width, 0), overflow="ellipsis")
    drawn = [
        (run if run.isprintable() else one_line(storable(run)), base + (style or Style.null()))
        for run, style, _control in shown.render(console)
    ]
    left = max(width - sum(cell_len(run) for run, _style in drawn), 0)
    if right:
        runs.add(" " * left, base, left)
    for run, style in drawn:
        if run:
            runs.add(run, style, cell_len(run))
    if not right:
        runs.add(" " * left, base, left)
