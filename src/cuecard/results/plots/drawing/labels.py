"""Where names beside points go without lying on each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuecard.results.plots.drawing.parts import SIZE, width_of

_GAP = 9.0


@dataclass(frozen=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def within(self, other: Box) -> bool:
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.top >= other.top
            and self.bottom <= other.bottom
        )


@dataclass(frozen=True)
class Label:
    """`x`, `y`: where the baseline of the text begins."""

    x: float
    y: float
    name: str


def placed(
    spots: Sequence[tuple[float, float, str]], taken: Sequence[Box], frame: Box
) -> list[Label] | None:
    """A place for each name near its spot that meets no other name and nothing `taken`; None if one finds none: then
    a legend tells them.
    """
    boxes = [*taken, *(Box(x - 6, y - 6, x + 6, y + 6) for x, y, _name in spots)]
    found: list[Label] = []
    for x, y, name in spots:
        for label, box in _candidates(x, y, name):
            if box.within(frame) and not any(box.meets(other) for other in boxes):
                boxes.append(box)
                found.append(label)
                break
        else:
            return None
    return found


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The wanted heights moved apart to at least `gap`, in their order, between `low` and `high` where there is room
    for all.
    """
    order = sorted(range(len(wanted)), key=lambda at: (wanted[at], at))
    places = [min(max(wanted[at], low), high) for at in order]
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + gap)
    if places and places[-1] > high:
        places[-1] = high
        for i in range(len(places) - 2, -1, -1):
            places[i] = min(places[i], places[i + 1] - gap)
    found = [0.0] * len(wanted)
    for at, place in zip(order, places, strict=True):
        found[at] = place
    return found


def _candidates(x: float, y: float, name: str) -> list[tuple[Label, Box]]:
    wide = width_of(name)
    spots = [
        (x + _GAP, y - 5),
        (x + _GAP, y + 13),
        (x - _GAP - wide, y - 5),
        (x - _GAP - wide, y + 13),
        (x + _GAP, y - 20),
        (x - _GAP - wide, y - 20),
        (x + _GAP, y + 28),
        (x - _GAP - wide, y + 28),
    ]
    return [
        (Label(left, base, name), Box(left, base - SIZE, left + wide, base + 3))
        for left, base in spots
    ]
