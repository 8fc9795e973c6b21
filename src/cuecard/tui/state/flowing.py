"""Pieces of different tones wrapped as one text."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.core.text import for_display
from cuecard.tui.state.entries import Piece, Tone
from cuecard.tui.state.wrapping import wrap

Line = tuple[Piece, ...]


def flow(pieces: Sequence[Piece], width: int) -> list[Line]:
    """The text of all pieces as lines of at most `width` cells, each in the tones that it came in."""
    clean: list[tuple[str, Tone]]
    clean = [(text, piece.tone) for piece in pieces if (text := for_display(piece.text))]
    if len({tone for _text, tone in clean}) <= 1:
        tone: Tone = clean[0][1] if clean else "plain"
        rows = wrap("".join(text for text, _tone in clean), width)
        return [(Piece(row, tone),) if row else () for row in rows]
    whole = "".join(text for text, _tone in clean)
    lines: list[Line] = []
    at, run, run_end = 0, 0, len(clean[0][0])
    for row in wrap(whole, width):
        # Only blanks are lost in wrapping.
        at = max(whole.find(row, at), at)
        end, line = at + len(row), list[Piece]()
        while at < end:
            while at >= run_end:
                run += 1
                run_end += len(clean[run][0])
            stop = min(end, run_end)
            line.append(Piece(whole[at:stop], clean[run][1]))
            at = stop
        lines.append(tuple(line))
    return lines
