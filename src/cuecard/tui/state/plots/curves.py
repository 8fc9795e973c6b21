"""Curves in characters: fine dots between the marks of each series."""

from __future__ import annotations

from itertools import pairwise

from rich.cells import cell_len

from cuecard.results.plots.model import Plot, Series
from cuecard.tui.state.plots.canvas import Canvas, cut, glyph, ink_of
from cuecard.tui.state.plots.cursor import At
from cuecard.tui.state.plots.plane import Plane, draw_axes, draw_legend, gutter, legend_rows

_NAME = 22
_LEGEND = 3
_EVERY = 8
"""About how many cells apart the marks on a curve are."""


def draw_curves(canvas: Canvas, plot: Plot, at: At) -> None:
    """Names stand at the ends of the curves, or in a legend below where they are too many."""
    names = [cut(one.name, _NAME) for one in plot.series]
    margin = max(map(cell_len, names), default=0) + 3
    room = canvas.height - 4
    beside = len(names) * 2 <= room + 1 and margin * 4 <= canvas.width
    legend = (
        []
        if beside
        else legend_rows(plot.series, canvas.width, max(1, min(_LEGEND, canvas.height // 5)))
    )
    height = room - len(legend)
    left = gutter(plot.y, height)
    inset = 3 if plot.x.names else 0
    width = canvas.width - left - 1 - (margin if beside else 0) - 2 * inset
    plane = Plane(plot.x, plot.y, left + inset, 1, width, height, inset)
    draw_axes(canvas, plane)
    draw_legend(canvas, legend, canvas.height - len(legend))
    for series in plot.series:
        _curve(canvas, plane, series)
    for number, series in enumerate(plot.series):
        _marks(canvas, plane, series, number, len(plot.series))
    if beside:
        _names(canvas, plane, plot, names)
    _cursor(canvas, plane, plot, at)


def _curve(canvas: Canvas, plane: Plane, series: Series) -> None:
    ink = ink_of(series.mark)
    dots = [plane.dot(point.x, point.y) for point in series.points]
    for number, (start, end) in enumerate(pairwise(dots), 1):
        canvas.stroke(start, end, ink, every=3 if series.points[number].thin else 1)


def _marks(canvas: Canvas, plane: Plane, series: Series, number: int, many: int) -> None:
    """A mark now and then, at other places for each series, at named places all; and the last one."""
    points = series.points
    each = plane.width / max(1.0, plane.x.span)
    step = 1 if plane.x.names else max(1, round(_EVERY / max(each, 0.1)))
    first = number * step // max(1, many)
    for place, point in enumerate(points):
        if (place - first) % step == 0 or place == len(points) - 1:
            spot = plane.column(point.x), plane.row(point.y)
            canvas.put(*spot, glyph(series.mark), ink_of(series.mark))


def _names(canvas: Canvas, plane: Plane, plot: Plot, names: list[str]) -> None:
    """Right of the plane, each at the height of its curve's end or as near as there is room."""
    order = sorted(range(len(names)), key=lambda i: (-plot.series[i].points[-1].y, i))
    rows = [plane.row(plot.series[i].points[-1].y) for i in order]
    for place in range(1, len(rows)):
        rows[place] = max(rows[place], rows[place - 1] + 1)
    over = max(0, rows[-1] - (plane.top + plane.height - 1)) if rows else 0
    for place in range(len(rows) - 1, -1, -1):
        limit = plane.top + plane.height - 1 - (len(rows) - 1 - place)
        rows[place] = min(rows[place], limit) if over else rows[place]
    column = canvas.width - max(map(cell_len, names), default=0) - 2
    for place, i in enumerate(order):
        mark = plot.series[i].mark
        canvas.put(column, rows[place], glyph(mark), ink_of(mark))
        canvas.put(column + 2, rows[place], names[i])


def _cursor(canvas: Canvas, plane: Plane, plot: Plot, at: At) -> None:
    """The chosen point in reverse, with its interval."""
    series = plot.series[at.series]
    point = series.points[at.point]
    column = plane.column(point.x)
    if point.interval:
        low, high = (plane.row(end) for end in point.interval)
        for row in range(high, low + 1):
            char = "┬" if row == high else "┴" if row == low else "│"
            canvas.put(column, row, char if high != low else "─", ink_of(series.mark))
    canvas.put(column, plane.row(point.y), glyph(series.mark), "cursor")
