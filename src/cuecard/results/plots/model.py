"""What a plot shows, without how it is drawn: a terminal, an SVG and a table are made of the same plot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from cuecard.core.tasks import Family
from cuecard.core.tasks.base import Frozen

PlotKind = Literal["scatter", "lines", "bars", "heat", "intervals"]
Scale = Literal["number", "share", "count", "cost"]
"""How values read; a `share` lies between 0 and 1, a `count` is whole."""


class Axis(Frozen):
    """From `low` to `high`. With `names` the places on it are 0, 1, … and stand for these."""

    label: str
    low: float = 0.0
    high: float = 1.0
    scale: Scale = "number"
    names: tuple[str, ...] = ()

    @property
    def span(self) -> float:
        return self.high - self.low


class Point(Frozen):
    """`y` at `x` with the ends of their intervals where there are any; `remark`: why there are none. `n`: over
    how many, in the words of the plot's `counted`. `thin`: too few are left there to be relied on.
    `trials`: ids of those behind it. `label`: what it is called where it is not its series alone.
    """

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    x_low: float | None = None
    x_high: float | None = None
    n: int = 0
    label: str = ""
    remark: str = ""
    thin: bool = False
    trials: tuple[int, ...] = ()

    @property
    def interval(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def x_interval(self) -> tuple[float, float] | None:
        return None if self.x_low is None or self.x_high is None else (self.x_low, self.x_high)


class Series(Frozen):
    """Points of one name from left to right. `mark`: its number among all series of the pool, so that it has the same
    glyph and colour in every plot. `baseline`: an embedded offline player is among its players.
    """

    name: str
    mark: int
    points: tuple[Point, ...]
    baseline: bool = False


class HeatCell(Frozen):
    """The value of row `row` and column `column`, or the `reason` why there is none."""

    row: int
    column: int
    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    reason: str = ""
    trials: tuple[int, ...] = ()


class Plot(Frozen):
    """One plot. `key` names it in files and is stable; `counted`: what `n` counts.

    `scatter`: each series one or more points; `lines`: points of a series are joined; `bars`: each series is
    a picture of its own above the same names of `x`, its points the bars; `intervals`: drawn sideways, the names of
    `x` below each other and `y` to the right; `heat`: the names of `y` are rows, those of `x` columns, `cells` their
    values, all of them, and `shade` the axis of the values. `notes`: n, baselines, what is left out. `missing`:
    why there is nothing to draw.
    """

    key: str
    kind: PlotKind
    title: str
    family: Family | None
    x: Axis
    y: Axis
    counted: str
    series: tuple[Series, ...] = ()
    cells: tuple[HeatCell, ...] = ()
    shade: Axis | None = None
    notes: tuple[str, ...] = ()
    missing: str = ""

    @property
    def points(self) -> Iterator[tuple[Series, Point]]:
        for series in self.series:
            for point in series.points:
                yield series, point

    @property
    def trials(self) -> tuple[int, ...]:
        """All that stand behind it, in ascending order."""
        ids = {id for _series, point in self.points for id in point.trials}
        return tuple(sorted(ids | {id for cell in self.cells for id in cell.trials}))
