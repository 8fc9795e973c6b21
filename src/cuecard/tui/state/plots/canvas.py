"""A page of cells to draw on: text and marks, and finer dots (braille) below them."""

from __future__ import annotations

from typing import Literal, NamedTuple

from rich.cells import cell_len, set_cell_size

from cuecard.core.text import one_line

Ink = Literal["plain", "strong", "muted", "cursor", "s0", "s1", "s2", "s3", "s4"]
"""`s0` … are colours of series, which differ in their glyphs too; `cursor` is shown in reverse."""
SERIES: tuple[Ink, ...] = ("s0", "s1", "s2", "s3", "s4")
GLYPHS = ("●", "■", "▲", "◆", "○", "□", "△", "×", "▼", "◇", "+", "◎")
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_BRAILLE = 0x2800
_BESIDE = ""
"""Stands in the second cell of a wide character."""


class Segment(NamedTuple):
    text: str
    ink: Ink = "plain"


Line = tuple[Segment, ...]


def glyph(mark: int) -> str:
    return GLYPHS[mark % len(GLYPHS)]


def ink_of(mark: int) -> Ink:
    return SERIES[mark % len(SERIES)]


def cut(text: str, room: int) -> str:
    """One line of at most `room` cells, with an ellipsis where something is left out."""
    flat = one_line(text)
    if room <= 0:
        return ""
    if cell_len(flat) <= room:
        return flat
    return f"{set_cell_size(flat, room - 1).rstrip()}…"


def padded(text: str, room: int, *, right: bool = False) -> str:
    """`cut` and filled with blanks to exactly `room` cells."""
    kept = cut(text, room)
    blanks = " " * max(0, room - cell_len(kept))
    return f"{blanks}{kept}" if right else f"{kept}{blanks}"


class Canvas:
    """`width` x `height` cells; whatever lies outside is not drawn."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = max(0, width), max(0, height)
        self._cells: list[list[tuple[str, Ink]]] = []
        self._dots: dict[tuple[int, int], tuple[int, Ink]] = {}
        self.wipe()

    def wipe(self) -> None:
        """All blank again."""
        self._cells = [[(" ", "plain")] * self.width for _row in range(self.height)]
        self._dots = {}

    def put(self, column: int, row: int, text: str, ink: Ink = "plain") -> None:
        """Text from a cell on; wide characters take two cells and are left out where one is missing."""
        if not 0 <= row < self.height:
            return
        for char in text if text.isprintable() else one_line(text):
            wide = cell_len(char)
            if wide == 0:
                continue
            if column >= 0 and column + wide <= self.width:
                self._clear(column, row)
                self._cells[row][column] = (char, ink)
                if wide > 1:
                    self._clear(column + 1, row)
                    self._cells[row][column + 1] = (_BESIDE, ink)
            column += wide

    def free(self, column: int, row: int, width: int) -> bool:
        """Whether so many cells lie on the page and are blank."""
        return (
            0 <= row < self.height
            and column >= 0
            and column + width <= self.width
            and all(self._cells[row][at][0] == " " for at in range(column, column + width))
            and not any((at, row) in self._dots for at in range(column, column + width))
        )

    def dot(self, x: int, y: int, ink: Ink) -> None:
        """A dot, of which a cell has two across and four down; the later ink is seen."""
        column, row = x // 2, y // 4
        if 0 <= column < self.width and 0 <= row < self.height:
            before = self._dots.get((column, row), (0, ink))[0]
            self._dots[column, row] = (before | _BITS[y % 4][x % 2], ink)

    def stroke(
        self, start: tuple[int, int], end: tuple[int, int], ink: Ink, *, every: int = 1
    ) -> None:
        """Dots from one to another; `every` second or third of them for a thinner line."""
        (x1, y1), (x2, y2) = start, end
        steps = max(abs(x2 - x1), abs(y2 - y1), 1)
        for step in range(0, steps + 1, every):
            self.dot(
                round(x1 + (x2 - x1) * step / steps), round(y1 + (y2 - y1) * step / steps), ink
            )

    def lines(self) -> tuple[Line, ...]:
        return tuple(self._line(row) for row in range(self.height))

    def _clear(self, column: int, row: int) -> None:
        """Half of a wide character does not stay."""
        cells = self._cells[row]
        if cells[column][0] == _BESIDE and column > 0:
            cells[column - 1] = (" ", "plain")
        if column + 1 < self.width and cells[column + 1][0] == _BESIDE:
            cells[column + 1] = (" ", "plain")

    def _line(self, row: int) -> Line:
        found: list[Segment] = []
        for column, (char, ink) in enumerate(self._cells[row]):
            if char == " " and (column, row) in self._dots:
                bits, ink = self._dots[column, row]
                char = chr(_BRAILLE + bits)
            if found and found[-1].ink == ink:
                found[-1] = Segment(found[-1].text + char, ink)
            else:
                found.append(Segment(char, ink))
        return tuple(found)


def plain_text(lines: tuple[Line, ...]) -> str:
    """The picture without inks, blanks at the ends of lines left out."""
    return "\n".join("".join(segment.text for segment in line).rstrip() for line in lines)
