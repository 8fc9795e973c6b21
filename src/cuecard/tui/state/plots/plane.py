"""The plane of a picture in characters: axes with ticks, and where values lie."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len

from cuecard.results.plots.model import Axis, Series
from cuecard.results.plots.ticks import tick_labels, ticks
from cuecard.tui.state.plots.canvas import Canvas, cut, glyph, ink_of

_SPACE = 3


@dataclass(frozen=True)
class Plane:
    """Cells from `left` and `top`, `width` x `height` of them; the level axis is drawn in the rows below. `inset`:
    how many cells stay free on both sides of them.
    """

    x: Axis
    y: Axis
    left: int
    top: int
    width: int
    height: int
    inset: int = 0

    def column(self, value: float) -> int:
        return self.left + round(self._share(value, self.x) * (self.width - 1))

    def row(self, value: float) -> int:
        return self.top + round((1 - self._share(value, self.y)) * (self.height - 1))

    def dot(self, x: float, y: float) -> tuple[int, int]:
        """In dots of braille, in the middle of the cells that `column` and `row` give."""
        across = self._share(x, self.x) * (self.width - 1)
        down = (1 - self._share(y, self.y)) * (self.height - 1)
        return round((self.left + across) * 2 + 0.5), round((self.top + down) * 4 + 1.5)

    @staticmethod
    def _share(value: float, axis: Axis) -> float:
        return min(1.0, max(0.0, (value - axis.low) / (axis.span or 1.0)))


def gutter(axis: Axis, height: int) -> int:
    """How many cells the labels of an upright axis take, with its line."""
    labels = tick_labels(ticks(axis, _most(height)))
    return max((len(label) for label in labels), default=0) + 1


def draw_axes(canvas: Canvas, plane: Plane) -> None:
    """Lines with ticks; the name of the upright axis above it, that of the level one below."""
    edge, floor = plane.left - 1 - plane.inset, plane.top + plane.height
    for row in range(plane.top, floor):
        canvas.put(edge, row, "│", "muted")
    places = ticks(plane.y, _most(plane.height))
    for place, label in zip(places, tick_labels(places), strict=True):
        canvas.put(edge - len(label), plane.row(place), label, "muted")
        canvas.put(edge, plane.row(place), "┤", "muted")
    canvas.put(edge, floor, "└" + "─" * (plane.width + 2 * plane.inset), "muted")
    if plane.top > 0:
        canvas.put(0, plane.top - 1, cut(plane.y.label, canvas.width), "muted")
    _level(canvas, plane, floor)


def _level(canvas: Canvas, plane: Plane, floor: int) -> None:
    name = cut(plane.x.label, plane.width)
    end = plane.left + plane.width - cell_len(name)
    axis = plane.x
    if axis.names:
        each = max(1, (plane.width - 1) // max(1, len(axis.names) - 1) - 1)
        spots = [(float(at), cut(label, each)) for at, label in enumerate(axis.names)]
    else:
        places = _level_ticks(plane)
        spots = list(zip(places, tick_labels(places), strict=True))
    after = -1
    for place, label in spots:
        column = plane.column(place)
        wide = cell_len(label)
        begin = min(max(0, column - wide // 2), canvas.width - wide)
        canvas.put(column, floor, "┴", "muted")
        if begin > after:
            canvas.put(begin, floor + 1, label, "muted")
            after = begin + wide
    if floor + 2 < canvas.height:
        canvas.put(end, floor + 2, name, "muted")


def _level_ticks(plane: Plane) -> tuple[float, ...]:
    for most in (12, 10, 8, 6, 5, 4, 3, 2):
        places = ticks(plane.x, most)
        widest = max((len(label) for label in tick_labels(places)), default=1)
        if (widest + _SPACE) * len(places) <= plane.width:
            return places
    return (plane.x.low, plane.x.high)


def _most(height: int) -> int:
    return max(1, min(10, (height - 1) // 2))


def legend_rows(series: tuple[Series, ...], width: int, most: int) -> list[list[tuple[int, str]]]:
    """Marks and names in at most `most` rows; names are cut until all are in."""
    for longest in (40, 30, 20, 14, 10, 7, 4):
        rows: list[list[tuple[int, str]]] = [[]]
        used = 0
        for one in series:
            name = cut(one.name, longest)
            needed = 2 + cell_len(name) + 2
            if rows[-1] and used + needed - 2 > width:
                rows.append([])
                used = 0
            rows[-1].append((one.mark, name))
            used += needed
        if len(rows) <= most:
            return [row for row in rows if row]
    return rows[:most]


def draw_legend(canvas: Canvas, rows: list[list[tuple[int, str]]], top: int) -> None:
    for at, row in enumerate(rows):
        column = 0
        for mark, name in row:
            canvas.put(column, top + at, glyph(mark), ink_of(mark))
            canvas.put(column + 2, top + at, name)
            column += 2 + cell_len(name) + 2
