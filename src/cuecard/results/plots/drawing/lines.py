"""Curves, or means over a few named places, with their intervals."""

from __future__ import annotations

from cuecard.results.plots.drawing.frame import PAD, WIDTH, Plane, gutter, legend, level, upright
from cuecard.results.plots.drawing.labels import spread
from cuecard.results.plots.drawing.parts import (
    SIZE,
    colour,
    dashes,
    element,
    line,
    marker,
    path,
    text,
    whisker,
    width_of,
)
from cuecard.results.plots.model import Plot, Point, Series

_HEIGHT = 290.0
_NAME = 150.0
_GAP = SIZE + 4
_BANDS = 4
_DENSE = 24
_APART = 7.0


def lines(plot: Plot, top: float) -> tuple[list[str], float, float]:
    """Elements, the width and where they end. Names stand at the right ends of the lines, or in a legend."""
    names = [width_of(one.name) for one in plot.series]
    direct = len(names) * _GAP <= _HEIGHT and all(name <= _NAME for name in names)
    margin = max(names, default=0.0) + 30 if direct else 6.0
    inset = 34.0 if plot.x.names else 0.0
    left = gutter(plot.y, 5)
    plane = Plane(
        plot.x, plot.y, left + inset, top + 8, WIDTH - PAD - margin - inset, top + _HEIGHT
    )
    base = Plane(plot.x, plot.y, left, plane.top, plane.right + inset, plane.bottom)
    found = [*upright(base, 5), *level(plane)]
    found.append(line(left, plane.bottom, base.right, plane.bottom, stroke_opacity=0.6))
    many = len(plot.series)
    for at, series in enumerate(plot.series):
        # Places with names have room for intervals side by side.
        aside = (at - (many - 1) / 2) * min(_APART, 50 / many) if plot.x.names else 0.0
        found += _curve(plane, series, aside, bands=many <= _BANDS and not plot.x.names)
    bottom = plane.bottom + 44
    if direct:
        return [*found, *_ends(plane, plot, base.right)], WIDTH, bottom
    rows, height = legend(plot.series, bottom, left, WIDTH - PAD, joined=True)
    return [*found, *rows], WIDTH, bottom + height


def _curve(plane: Plane, series: Series, aside: float, *, bands: bool) -> list[str]:
    ink = colour(series.mark)
    found: list[str] = []
    spots = [(plane.across(p.x) + aside, plane.up(p.y)) for p in series.points]
    if bands:
        found += _band(plane, series.points, ink)
    elif plane.x.names:
        for point, (x, _y) in zip(series.points, spots, strict=True):
            if point.interval:
                found.append(whisker(plane.ends_up(point.interval), x, ink))
    solid = [spot for point, spot in zip(series.points, spots, strict=True) if not point.thin]
    thin = spots[max(0, len(solid) - 1) :]
    for part, stroke, opacity in ((solid, 2.0, 1.0), (thin, 1.0, 0.7)):
        if len(part) > 1:
            found.append(
                element(
                    "path",
                    d=path(part),
                    fill="none",
                    stroke=ink,
                    stroke_width=stroke,
                    stroke_opacity=opacity if opacity < 1 else None,
                    stroke_dasharray=dashes(series.mark),
                )
            )
    step = max(1, len(spots) // _DENSE + (len(spots) > _DENSE))
    for at, (x, y) in enumerate(spots):
        if at % step == 0 or at == len(spots) - 1:
            found.append(marker(series.mark, x, y, r=2.4 if series.points[at].thin else 3.4))
    return found


def _band(plane: Plane, points: tuple[Point, ...], ink: str) -> list[str]:
    """The intervals of points that have them, run after run; what few trials tell has none drawn."""
    found: list[str] = []
    run: list[Point] = []
    for point in (*points, None):
        if point is not None and point.interval and not point.thin:
            run.append(point)
            continue
        if len(run) > 1:
            ends = [plane.ends_up(p.interval) for p in run if p.interval]
            xs = [plane.across(p.x) for p in run]
            lower = [(x, low) for x, (low, _high) in zip(xs, ends, strict=True)]
            upper = [(x, high) for x, (_low, high) in zip(xs, ends, strict=True)]
            shape = path([*lower, *reversed(upper)], closed=True)
            found.append(element("path", d=shape, fill=ink, fill_opacity=0.13))
        run = []
    return found


def _ends(plane: Plane, plot: Plot, right: float) -> list[str]:
    """Names right of the plane, each at the height of its line's end or as near as there is room."""
    heights = [plane.up(one.points[-1].y) for one in plot.series]
    places = spread(heights, _GAP, plane.top + 4, plane.bottom - 2)
    found: list[str] = []
    for series, height, place in zip(plot.series, heights, places, strict=True):
        x = plane.across(series.points[-1].x)
        ink = colour(series.mark)
        if right - x > 12 or abs(place - height) > 3:
            start = min(x + 5, right - 2)
            found.append(
                element(
                    "path",
                    d=path([(start, height), (right + 2, height), (right + 12, place)]),
                    fill="none",
                    stroke=ink,
                    stroke_opacity=0.55,
                    stroke_dasharray="1 3",
                )
            )
        found.append(marker(series.mark, right + 16, place, r=3.6))
        found.append(text(right + 24, place + 4, series.name, room=_NAME))
    return found
