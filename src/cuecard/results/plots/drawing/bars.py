"""A small picture of bars for each series, all on the same scale."""

from __future__ import annotations

from cuecard.results.plots.drawing.frame import PAD, WIDTH
from cuecard.results.plots.drawing.parts import (
    FAINT,
    SMALL,
    colour,
    element,
    line,
    marker,
    text,
    whisker,
)
from cuecard.results.plots.model import Plot, Point, Series
from cuecard.results.plots.ticks import tick_labels, ticks

_HEIGHT = 92.0
_EACH = 156.0
_LEFT = 46.0
_GAP = 20.0
_FEW = 3


def bars(plot: Plot, top: float) -> tuple[list[str], float, float]:
    """Elements, the width and where they end."""
    many = len(plot.series)
    columns = max(1, min(3, many))
    wide = (WIDTH - 2 * PAD - _LEFT - (columns - 1) * _GAP) / columns
    wide = min(wide, 320.0)
    left = PAD + _LEFT
    found = [text(PAD, top + 12, f"{plot.y.label} ↑ · {plot.x.label} →", size=SMALL, muted=True)]
    for at, series in enumerate(plot.series):
        row, column = divmod(at, columns)
        x, y = left + column * (wide + _GAP), top + 24 + row * _EACH
        found += _panel(plot, series, x, y, wide, labels=column == 0)
    rows = (many + columns - 1) // columns
    return found, WIDTH, top + 24 + rows * _EACH


def _panel(
    plot: Plot, series: Series, left: float, top: float, wide: float, *, labels: bool
) -> list[str]:
    total = sum(point.n for point in series.points)
    floor = top + 26 + _HEIGHT
    found = [
        marker(series.mark, left + 5, top + 9, r=4),
        text(left + 15, top + 13, f"{series.name} · n {total:,}", room=wide - 18),
    ]
    places = ticks(plot.y, 2)
    for place, label in zip(places, tick_labels(places), strict=True):
        y = floor - _HEIGHT * (place - plot.y.low) / (plot.y.span or 1)
        found.append(line(left, y, left + wide, y, stroke_opacity=FAINT))
        if labels:
            found.append(text(left - 6, y + 4, label, anchor="end", size=SMALL, muted=True))
    each = wide / max(1, len(plot.x.names))
    for point in series.points:
        found += _bar(plot, series, point, left, floor, each)
    found.append(line(left, floor, left + wide, floor, stroke_opacity=0.6))
    if len(plot.x.names) <= _FEW:
        spots = [(left + each * (at + 0.5), name) for at, name in enumerate(plot.x.names)]
    else:
        # Classes are named by where they begin, the last also by where it ends.
        begins = [name.split("–")[0] for name in plot.x.names]
        ends = [*begins, plot.x.names[-1].split("–")[-1]]
        spots = [(left + each * at, name) for at, name in enumerate(ends) if at % 5 == 0]
    for at, (x, name) in enumerate(spots):
        # The outer ones keep within the panel, away from its neighbours'.
        outer = "start" if at == 0 else "end" if at == len(spots) - 1 else "middle"
        anchor = "middle" if len(plot.x.names) <= _FEW else outer
        found.append(text(x, floor + 15, name, anchor=anchor, size=SMALL, muted=True))
    return found


def _bar(
    plot: Plot, series: Series, point: Point, left: float, floor: float, each: float
) -> list[str]:
    few = len(plot.x.names) <= _FEW
    body = min(each * 0.8, 60.0) if few else each - 2
    middle = left + each * (point.x + 0.5)

    def up(value: float) -> float:
        return _HEIGHT * (min(value, plot.y.high) - plot.y.low) / (plot.y.span or 1)

    tall = up(point.y)
    found: list[str] = []
    if tall > 0:
        found.append(
            element(
                "rect",
                element("title", f"{plot.x.names[int(point.x)]}: {point.y:.3f}, n {point.n:,}"),
                x=middle - body / 2,
                y=floor - tall,
                width=body,
                height=tall,
                fill=colour(series.mark),
                fill_opacity=0.75,
            )
        )
    if point.interval:
        low, high = (floor - up(end) for end in point.interval)
        found.append(whisker((low, high), middle, "currentColor", cap=4))
    return found
