"""Curves and points in SVG, with intervals and with labels that do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuecard.annotate.results.plots import svg_parts as parts
from cuecard.annotate.results.plots.model import Plot, Point, Series

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
    """A placed label; `x`, `y`: the start of its baseline."""

    x: float
    y: float
    name: str


def placed(
    spots: Sequence[tuple[float, float, str]], taken: Sequence[Box], frame: Box
) -> list[Label] | None:
    """A place for each label near its spot that overlaps no other label and nothing in `taken`. None if one finds no
    place: then a legend is needed.
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
    wide = parts.width_of(name)
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
        (Label(left, base, name), Box(left, base - parts.SIZE, left + wide, base + 3))
        for left, base in spots
    ]


_HEIGHT = 290.0
_NAME = 150.0
_LINES_GAP = parts.SIZE + 4
_BANDS = 4
_DENSE = 24
_APART = 7.0


def lines(plot: Plot, top: float) -> tuple[list[str], float, float]:
    """SVG elements, their width and their lower end. Names stand at the right ends of the lines, or in a legend."""
    names = [parts.width_of(one.name) for one in plot.series]
    direct = len(names) * _LINES_GAP <= _HEIGHT and all(name <= _NAME for name in names)
    margin = max(names, default=0.0) + 30 if direct else 6.0
    inset = 34.0 if plot.x.names else 0.0
    left = parts.gutter(plot.y, 5)
    plane = parts.PlotArea(
        plot.x,
        plot.y,
        left + inset,
        top + 8,
        parts.WIDTH - parts.PAD - margin - inset,
        top + _HEIGHT,
    )
    base = parts.PlotArea(plot.x, plot.y, left, plane.top, plane.right + inset, plane.bottom)
    found = [*parts.upright(base, 5), *parts.level(plane)]
    found.append(parts.line(left, plane.bottom, base.right, plane.bottom, stroke_opacity=0.6))
    many = len(plot.series)
    for at, series in enumerate(plot.series):
        # Places with names have room for intervals side by side.
        aside = (at - (many - 1) / 2) * min(_APART, 50 / many) if plot.x.names else 0.0
        found += _curve(plane, series, aside, bands=many <= _BANDS and not plot.x.names)
    bottom = plane.bottom + 44
    if direct:
        return [*found, *_ends(plane, plot, base.right)], parts.WIDTH, bottom
    rows, height = parts.legend(plot.series, bottom, left, parts.WIDTH - parts.PAD, joined=True)
    return [*found, *rows], parts.WIDTH, bottom + height


def _curve(plane: parts.PlotArea, series: Series, aside: float, *, bands: bool) -> list[str]:
    ink = parts.colour(series.mark)
    found: list[str] = []
    spots = [(plane.across(p.x) + aside, plane.up(p.y)) for p in series.points]
    if bands:
        found += _band(plane, series.points, ink)
    elif plane.x.names:
        for point, (x, _y) in zip(series.points, spots, strict=True):
            if point.interval:
                found.append(parts.whisker(plane.ends_up(point.interval), x, ink))
    solid = [spot for point, spot in zip(series.points, spots, strict=True) if not point.thin]
    thin = spots[max(0, len(solid) - 1) :]
    for part, stroke, opacity in ((solid, 2.0, 1.0), (thin, 1.0, 0.7)):
        if len(part) > 1:
            found.append(
                parts.element(
                    "path",
                    d=parts.path(part),
                    fill="none",
                    stroke=ink,
                    stroke_width=stroke,
                    stroke_opacity=opacity if opacity < 1 else None,
                    stroke_dasharray=parts.dashes(series.mark),
                )
            )
    step = max(1, len(spots) // _DENSE + (len(spots) > _DENSE))
    for at, (x, y) in enumerate(spots):
        if at % step == 0 or at == len(spots) - 1:
            found.append(parts.marker(series.mark, x, y, r=2.4 if series.points[at].thin else 3.4))
    return found


def _band(plane: parts.PlotArea, points: tuple[Point, ...], ink: str) -> list[str]:
    """The intervals of points as bands; none for thin points."""
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
            shape = parts.path([*lower, *reversed(upper)], closed=True)
            found.append(parts.element("path", d=shape, fill=ink, fill_opacity=0.13))
        run = []
    return found


def _ends(plane: parts.PlotArea, plot: Plot, right: float) -> list[str]:
    """Names right of the plane, each at the height of its line's end or as near as there is room."""
    heights = [plane.up(one.points[-1].y) for one in plot.series]
    places = spread(heights, _LINES_GAP, plane.top + 4, plane.bottom - 2)
    found: list[str] = []
    for series, height, place in zip(plot.series, heights, places, strict=True):
        x = plane.across(series.points[-1].x)
        ink = parts.colour(series.mark)
        if right - x > 12 or abs(place - height) > 3:
            start = min(x + 5, right - 2)
            found.append(
                parts.element(
                    "path",
                    d=parts.path([(start, height), (right + 2, height), (right + 12, place)]),
                    fill="none",
                    stroke=ink,
                    stroke_opacity=0.55,
                    stroke_dasharray="1 3",
                )
            )
        found.append(parts.marker(series.mark, right + 16, place, r=3.6))
        found.append(parts.text(right + 24, place + 4, series.name, room=_NAME))
    return found


_SCATTER_HEIGHT = 300.0
_SCATTER_NAME = 170.0


def scatter(plot: Plot, top: float) -> tuple[list[str], float, float]:
    """SVG elements, their width and their lower end."""
    plane = parts.PlotArea(
        plot.x,
        plot.y,
        parts.gutter(plot.y, 5),
        top + 8,
        parts.WIDTH - parts.PAD - 6,
        top + 8 + _SCATTER_HEIGHT,
    )
    found = [*parts.upright(plane, 5), *parts.level(plane)]
    taken: list[Box] = []
    spots: list[tuple[float, float, str]] = []
    marks: list[str] = []
    for series, point in plot.points:
        x, y, ink = plane.across(point.x), plane.up(point.y), parts.colour(series.mark)
        if point.interval:
            ends = plane.ends_up(point.interval)
            found.append(parts.whisker(ends, x, ink))
            taken.append(Box(x - 4, min(ends), x + 4, max(ends)))
        if point.x_interval:
            sides = plane.ends_across(point.x_interval)
            found.append(parts.whisker(sides, y, ink, across=True))
            taken.append(Box(min(sides), y - 4, max(sides), y + 4))
        marks.append(parts.marker(series.mark, x, y, r=5))
        spots.append((x, y, parts.fitted(point.label or series.name, _SCATTER_NAME)))
    found += marks
    bottom = plane.bottom + 44
    frame = Box(plane.left, plane.top - 8, plane.right + 6, plane.bottom)
    labels = placed(spots, taken, frame)
    if labels is not None:
        found += [parts.text(label.x, label.y, label.name) for label in labels]
        return found, parts.WIDTH, bottom
    rows, height = parts.legend(plot.series, bottom, plane.left, plane.right)
    return [*found, *rows], parts.WIDTH, bottom + height
