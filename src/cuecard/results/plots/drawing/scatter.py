"""Points in a plane with the intervals of both values."""

from __future__ import annotations

from cuecard.results.plots.drawing.frame import PAD, WIDTH, Plane, gutter, legend, level, upright
from cuecard.results.plots.drawing.labels import Box, placed
from cuecard.results.plots.drawing.parts import colour, fitted, marker, text, whisker
from cuecard.results.plots.model import Plot

_HEIGHT = 300.0
_NAME = 170.0


def scatter(plot: Plot, top: float) -> tuple[list[str], float, float]:
    """Elements, the width and where they end."""
    plane = Plane(plot.x, plot.y, gutter(plot.y, 5), top + 8, WIDTH - PAD - 6, top + 8 + _HEIGHT)
    found = [*upright(plane, 5), *level(plane)]
    taken: list[Box] = []
    spots: list[tuple[float, float, str]] = []
    marks: list[str] = []
    for series, point in plot.points:
        x, y, ink = plane.across(point.x), plane.up(point.y), colour(series.mark)
        if point.interval:
            ends = plane.ends_up(point.interval)
            found.append(whisker(ends, x, ink))
            taken.append(Box(x - 4, min(ends), x + 4, max(ends)))
        if point.x_interval:
            sides = plane.ends_across(point.x_interval)
            found.append(whisker(sides, y, ink, across=True))
            taken.append(Box(min(sides), y - 4, max(sides), y + 4))
        marks.append(marker(series.mark, x, y, r=5))
        spots.append((x, y, fitted(point.label or series.name, _NAME)))
    found += marks
    bottom = plane.bottom + 44
    frame = Box(plane.left, plane.top - 8, plane.right + 6, plane.bottom)
    labels = placed(spots, taken, frame)
    if labels is not None:
        found += [text(label.x, label.y, label.name) for label in labels]
        return found, WIDTH, bottom
    rows, height = legend(plot.series, bottom, plane.left, plane.right)
    return [*found, *rows], WIDTH, bottom + height
