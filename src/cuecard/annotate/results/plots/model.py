"""The data of a plot, independent of how it is drawn: axes with round numbers, series, and the numbers as a table."""

from collections.abc import Iterator
from math import ceil, floor, log10
from typing import Literal

from cuecard.core.i18n import _
from cuecard.core.tables.table import Cell, Row, Statistic, Table, cell
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Family

PlotKind = Literal["scatter", "lines", "bars", "heat", "intervals"]
Scale = Literal["number", "share", "count", "cost"]
"""How values are written; a `share` lies between 0 and 1, a `count` is an integer."""


class Axis(Frozen):
    """An axis from `low` to `high`. With `names`, the values 0, 1, … stand for these."""

    label: str
    low: float = 0.0
    high: float = 1.0
    scale: Scale = "number"
    names: tuple[str, ...] = ()

    @property
    def span(self) -> float:
        return self.high - self.low


class Point(Frozen):
    """`y` at `x` with intervals if there are any (`remark`: why not). `n`: over how many of what the plot's `counted`
    says; `thin`: too few to rely on; `trials`: ids of those behind it; `label`: its name if that is not its series'.
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
    """Points with one name, from left to right. `mark`: its number in the pool, which gives it the same glyph and
    colour in every plot. `baseline`: an offline baseline is among its players.
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
        """The ids of all trials behind it, in ascending order."""
        ids = {id for _series, point in self.points for id in point.trials}
        return tuple(sorted(ids | {id for cell in self.cells for id in cell.trials}))


_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_SLACK = 1e-9


def nice_step(span: float, most: int, *, whole: bool = False) -> float:
    """The smallest of 1, 2, 2.5 and 5 times a power of ten that divides `span` into at most `most` steps."""
    if span <= 0 or most < 1:
        return 1.0
    power = 10.0 ** floor(log10(span / most))
    for times in (*_STEPS, 20.0):
        step = times * power
        if whole and (step < 1 or step != floor(step)):
            continue
        if span / step <= most + _SLACK:
            return step
    return max(1.0, ceil(span / most)) if whole else 20 * power


def bounds(values: list[float], *, scale: Scale = "number") -> tuple[float, float]:
    """Round ends of an axis for these values; shares stay within 0 and 1, others reach to zero."""
    if scale == "share":
        return 0.0, 1.0
    low, high = min(values, default=0.0), max(values, default=1.0)
    low, high = min(0.0, low), max(0.0, high)
    if high - low <= 0:
        high = low + (abs(low) or 1.0)
    step = nice_step(high - low, 5, whole=scale == "count")
    return _tidy(floor(low / step + _SLACK) * step), _tidy(ceil(high / step - _SLACK) * step)


def ticks(axis: Axis, most: int) -> tuple[float, ...]:
    """At most `most` + 1 round values on the axis."""
    step = nice_step(axis.span, max(1, most), whole=axis.scale == "count")
    first, last = ceil(axis.low / step - _SLACK), floor(axis.high / step + _SLACK)
    return tuple(_tidy(n * step) for n in range(first, last + 1))


def tick_label(value: float, step: float) -> str:
    """A tick with the decimals that a distance of `step` needs; thousands as `12k`, millions as `3M`."""
    for unit, mark in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= unit and step >= unit / 10:
            return f"{value / unit:g}{mark}"
    decimals = max(0, -floor(log10(step) + _SLACK)) if step > 0 else 0
    if decimals and abs(step * 10**decimals - round(step * 10**decimals)) > _SLACK * 10**decimals:
        decimals += 1
    return f"{value:.{min(decimals, 8)}f}"


def tick_labels(places: tuple[float, ...]) -> tuple[str, ...]:
    step = places[1] - places[0] if len(places) > 1 else abs(places[0]) if places else 1.0
    return tuple(tick_label(place, step or 1.0) for place in places)


def value_text(value: float | None, scale: Scale) -> str:
    """A value for display: shares with three decimals, costs with four digits, integers with separated thousands; a
    dash for none.
    """
    if value is None:
        return "–"
    if scale == "share":
        return f"{value:.3f}"
    if scale == "cost":
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    if scale == "count" and value == floor(value):
        return f"{value:,.0f}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def interval_text(value: float | None, low: float | None, high: float | None, scale: Scale) -> str:
    """`0.812 [0.750, 0.861]`."""
    text = value_text(value, scale)
    if value is None or low is None or high is None:
        return text
    return f"{text} [{value_text(low, scale)}, {value_text(high, scale)}]"


def _tidy(value: float) -> float:
    return round(value, 10) + 0.0


def plot_table(plot: Plot) -> Table:
    """A line for each point, or for each row of a heat map, with intervals, n and the trials behind it."""
    if plot.kind == "heat":
        headings, lines = (plot.y.label, *plot.x.names), tuple(_heat_lines(plot))
    else:
        headings = (_("Series"), plot.x.label, plot.y.label, f"n ({plot.counted})")
        lines = tuple(_line(plot, series, point) for series, point in plot.points)
        if plot.kind == "intervals":
            headings, lines = headings[1:], tuple(line[1:] for line in lines)
    missing = (_("Nothing to draw: {reason}").format(reason=plot.missing),) if plot.missing else ()
    return Table.of(title=plot.title, headings=headings, lines=lines, notes=(*missing, *plot.notes))


def place_text(axis: Axis, at: float) -> str:
    """The text for a value on an axis."""
    if axis.names and 0 <= at < len(axis.names):
        return axis.names[int(at)]
    return value_text(at, axis.scale)


def _line(plot: Plot, series: Series, point: Point) -> Row:
    x = Cell(place_text(plot.x, point.x))
    if not plot.x.names:
        text = interval_text(point.x, point.x_low, point.x_high, plot.x.scale)
        x = Cell(text, value=point.x)
        if point.x_interval:
            found = _statistic(plot, point.x, point.n, point.x_interval)
            x = Cell(text, statistic=found, trials=point.trials)
    return (
        Cell(point.label or series.name),
        x,
        Cell(
            interval_text(point.y, point.low, point.high, plot.y.scale),
            statistic=_statistic(plot, point.y, point.n, point.interval, point.remark),
            trials=point.trials,
        ),
        cell(point.n, trials=point.trials),
    )


def _statistic(
    plot: Plot, value: float, n: int, interval: tuple[float, float] | None, why: str = ""
) -> Statistic:
    low, high = interval or (None, None)
    return Statistic(name=plot.key, value=value, n=n, low=low, high=high, no_interval=why)


def _heat_lines(plot: Plot) -> Iterator[Row]:
    by_place = {(cell.row, cell.column): cell for cell in plot.cells}
    if not by_place:
        return
    for row, name in enumerate(plot.y.names):
        cells = [by_place[row, column] for column in range(len(plot.x.names))]
        yield (Cell(name), *(_heat_cell(plot, cell) for cell in cells))


def _heat_cell(plot: Plot, cell: HeatCell) -> Cell:
    scale = plot.shade.scale if plot.shade else "number"
    text = interval_text(cell.value, cell.low, cell.high, scale)
    counted = f" · n {cell.n}" if cell.value is not None else ""
    undefined = cell.value is None
    statistic = Statistic(
        name=plot.key,
        value=cell.value,
        n=cell.n,
        reason=cell.reason if undefined else "",
        low=cell.low,
        high=cell.high,
        no_interval="" if undefined else cell.reason,
    )
    return Cell(f"{text}{counted}", statistic=statistic, trials=cell.trials)
