"""Points in a plane with the intervals of both values, in characters."""

from __future__ import annotations

from rich.cells import cell_len

from cuecard.results.plots.model import Plot
from cuecard.tui.state.plots.canvas import Canvas, Ink, cut, glyph, ink_of
from cuecard.tui.state.plots.cursor import At
from cuecard.tui.state.plots.plane import Plane, draw_axes, draw_legend, gutter, legend_rows

_NAME = 24
_DIRECT = 8
_LEGEND = 3


def draw_spots(canvas: Canvas, plot: Plot, at: At) -> None:
    """Names stand beside their points, or all in a legend where one finds no place."""
    if len(plot.series) > _DIRECT or not _draw(canvas, plot, at, []):
        canvas.wipe()
        most = max(1, min(_LEGEND, canvas.height // 5))
        _draw(canvas, plot, at, legend_rows(plot.series, canvas.width, most))


def _draw(canvas: Canvas, plot: Plot, at: At, legend: list[list[tuple[int, str]]]) -> bool:
    height = canvas.height - 4 - len(legend)
    left = gutter(plot.y, height)
    plane = Plane(plot.x, plot.y, left, 1, canvas.width - left - 1, height)
    draw_axes(canvas, plane)
    draw_legend(canvas, legend, canvas.height - len(legend))
    spots = [
        (i, j, series, point)
        for i, series in enumerate(plot.series)
        for j, point in enumerate(series.points)
    ]
    for _i, _j, series, point in spots:
        ink = ink_of(series.mark)
        column, row = plane.column(point.x), plane.row(point.y)
        if point.x_interval:
            low, high = (plane.column(end) for end in point.x_interval)
            _stroke(canvas, [(c, row) for c in range(low, high + 1)], "├─┤", ink)
        if point.interval:
            low, high = (plane.row(end) for end in point.interval)
            _stroke(canvas, [(column, r) for r in range(high, low + 1)], "┬│┴", ink)
    for _i, _j, series, point in spots:
        canvas.put(
            plane.column(point.x), plane.row(point.y), glyph(series.mark), ink_of(series.mark)
        )
    named = bool(legend) or _names(canvas, plane, plot)
    for i, j, series, point in spots:
        if (i, j) == at:
            canvas.put(plane.column(point.x), plane.row(point.y), glyph(series.mark), "cursor")
    return named


def _stroke(canvas: Canvas, cells: list[tuple[int, int]], shape: str, ink: Ink) -> None:
    first, middle, last = shape
    if len(cells) < 2:
        return
    for place, (column, row) in enumerate(cells):
        char = first if place == 0 else last if place == len(cells) - 1 else middle
        canvas.put(column, row, char, ink)


def _names(canvas: Canvas, plane: Plane, plot: Plot) -> bool:
    """Beside each point on blank cells; whether all found some."""
    for series, point in plot.points:
        name = cut(point.label or series.name, _NAME)
        wide = cell_len(name)
        column, row = plane.column(point.x), plane.row(point.y)
        right, left = column + 2, column - wide - 1
        ways = [(right, row), (left, row)]
        ways += [(begin, row + down) for down in (-1, 1, -2, 2) for begin in (right, left)]
        for begin, line in ways:
            inside = plane.top <= line < plane.top + plane.height and begin > plane.left
            if inside and canvas.free(
                begin - 1, line, wide + 2 if begin + wide < canvas.width else wide + 1
            ):
                canvas.put(begin, line, name)
                break
        else:
            return False
    return True
