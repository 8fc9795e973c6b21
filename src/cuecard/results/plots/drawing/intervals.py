"""Values with their intervals, a row for each name."""

from __future__ import annotations

from cuecard.results.plots.drawing.frame import PAD, WIDTH, Plane, level
from cuecard.results.plots.drawing.parts import SMALL, colour, line, marker, text, whisker, width_of
from cuecard.results.plots.model import Plot
from cuecard.results.plots.ticks import interval_text

_ROW = 28.0
_NAME = 210.0


def intervals(plot: Plot, top: float) -> tuple[list[str], float, float]:
    """Elements, the width and where they end."""
    told = [
        f"{interval_text(p.y, p.low, p.high, plot.y.scale)} · n {p.n:,}" for _one, p in plot.points
    ]
    names = max((width_of(name) for name in plot.x.names), default=0.0)
    left = PAD + min(_NAME, names) + 14
    right = WIDTH - PAD - max((width_of(words, SMALL) for words in told), default=0.0) - 12
    plane = Plane(plot.y, plot.x, left, top + 4, right, top + 4 + _ROW * len(plot.x.names))
    found = level(plane)
    for (series, point), words in zip(plot.points, told, strict=True):
        y = plane.top + _ROW * (point.x + 0.5)
        ink = colour(series.mark)
        found.append(line(left, y, right, y, stroke_opacity=0.08))
        found.append(text(left - 12, y + 4, plot.x.names[int(point.x)], anchor="end", room=_NAME))
        if point.interval:
            found.append(whisker(plane.ends_across(point.interval), y, ink, across=True, cap=5))
        found.append(marker(series.mark, plane.across(point.y), y, r=5))
        found.append(text(right + 14, y + 4, words, size=SMALL, muted=True))
    return found, WIDTH, plane.bottom + 44
