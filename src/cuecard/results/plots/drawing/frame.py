"""The plane of a picture: where values lie, axes with their ticks, the legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuecard.results.plots.drawing.parts import (
    FAINT,
    SMALL,
    colour,
    dashes,
    fitted,
    line,
    marker,
    text,
    width_of,
)
from cuecard.results.plots.model import Axis, Series
from cuecard.results.plots.ticks import tick_labels, ticks

WIDTH = 720.0
PAD = 14.0


@dataclass(frozen=True)
class Plane:
    """From `left` and `top` to `right` and `bottom`, in pixels; small values are left and below."""

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
    """The room that the labels of an upright axis need, with the axis' name beside them."""
    labels = tick_labels(ticks(axis, most))
    return PAD + SMALL + 10 + max((width_of(label, SMALL) for label in labels), default=0.0) + 6


def upright(plane: Plane, most: int) -> list[str]:
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


def level(plane: Plane, *, grid: bool = True) -> list[str]:
    """Ticks of the level axis, by value or by name, and its name below."""
    found = [line(plane.left, plane.bottom, plane.right, plane.bottom, stroke_opacity=0.6)]
    places, labels = level_ticks(plane)
    room = (plane.right - plane.left) / max(1, len(places)) - 4
    for place, label in zip(places, labels, strict=True):
        x = plane.across(place)
        if grid and not plane.x.names:
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


def level_ticks(plane: Plane) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """As many places as have room, with what is written there."""
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
    """Rows of marker and name from `top` down, and how high they are."""
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
