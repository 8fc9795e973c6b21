"""The numbers of a plot as a table."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.annotate.agreement import Statistic
from cuecard.annotate.labelling.comparison.sheets import Cell, Line, Sheet
from cuecard.core.i18n import _
from cuecard.results.cells import ResultCell
from cuecard.results.plots.model import Axis, HeatCell, Plot, Point, Series
from cuecard.results.plots.ticks import interval_text, value_text


def plot_sheet(plot: Plot) -> Sheet:
    """A line for each point, or for each row of a heat map, with intervals, n and the trials behind it."""
    if plot.kind == "heat":
        headings, lines = (plot.y.label, *plot.x.names), tuple(_heat_lines(plot))
    else:
        headings = (_("Series"), plot.x.label, plot.y.label, f"n ({plot.counted})")
        lines = tuple(_line(plot, series, point) for series, point in plot.points)
        if plot.kind == "intervals":
            headings, lines = headings[1:], tuple(line[1:] for line in lines)
    missing = (_("Nothing to draw: {reason}").format(reason=plot.missing),) if plot.missing else ()
    return Sheet(
        view="results",
        title=plot.title,
        headings=headings,
        lines=lines,
        notes=(*missing, *plot.notes),
    )


def place_text(axis: Axis, at: float) -> str:
    """What a place on an axis is called."""
    if axis.names and 0 <= at < len(axis.names):
        return axis.names[int(at)]
    return value_text(at, axis.scale)


def _line(plot: Plot, series: Series, point: Point) -> Line:
    x: Cell = Cell(place_text(plot.x, point.x))
    if not plot.x.names:
        text = interval_text(point.x, point.x_low, point.x_high, plot.x.scale)
        x = ResultCell(text, value=point.x)
        if point.x_interval:
            found = _statistic(plot, point.x, point.n, point.x_interval)
            x = ResultCell(text, statistic=found, trials=point.trials)
    return (
        Cell(point.label or series.name),
        x,
        ResultCell(
            interval_text(point.y, point.low, point.high, plot.y.scale),
            statistic=_statistic(plot, point.y, point.n, point.interval, point.remark),
            trials=point.trials,
        ),
        ResultCell(f"{point.n:,}", value=point.n, trials=point.trials),
    )


def _statistic(
    plot: Plot, value: float, n: int, interval: tuple[float, float] | None, why: str = ""
) -> Statistic:
    low, high = interval or (None, None)
    return Statistic(name=plot.key, value=value, n=n, low=low, high=high, no_interval=why)


def _heat_lines(plot: Plot) -> Iterator[Line]:
    by_place = {(cell.row, cell.column): cell for cell in plot.cells}
    if not by_place:
        return
    for row, name in enumerate(plot.y.names):
        cells = [by_place[row, column] for column in range(len(plot.x.names))]
        yield (Cell(name), *(_heat_cell(plot, cell) for cell in cells))


def _heat_cell(plot: Plot, cell: HeatCell) -> ResultCell:
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
    return ResultCell(f"{text}{counted}", statistic=statistic, trials=cell.trials)
