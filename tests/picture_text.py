"""Pictures of screens as text that a diff can show: see tests/tui/test_pictures.py.

A file holds a scene's pictures. A section `== en 80x24 dark light` tells which they are: those of a section show
the same characters in the colours of several themes. Its lines follow, then the styles of each line in runs: `abK12`
is twelve cells of the style `abK`, which `== styles` describes, once for each theme of the section. A style's name
comes from what it describes, so that a new one does not rename the others.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

FOLDER = Path(__file__).parent / "pictures"
STYLES = "== styles"

Run = tuple[int, str]
"""So many cells, and how they look."""


@dataclass(frozen=True, order=True)
class Shot:
    """Which picture of a scene: `language` en or zh, `theme` dark or light."""

    language: str
    width: int
    height: int
    theme: str

    def __str__(self) -> str:
        return f"{self.language} {self.width}x{self.height} {self.theme}"


@dataclass(frozen=True)
class Picture:
    """`lines` end without spaces; `runs` are those of each line, as wide as the screen."""

    lines: tuple[str, ...]
    runs: tuple[tuple[Run, ...], ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


Pictures = dict[Shot, Picture]


def picture_of(strips: Iterable[Iterable[Segment]]) -> Picture:
    """What a screen shows."""
    lines: list[str] = []
    runs: list[tuple[Run, ...]] = []
    for strip in strips:
        shown = [segment for segment in strip if segment.text and not segment.control]
        lines.append("".join(_printed(segment.text) for segment in shown).rstrip(" "))
        looks = ((cell_len(segment.text), described(segment.style)) for segment in shown)
        runs.append(tuple(_joined(looks)))
    return Picture(tuple(lines), tuple(runs))


def _printed(text: str) -> str:
    return text.replace("\n", "␊").replace("\r", "␍").replace("\u2028", "␊").replace("\x85", "␊")


def _joined(runs: Iterable[Run]) -> Iterator[Run]:
    for look, same in itertools.groupby(runs, key=lambda run: run[1]):
        yield sum(width for width, _ in same), look


@lru_cache(maxsize=4096)
def described(style: Style | None) -> str:
    """Colours and attributes: `#e6e1d6 on #16181c bold`."""
    if style is None:
        return "none on none"
    colours = (
        "none" if colour is None else colour.get_truecolor(foreground=front).hex
        for colour, front in ((style.color, True), (style.bgcolor, False))
    )
    names = ("bold", "dim", "italic", "underline", "strike", "reverse")
    return " ".join([" on ".join(colours), *(name for name in names if getattr(style, name))])


def written(pictures: Pictures) -> str:
    """The text of a file."""
    sections: list[tuple[list[Shot], Picture, list[list[tuple[int, tuple[str, ...]]]]]] = []
    left = dict(sorted(pictures.items()))
    while left:
        shot = next(iter(left))
        same = [
            other
            for other in left
            if (other.language, other.width) == (shot.language, shot.width)
            and left[other].lines == left[shot].lines
        ]
        sections.append((same, left[shot], _woven([left[one] for one in same])))
        for one in same:
            del left[one]
    looks = {look for *_, rows in sections for row in rows for _, look in row}
    names = _named(looks)
    parts: list[str] = []
    for same, picture, rows in sections:
        parts.append(f"== {same[0]}" + "".join(f" {one.theme}" for one in same[1:]))
        parts += [f"|{line}" for line in picture.lines]
        parts += ["".join(f"{names[look]}{width}" for width, look in row) for row in rows]
    parts.append(STYLES)
    parts += sorted(f"{name} {' | '.join(look)}" for look, name in names.items())
    return "\n".join(parts) + "\n"


def read(text: str) -> Pictures:
    """What `written` wrote."""
    body, _, legend = text.partition(f"{STYLES}\n")
    names: dict[str, list[str]] = {}
    for line in legend.splitlines():
        name, _, looks = line.partition(" ")
        names[name] = looks.split(" | ")
    found: Pictures = {}
    for section in body.split("== ")[1:]:
        head, *rest = section.rstrip("\n").split("\n")
        language, size, *themes = head.split()
        width, height = map(int, size.split("x"))
        lines, rows = rest[:height], rest[height:]
        for at, theme in enumerate(themes):
            runs = tuple(
                tuple(
                    _joined(
                        (int(cells), names[name][at])
                        for name, cells in re.findall(r"([a-zA-Z]+)(\d+)", row)
                    )
                )
                for row in rows
            )
            shown = tuple(line[1:] for line in lines)
            found[Shot(language, width, height, theme)] = Picture(shown, runs)
    return found


def _woven(pictures: Sequence[Picture]) -> list[list[tuple[int, tuple[str, ...]]]]:
    """The runs of pictures that show the same characters, cut where any of them changes its look."""
    rows: list[list[tuple[int, tuple[str, ...]]]] = []
    for lines in zip(*(picture.runs for picture in pictures), strict=True):
        cells = zip(*(_spread(line) for line in lines), strict=True)
        rows.append([(len(list(same)), look) for look, same in itertools.groupby(cells)])
    return rows


def _spread(line: Iterable[Run]) -> list[str]:
    return [look for width, look in line for _ in range(width)]


def _named(looks: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    taken: dict[str, tuple[str, ...]] = {}
    for look in sorted(looks):
        for attempt in itertools.count():
            digest = hashlib.sha256(f"{attempt} {look}".encode()).digest()
            name = "".join(string.ascii_letters[byte % 52] for byte in digest[:2])
            if taken.setdefault(name, look) == look:
                break
    return {look: name for name, look in taken.items()}


def difference(one: Picture, other: Picture, most: int = 12) -> str:
    """What changed, by lines and cells; at most so many places."""
    told: list[str] = []
    for number, (before, now) in enumerate(zip(one.lines, other.lines, strict=False), 1):
        if before != now:
            told.append(f"{number}- {before}\n{number}+ {now}")
        elif one.runs[number - 1] != other.runs[number - 1]:
            told.append(
                f"{number}  {now}\n   - {_looks(one.runs[number - 1])}\n"
                f"   + {_looks(other.runs[number - 1])}"
            )
    if len(one.lines) != len(other.lines):
        told.append(f"{len(one.lines)} lines are {len(other.lines)}")
    more = len(told) - most
    return "\n".join(told[:most] + ([f"and {more} lines more"] if more > 0 else []))


def _looks(line: Iterable[Run]) -> str:
    return ", ".join(f"{width} {look}" for width, look in line)
