"""Elements of an SVG as text: escaped, with numbers that are the same on every machine."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from html import escape

from cuecard.core.text import one_line, storable

SIZE = 12.0
SMALL = 11.0
FAINT, MUTED = 0.18, 0.72

COLOURS = (
    "#2f7fb8",
    "#c4681a",
    "#2f8f5f",
    "#9a5fb8",
    "#cc5148",
    "#1f8c99",
    "#8a7a1c",
    "#c0558c",
)
"""Bright enough on a dark ground and dark enough on a light one: at least 3:1 against both."""
SHAPES = (
    "circle",
    "square",
    "triangle",
    "diamond",
    "ring",
    "frame",
    "delta",
    "cross",
    "nabla",
    "lozenge",
    "plus",
    "target",
)
_DASHES = ("", "6 3", "2 3")
_UNKNOWN = "\ufffd"


def safe(text: str) -> str:
    """Text from anywhere as the text of an element or an attribute: one line, nothing that XML does not allow."""
    clean = "".join(
        _UNKNOWN if char in "\ufffe\uffff" else char for char in one_line(storable(text))
    )
    return escape(clean, quote=True)


def number(value: float) -> str:
    """With two decimals at most."""
    text = f"{value + 0.0:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("", "-0") else text


def element(name: str, content: str = "", /, **attributes: str | float | None) -> str:
    """`stroke_width=2` becomes `stroke-width="2"`; None is left out. Text values must be `safe`."""
    told = "".join(
        f' {key.strip("_").replace("_", "-")}="{number(value) if isinstance(value, int | float) else value}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{told}>{content}</{name}>" if content else f"<{name}{told}/>"


def text(
    x: float,
    y: float,
    words: str,
    *,
    anchor: str = "start",
    size: float = SIZE,
    bold: bool = False,
    muted: bool = False,
    room: float = 0.0,
    turned: bool = False,
) -> str:
    """Words with their baseline at `y`, cut to `room` where there is a limit; what was cut is a tooltip."""
    shown = fitted(words, room, size) if room else one_line(words)
    more = element("title", safe(words)) if shown != one_line(words) else ""
    return element(
        "text",
        f"{safe(shown)}{more}",
        x=x,
        y=y,
        text_anchor=anchor if anchor != "start" else None,
        font_size=size if size != SIZE else None,
        font_weight="600" if bold else None,
        fill_opacity=MUTED if muted else None,
        transform=f"rotate(-90 {number(x)} {number(y)})" if turned else None,
    )


def line(
    x1: float, y1: float, x2: float, y2: float, stroke: str = "currentColor", **more: str | float
) -> str:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, **more)


def path(points: Iterable[tuple[float, float]], *, closed: bool = False) -> str:
    """The `d` of straight lines through the points."""
    steps = "L".join(f"{number(x)} {number(y)}" for x, y in points)
    return f"M{steps}{'Z' if closed else ''}" if steps else ""


def width_of(words: str, size: float = SIZE) -> float:
    """About how wide text is, rather too wide than too narrow: no font is known here."""
    return size * sum(map(_em, words))


def fitted(words: str, room: float, size: float = SIZE) -> str:
    """Cut with an ellipsis to what fits into `room`."""
    flat = one_line(words)
    if width_of(flat, size) <= room:
        return flat
    left = room - size
    kept = ""
    for char in flat:
        left -= size * _em(char)
        if left < 0:
            break
        kept += char
    return f"{kept}…"


def wrapped(words: str, room: float, size: float = SMALL) -> list[str]:
    """Lines that fit into `room`; text without blanks (Chinese) is parted anywhere."""
    lines: list[str] = []
    current = ""
    for piece in _pieces(one_line(words)):
        if current and width_of(current + piece.rstrip(), size) > room:
            lines.append(current.rstrip())
            current = ""
        current += piece
        while width_of(current, size) > room and len(current) > 1:
            cut = max(1, len(fitted(current, room, size)) - 1)
            lines.append(current[:cut])
            current = current[cut:]
    return [*lines, *([current.rstrip()] if current.strip() else [])]


def colour(mark: int) -> str:
    return COLOURS[mark % len(COLOURS)]


def dashes(mark: int) -> str | None:
    """Lines of series that share a colour differ in their dashes."""
    return _DASHES[mark // len(COLOURS) % len(_DASHES)] or None


def marker(mark: int, x: float, y: float, *, r: float = 4.5) -> str:
    """The shape of a series: told apart without colour."""
    ink = colour(mark)
    match SHAPES[mark % len(SHAPES)]:
        case "circle":
            return element("circle", cx=x, cy=y, r=r, fill=ink)
        case "ring":
            return element("circle", cx=x, cy=y, r=r - 0.5, **_hollow(ink))
        case "square":
            side = r * 1.75
            return element(
                "rect", x=x - side / 2, y=y - side / 2, width=side, height=side, fill=ink
            )
        case "frame":
            side = r * 1.6
            spot = {"x": x - side / 2, "y": y - side / 2, "width": side, "height": side}
            return element("rect", **spot, **_hollow(ink))
        case "triangle":
            return element("path", d=path(_triangle(x, y, r * 1.15), closed=True), fill=ink)
        case "delta":
            return element("path", d=path(_triangle(x, y, r * 1.1), closed=True), **_hollow(ink))
        case "nabla":
            tips = [(x, y + r), (x + r * 1.1, y - r * 0.85), (x - r * 1.1, y - r * 0.85)]
            return element("path", d=path(tips, closed=True), fill=ink)
        case "diamond":
            return element("path", d=path(_diamond(x, y, r * 1.2), closed=True), fill=ink)
        case "lozenge":
            return element("path", d=path(_diamond(x, y, r * 1.15), closed=True), **_hollow(ink))
        case "target":
            dot = element("circle", cx=x, cy=y, r=r * 0.35, fill=ink)
            return element("circle", cx=x, cy=y, r=r, **_hollow(ink)) + dot
        case shape:
            a, b = (r * 0.85, r * 0.85) if shape == "cross" else (r * 1.15, 0.0)
            d = path([(x - a, y - b), (x + a, y + b)]) + path([(x - b, y + a), (x + b, y - a)])
            return element("path", d=d, fill="none", stroke=ink, stroke_width=2.2)


def whisker(
    ends: tuple[float, float], at: float, ink: str, *, across: bool = False, cap: float = 3.5
) -> str:
    """An interval: upright at x `at` between two y, or `across` at y `at` between two x."""
    low, high = ends
    shape = [(low, at), (high, at)] if across else [(at, low), (at, high)]
    d = path(shape)
    for end in ends:
        d += path(
            [(end, at - cap), (end, at + cap)] if across else [(at - cap, end), (at + cap, end)]
        )
    return element("path", d=d, fill="none", stroke=ink, stroke_width=1.4)


def _hollow(ink: str) -> dict[str, str | float]:
    return {"fill": "none", "stroke": ink, "stroke_width": 1.8}


def _triangle(x: float, y: float, r: float) -> Sequence[tuple[float, float]]:
    return [(x, y - r), (x + r, y + r * 0.8), (x - r, y + r * 0.8)]


def _diamond(x: float, y: float, r: float) -> Sequence[tuple[float, float]]:
    return [(x, y - r), (x + r, y), (x, y + r), (x - r, y)]


def _em(char: str) -> float:
    if unicodedata.combining(char):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.02
    if char in "il.,:;'|!()[]ftjIr ":
        return 0.4
    if char in "mwMW@%…":
        return 0.95
    return 0.72 if char.isupper() else 0.63


def _pieces(words: str) -> list[str]:
    """Words with the blank after them; wide characters stand alone."""
    pieces: list[str] = []
    current = ""
    for char in words:
        if unicodedata.east_asian_width(char) in "WF":
            if current:
                pieces.append(current)
            pieces.append(char)
            current = ""
        elif char == " ":
            pieces.append(f"{current} ")
            current = ""
        else:
            current += char
    return [*pieces, *([current] if current else [])]
