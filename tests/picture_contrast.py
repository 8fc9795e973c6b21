"""How well text stands out: the contrast of what a screen draws, by the rule of WCAG 2."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from rich.color import Color, ColorTriplet
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import TerminalTheme

XTERM = [
    (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229),
    (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0), (92, 92, 255), (255, 0, 255), (0, 255, 255), (255, 255, 255),
]  # fmt: skip
"""The 16 colours of xterm."""
GROUNDS = {
    "dark": TerminalTheme((0, 0, 0), (229, 229, 229), XTERM[:8], XTERM[8:]),
    "light": TerminalTheme((255, 255, 255), (0, 0, 0), XTERM[:8], XTERM[8:]),
}
DIM = 0.66
"""How much of a dim letter's colour is left, as in Textual's own filter."""


@dataclass(frozen=True)
class Faint:
    """A piece of text and its contrast."""

    text: str
    ratio: float
    look: str


def faint(
    strips: Iterable[Iterable[Segment]], ground: TerminalTheme, least: float
) -> Iterator[Faint]:
    """Text that stands out less than `least`; `ground`: the terminal's own colours."""
    for strip in strips:
        for segment in strip:
            if segment.control or segment.style is None or not is_text(segment.text):
                continue
            ratio = contrast(segment.style, ground)
            if ratio < least:
                yield Faint(segment.text.strip(), round(ratio, 2), str(segment.style))


def is_text(text: str) -> bool:
    """Whether there is anything to read but lines and boxes."""
    return any(unicodedata.category(char)[0] in "LN" for char in text)


@lru_cache(maxsize=4096)
def contrast(style: Style, ground: TerminalTheme) -> float:
    """From 1, the same colour, to 21, black on white."""
    default = Color.default()
    front = (style.color or default).get_truecolor(ground)
    back = (style.bgcolor or default).get_truecolor(ground, foreground=False)
    if style.reverse:
        front, back = back, front
    if style.dim:
        front = ColorTriplet(*(round(b + (f - b) * DIM) for f, b in zip(front, back, strict=True)))
    light, dark = sorted((_luminance(front), _luminance(back)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: ColorTriplet) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in colour.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
