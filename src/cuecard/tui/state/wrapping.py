"""Lines of a given width in terminal cells, from text that may hold anything."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len

from cuecard.core.text import for_display

_WIDE = (
    "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff60\uffe0-\uffe6"
)
_CLOSE = "，。；：！？、）》〉」』】〕”’…"
_OPEN = "（《〈「『【〔“‘"
# What may not be torn: blanks, one Han character with the punctuation that clings to it, a word.
_PIECES = re.compile(rf"\s+|[{_OPEN}]*[{_WIDE}][{_CLOSE}]*|[^\s{_WIDE}]+")


def wrap(text: str, width: int) -> list[str]:
    """`text` cleaned for display, as lines of at most `width` cells (at least 2); never empty.

    Latin text breaks at blanks, Chinese between characters but not before closing or after
    opening punctuation; what does not fit on a line of its own is cut. Blanks at the start of a
    line of the text are kept, blanks at a break are not.
    """
    width = max(width, 2)
    return [line for part in for_display(text).split("\n") for line in _fold(part, width)]


def _fold(text: str, width: int) -> Iterator[str]:
    if len(text) <= width and text.isascii():
        yield text.rstrip()
        return
    line, used = "", 0
    for piece in _PIECES.findall(text):
        cells = _cells(piece)
        if used + cells <= width and len(line) + len(piece) <= 4 * width:
            line, used = line + piece, used + cells
            continue
        if piece.isspace():
            yield line.rstrip()
            line, used = "", 0
            continue
        if line.strip():
            yield line.rstrip()
            line, used = "", 0
        for cut in _cut(piece, width):
            if line:
                yield line
            line, used = cut, _cells(cut)
    if line.strip() or not text.strip():
        yield line.rstrip()


def _cells(piece: str) -> int:
    """Cells that `piece` takes at most: a variation selector may widen what it follows."""
    return len(piece) if piece.isascii() else cell_len(piece) + piece.count("\ufe0f")


def _cut(piece: str, width: int) -> Iterator[str]:
    """Runs of characters that fit; marks of no width count too, so that no line grows without end."""
    if _cells(piece) <= width and len(piece) <= 4 * width:
        yield piece
        return
    start, used = 0, 0
    for index, char in enumerate(piece):
        cells = _cells(char)
        if index > start and (used + cells > width or index - start >= 4 * width):
            yield piece[start:index]
            start, used = index, 0
        used += cells
    yield piece[start:]
