"""A transcript entry as lines of styled pieces at a width."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.tui.state.transcript import Entry, Piece, Tone
from cuecard.tui.state.wrapping import wrap

Line = tuple[Piece, ...]


def block_of(entry: Entry, *, opened: bool, width: int, gap: bool = True) -> list[Line]:
    """Head, body, the fold if `opened`, and with `gap` an empty line; without one the head's further
    lines are indented instead.
    """
    mark = ("▾ " if opened else "▸ ") if entry.fold else ""
    hang = 0 if gap else min(4, width // 4)
    first, *more = flow([Piece(mark, "muted"), *entry.head], width - hang)
    block = [first, *((Piece(" " * hang), *line) for line in more)]
    for paragraph in entry.body + (entry.fold if opened else ()):
        indent = min(paragraph.indent, width // 4)
        blanks = " " * indent
        if paragraph.pieces:
            toned = _toned_lines(paragraph.pieces, width - indent)
            block += [(Piece(blanks), *line) for line in toned]
            continue
        lines = wrap(paragraph.text, width - indent)
        block += [(Piece(blanks + line, paragraph.tone),) for line in lines]
    if gap:
        block.append(())
    return block


def _toned_lines(pieces: Sequence[Piece], width: int) -> list[Line]:
    """As `flow`, and lines of the text stay lines."""
    lines: list[Line] = []
    row: list[Piece] = []
    for piece in pieces:
        first, *more = piece.text.split("\n")
        row.append(Piece(first, piece.tone))
        for text in more:
            lines += flow(row, width)
            row = [Piece(text, piece.tone)]
    return lines + flow(row, width)


def flow(pieces: Sequence[Piece], width: int) -> list[Line]:
    """Pieces of different tones wrapped as one text."""
    tones: list[tuple[str, Tone]] = [(char, piece.tone) for piece in pieces for char in piece.text]
    at = 0
    lines: list[Line] = []
    for line in wrap("".join(char for char, _tone in tones), width):
        row: list[Piece] = []
        for char in line:
            # Only blanks are lost in wrapping, and what display cleans away.
            while at < len(tones) - 1 and tones[at][0] != char:
                at += 1
            tone: Tone = tones[at][1] if at < len(tones) else "plain"
            at += 1
            if row and row[-1].tone == tone:
                row[-1] = Piece(row[-1].text + char, tone)
            else:
                row.append(Piece(char, tone))
        lines.append(tuple(row))
    return lines
