"""Cells as segments: one line each, cut or padded to the cell's width, in cells of the terminal."""

from __future__ import annotations

from collections.abc import Callable

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from cuecard.core.text import one_line
from cuecard.tui.widgets.grid.source import GridCell, Tone

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
    return one_line(text, limit + 1)


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


def cell_segments(
    cell: str | GridCell | Text,
    width: int,
    *,
    right: bool,
    base: Style,
    ink: Callable[[Tone], Style],
    styled: Callable[[Text], list[Segment]],
) -> list[Segment]:
    """One cell, `width` cells wide. `ink` gives a tone's style, `styled` draws a styled text."""
    if isinstance(cell, Text):
        shown = cell.copy()
        shown.no_wrap = True
        shown.truncate(max(width, 0), overflow="ellipsis")
        drawn = [
            Segment(run if run.isprintable() else one_line(run), base + (style or Style.null()))
            for run, style, _control in styled(shown)
        ]
        blank = Segment(" " * max(width - sum(cell_len(run.text) for run in drawn), 0), base)
        return [blank, *drawn] if right else [*drawn, blank]
    if isinstance(cell, GridCell):
        return [Segment(aligned(cell.text, width, right=right), base + ink(cell.tone))]
    return [Segment(aligned(cell, width, right=right), base)]
