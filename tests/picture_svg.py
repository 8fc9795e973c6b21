"""Pictures of screens as SVG."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from html import escape

from rich.cells import cell_len

from picture_text import Picture, Run

CELL, LINE, FONT = 8.4, 18, 14
"""Pixels: a cell's width, a line's height, the height of letters."""
BASE = 13.5
"""Pixels from the top of a line to the feet of its letters."""
STYLE = f"""\
text {{ font: {FONT}px "DejaVu Sans Mono", "Noto Sans Mono CJK SC", monospace; white-space: pre }}
.bold {{ font-weight: bold }} .dim {{ opacity: 0.6 }} .italic {{ font-style: italic }}
.underline {{ text-decoration: underline }} .strike {{ text-decoration: line-through }}
"""


def svg(picture: Picture) -> str:
    """The picture as SVG. Wide characters take two cells whatever font there is."""
    width = sum(cells for cells, _ in picture.runs[0]) * CELL
    height = len(picture.lines) * LINE
    ground = _ground(picture)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}"'
        f' width="{width:.0f}" height="{height}" xml:space="preserve">',
        f"<style>\n{STYLE}</style>",
        f'<rect width="{width:g}" height="{height}" fill="{ground}"/>',
    ]
    for at, (line, runs) in enumerate(zip(picture.lines, picture.runs, strict=True)):
        parts += _backs(at, runs, ground)
        parts += _texts(at, line, runs)
    return "\n".join([*parts, "</svg>\n"])


def _ground(picture: Picture) -> str:
    """The colour that most cells stand on."""
    cells: Counter[str] = Counter()
    for runs in picture.runs:
        for width, look in runs:
            cells[_colours(look)[1]] += width
    return cells.most_common(1)[0][0]


def _backs(at: int, runs: tuple[Run, ...], ground: str) -> Iterator[str]:
    """What stands behind line `at`, where it is otherwise than `ground`."""
    column = 0
    for back, same in itertools.groupby(runs, key=lambda run: _colours(run[1])[1]):
        cells = sum(width for width, _ in same)
        if back != ground:
            # A little more than the cells take: no seams between them at any magnification.
            yield (
                f'<rect x="{column * CELL:.5g}" y="{at * LINE}" width="{cells * CELL + 0.3:.5g}"'
                f' height="{LINE + 0.3}" fill="{back}"/>'
            )
        column += cells


def _texts(at: int, line: str, runs: tuple[Run, ...]) -> Iterator[str]:
    column, rest = 0, line
    for cells, look in runs:
        text, rest = _taken(rest, cells)
        front, _, names = _colours(look)
        style = f' class="{names}"' if names else ""
        for start, piece in _pieces(text):
            yield (
                f'<text x="{(column + start) * CELL:.5g}" y="{at * LINE + BASE}" fill="{front}"{style}'
                f' textLength="{cell_len(piece) * CELL:.5g}">{escape(piece, quote=False)}</text>'
            )
        column += cells


def _taken(text: str, cells: int) -> tuple[str, str]:
    """The beginning of `text` that fills so many cells, and what is left of it."""
    for at in range(len(text) + 1):
        if cell_len(text[:at]) > cells:
            return text[: at - 1], text[at - 1 :]
    return text, ""


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Pieces of `text`, narrow and wide characters apart, without spaces around; and the cells where they begin."""
    column = 0
    for _, same in itertools.groupby(text, key=lambda char: cell_len(char) == 2):
        piece = "".join(same)
        if shown := piece.strip(" "):
            yield column + len(piece) - len(piece.lstrip(" ")), shown
        column += cell_len(piece)


def _colours(look: str) -> tuple[str, str, str]:
    """The colour of letters, the one behind them, and the names of what else there is."""
    front, _, rest = look.partition(" on ")
    back, *names = rest.split()
    front, back = (colour if colour != "none" else "#888888" for colour in (front, back))
    if "reverse" in names:
        front, back = back, front
    return front, back, " ".join(name for name in names if name != "reverse")
