"""Where the cursor of a plot is, where a key takes it, and what is behind it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from cuecard.results.plots.model import Plot, Point

Way = Literal["left", "right", "up", "down", "first", "last"]


class At(NamedTuple):
    """A point of a series; of a heat map a row and a column."""

    series: int = 0
    point: int = 0


START = At()


def kept(plot: Plot, at: At) -> At:
    """The nearest place that the plot has."""
    if plot.kind == "heat":
        rows, columns = len(plot.y.names), len(plot.x.names)
        return At(_within(at.series, rows), _within(at.point, columns))
    series = _within(at.series, len(plot.series))
    points = len(plot.series[series].points) if plot.series else 0
    return At(series, _within(at.point, points))


def moved(plot: Plot, at: At, way: Way) -> At:
    """Left and right go along what is below, up and down to what is drawn above and below; nowhere at an end."""
    at = kept(plot, at)
    if not plot.cells and not plot.series:
        return at
    if plot.kind in ("heat", "bars"):
        return _in_table(plot, at, way)
    if plot.kind == "intervals":
        step = {"left": -1, "up": -1, "right": 1, "down": 1}.get(way)
        last = len(plot.series) - 1
        return kept(plot, At(at.series + step if step else (0 if way == "first" else last)))
    if plot.kind == "lines" and way in ("left", "right", "first", "last"):
        last = len(plot.series[at.series].points) - 1
        to = {"left": at.point - 1, "right": at.point + 1, "first": 0, "last": last}[way]
        return At(at.series, _within(to, last + 1))
    if plot.kind == "lines":
        return _other_line(plot, at, up=way == "up")
    return _other_spot(plot, at, way)


def trials_at(plot: Plot, at: At) -> tuple[int, ...]:
    """Ids of the trials behind what is under the cursor."""
    at = kept(plot, at)
    if plot.kind == "heat":
        return next((c.trials for c in plot.cells if (c.row, c.column) == at), ())
    point = point_at(plot, at)
    return point.trials if point else ()


def point_at(plot: Plot, at: At) -> Point | None:
    if not plot.series or not plot.series[at.series].points:
        return None
    return plot.series[at.series].points[at.point]


def _in_table(plot: Plot, at: At, way: Way) -> At:
    steps = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}
    if way in steps:
        down, across = steps[way]
        return kept(plot, At(at.series + down, at.point + across))
    return kept(plot, At(at.series, 0 if way == "first" else len(plot.x.names) - 1))


def _other_line(plot: Plot, at: At, *, up: bool) -> At:
    """The next higher or lower line at the same place, or at the nearest one it has."""
    here = plot.series[at.series].points[at.point]
    near: list[tuple[float, int, int]] = []
    for number, series in enumerate(plot.series):
        place = min(
            range(len(series.points)), key=lambda i, own=series.points: abs(own[i].x - here.x)
        )
        near.append((series.points[place].y, -number, place))
    near.sort()
    mine = next(i for i, (_y, number, _place) in enumerate(near) if -number == at.series)
    _y, number, place = near[_within(mine + (1 if up else -1), len(near))]
    return At(-number, place)


def _other_spot(plot: Plot, at: At, way: Way) -> At:
    """Of points in a plane the next one in a direction."""
    spots = [
        (At(i, j), point)
        for i, series in enumerate(plot.series)
        for j, point in enumerate(series.points)
    ]
    level = way in ("up", "down")
    ordered = _ordered(spots, level)
    mine = ordered.index(at)
    to = {"left": mine - 1, "down": mine - 1, "right": mine + 1, "up": mine + 1}
    last = len(ordered) - 1
    return ordered[_within(to.get(way, 0 if way == "first" else last), last + 1)]


def _ordered(spots: Iterable[tuple[At, Point]], level: bool) -> list[At]:
    def place(spot: tuple[At, Point]) -> tuple[float, float, At]:
        at, point = spot
        return (point.y, point.x, at) if level else (point.x, point.y, at)

    return [at for at, _point in sorted(spots, key=place)]


def _within(value: int, many: int) -> int:
    return max(0, min(many - 1, value))
