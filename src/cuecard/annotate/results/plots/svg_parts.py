"""The parts of SVG pictures: escaped elements, the plane with its scales, axes with ticks, and the legend."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from cuecard.annotate.results.plots.model import Axis, Series, tick_labels, ticks
from cuecard.core.text import one_line, storable

SIZE = 12.0
SMALL = 11.0
FAINT, MUTED = 0.18, 0.72

COLOURS = ("#2f7fb8", "#c4681a", "#2f8f5f", "#9a5fb8", "#cc5148", "#1f8c99", "#8a7a1c", "#c0558c")
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
    """Any text as content of an element or attribute: one line, without characters that XML does not allow."""
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
    """Text with its baseline at `y`, cut to `room` pixels if given; cut text has a tooltip."""
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
    """The estimated width of text in pixels, rather too wide: fonts are unknown here."""
    return size * sum(map(_em, words))


def fitted(words: str, room: float, size: float = SIZE) -> str:
    """Text cut with an ellipsis to fit `room` pixels."""
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


def wrapped(words: str, room: float) -> list[str]:
    """Lines that fit `room` pixels; text without blanks (Chinese) is broken anywhere."""
    lines: list[str] = []
    current = ""
    for piece in _pieces(one_line(words)):
        if current and width_of(current + piece.rstrip(), SMALL) > room:
            lines.append(current.rstrip())
            current = ""
        current += piece
        while width_of(current, SMALL) > room and len(current) > 1:
            cut = max(1, len(fitted(current, room, SMALL)) - 1)
            lines.append(current[:cut])
            current = current[cut:]
    return [*lines, *([current.rstrip()] if current.strip() else [])]


def colour(mark: int) -> str:
    return COLOURS[mark % len(COLOURS)]


def dashes(mark: int) -> str | None:
    """Lines of series that share a colour differ in their dashes."""
    return _DASHES[mark // len(COLOURS) % len(_DASHES)] or None


def marker(mark: int, x: float, y: float, *, r: float = 4.5) -> str:
    """The marker of a series: distinguishable without colour."""
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
    """An interval: vertical at x `at`, or with `across` horizontal at y `at`."""
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


WIDTH = 720.0
PAD = 14.0


@dataclass(frozen=True)
class PlotArea:
    """The area of a plot in pixels, from `left` and `top` to `right` and `bottom`; small values are left and below."""

    x: Axis
    y: Axis
    left: float
    top: float
    right: float
    bottom: float

    def across(self, value: float) -> float:
        return self.left + (value - self.x.low) / (self.x.span or 1.0) * (self.right - self.left)

    def up(self, value: float) -> float:
        return self.bottom - (value - self.y.low) / (self.y.span or 1.0) * (self.bottom - self.top)

    def ends_across(self, interval: tuple[float, float]) -> tuple[float, float]:
        return self.across(self._kept(interval[0], self.x)), self.across(
            self._kept(interval[1], self.x)
        )

    def ends_up(self, interval: tuple[float, float]) -> tuple[float, float]:
        return self.up(self._kept(interval[0], self.y)), self.up(self._kept(interval[1], self.y))

    @staticmethod
    def _kept(value: float, axis: Axis) -> float:
        return min(max(value, axis.low), axis.high)


def gutter(axis: Axis, most: int) -> float:
    """The width that the labels of a vertical axis need, with its name."""
    labels = tick_labels(ticks(axis, most))
    return PAD + SMALL + 10 + max((width_of(label, SMALL) for label in labels), default=0.0) + 6


def upright(plane: PlotArea, most: int) -> list[str]:
    """Ticks and faint lines of the upright axis, its name turned beside them."""
    places = ticks(plane.y, most)
    found: list[str] = []
    for place, label in zip(places, tick_labels(places), strict=True):
        y = plane.up(place)
        found.append(line(plane.left, y, plane.right, y, stroke_opacity=FAINT))
        found.append(text(plane.left - 6, y + 4, label, anchor="end", size=SMALL, muted=True))
    middle = (plane.top + plane.bottom) / 2
    name = fitted(plane.y.label, plane.bottom - plane.top + 20)
    found.append(text(PAD + SMALL, middle, name, anchor="middle", turned=True))
    return found


def level(plane: PlotArea) -> list[str]:
    """Ticks of the level axis, by value or by name, and its name below."""
    found = [line(plane.left, plane.bottom, plane.right, plane.bottom, stroke_opacity=0.6)]
    places, labels = level_ticks(plane)
    room = (plane.right - plane.left) / max(1, len(places)) - 4
    for place, label in zip(places, labels, strict=True):
        x = plane.across(place)
        if not plane.x.names:
            found.append(line(x, plane.top, x, plane.bottom, stroke_opacity=FAINT))
        found.append(line(x, plane.bottom, x, plane.bottom + 4, stroke_opacity=0.6))
        limit = room if plane.x.names else 0.0
        found.append(
            text(x, plane.bottom + 17, label, anchor="middle", size=SMALL, muted=True, room=limit)
        )
    middle = (plane.left + plane.right) / 2
    name = fitted(plane.x.label, plane.right - plane.left + 40)
    found.append(text(middle, plane.bottom + 35, name, anchor="middle"))
    return found


def level_ticks(plane: PlotArea) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """As many ticks as have room, and their labels."""
    axis = plane.x
    if axis.names:
        return tuple(map(float, range(len(axis.names)))), axis.names
    for most in (10, 8, 6, 5, 4, 3, 2):
        places = ticks(axis, most)
        labels = tick_labels(places)
        widest = max((width_of(label, SMALL) for label in labels), default=0.0)
        if (widest + 12) * len(places) <= plane.right - plane.left:
            return places, labels
    return (axis.low, axis.high), tick_labels((axis.low, axis.high))


def legend(
    series: Sequence[Series], top: float, left: float, right: float, *, joined: bool = False
) -> tuple[list[str], float]:
    """Rows of marker and name from `top` down, and their height."""
    found: list[str] = []
    x, y = left, top + 12
    room = right - left
    mark_width = 26.0 if joined else 14.0
    for one in series:
        name = fitted(one.name, min(240.0, room - mark_width - 8))
        needed = mark_width + width_of(name) + 18
        if x > left and x + needed > right + 18:
            x, y = left, y + 19
        if joined:
            ink = colour(one.mark)
            more = {"stroke_dasharray": d} if (d := dashes(one.mark)) else {}
            found.append(line(x, y - 4, x + 20, y - 4, ink, stroke_width=2, **more))
        found.append(marker(one.mark, x + (10 if joined else 5), y - 4, r=4))
        found.append(text(x + mark_width, y, one.name, room=min(240.0, room - mark_width - 8)))
        x += needed
    return found, (y - top + 8 if series else 0.0)
