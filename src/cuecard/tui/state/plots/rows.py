"""Values with their intervals in characters, a row for each name."""

from __future__ import annotations

from rich.cells import cell_len

from cuecard.results.plots.model import Plot
from cuecard.results.plots.ticks import interval_text, tick_labels, ticks
from cuecard.tui.state.plots.canvas import Canvas, glyph, ink_of, padded
from cuecard.tui.state.plots.cursor import At
from cuecard.tui.state.plots.plane import Plane

_NAME = 24
_TRACK = 16


def window(many: int, room: int, at: int) -> range:
    """Which of many rows are shown in the room, `at` among them."""
    if many <= room:
        return range(many)
    first = max(0, min(at - room // 2, many - room))
    return range(first, first + room)


def draw_intervals(canvas: Canvas, plot: Plot, at: At) -> None:
    """`├──●──┤` on one axis, the value in figures beside it where there is room."""
    points = [(series, point) for series, point in plot.points]
    told = [interval_text(p.y, p.low, p.high, plot.y.scale) for _series, p in points]
    short = [interval_text(p.y, None, None, plot.y.scale) for _series, p in points]
    names = min(max((cell_len(name) for name in plot.x.names), default=0), canvas.width // 3, _NAME)
    if canvas.width - names - max(map(len, told), default=0) - 6 < _TRACK:
        told = short
    value = max(map(len, told), default=0)
    left = names + 4
    plane = Plane(plot.y, plot.x, left, 0, canvas.width - left - value - 2, canvas.height - 3)
    shown = window(len(points), canvas.height - 3, at.series)
    gap = 2 if len(points) * 2 <= canvas.height - 3 else 1
    for row, number in enumerate(shown):
        series, point = points[number]
        line, ink = row * gap, ink_of(series.mark)
        chosen = number == at.series
        canvas.put(0, line, glyph(series.mark), ink)
        name = padded(plot.x.names[int(point.x)], names)
        canvas.put(2, line, name.rstrip(), "cursor" if chosen else "plain")
        if point.interval:
            low, high = (plane.column(end) for end in point.interval)
            for column in range(low, high + 1):
                char = "├" if column == low else "┤" if column == high else "─"
                canvas.put(column, line, char, ink)
        canvas.put(plane.column(point.y), line, glyph(series.mark), "cursor" if chosen else ink)
        canvas.put(canvas.width - len(told[number]), line, told[number], "muted")
    _axis(canvas, plane, min(len(shown) * gap, canvas.height - 3))


def _axis(canvas: Canvas, plane: Plane, floor: int) -> None:
    canvas.put(plane.left, floor, "─" * plane.width, "muted")
    most = max(1, plane.width // 8)
    places = ticks(plane.x, min(10, most))
    for place, label in zip(places, tick_labels(places), strict=True):
        column = plane.column(place)
        canvas.put(column, floor, "┴", "muted")
        begin = min(
            max(plane.left, column - len(label) // 2), plane.left + plane.width - len(label)
        )
        canvas.put(begin, floor + 1, label, "muted")
    canvas.put(plane.left, floor + 2, plane.x.label, "muted")
