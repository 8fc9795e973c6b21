"""Bars by class and heat maps in characters: tables with a picture in each cell."""

from __future__ import annotations

from rich.cells import cell_len

from cuecard.core.i18n import _
from cuecard.results.plots.model import HeatCell, Plot, Point, Series
from cuecard.results.plots.ticks import value_text
from cuecard.tui.state.plots.canvas import Canvas, cut, glyph, ink_of, padded
from cuecard.tui.state.plots.cursor import At
from cuecard.tui.state.plots.rows import window

EIGHTHS = " ▁▂▃▄▅▆▇█"
SHADES = " ░▒▓█"
_NAME = 20
_TALL = 8
_WIDE, _WIDEST = 3, 12
_CELL, _CELL_ROOMY, _CELL_MOST = 9, 18, 30


def draw_bars(canvas: Canvas, plot: Plot, at: At) -> None:
    """A row of bars for each series, all on one scale; classes are named below."""
    many, classes = len(plot.series), max(1, len(plot.x.names))
    names = min(
        max((cell_len(one.name) for one in plot.series), default=0) + 2, _NAME, canvas.width // 3
    )
    room = canvas.height - 3
    tall = max(1, min(_TALL, room // max(1, many) - (1 if room // max(1, many) > 1 else 0)))
    gap = 1 if tall > 1 or many * 2 <= room else 0
    shown = window(many, max(1, room // (tall + gap)), at.series)
    each = max(_WIDE, min(_WIDEST, (canvas.width - names - 2) // classes))
    full = value_text(plot.y.high, plot.y.scale)
    heading = _("{what}; a full bar is {value}").format(what=plot.y.label, value=full)
    canvas.put(0, 0, cut(heading, canvas.width), "muted")
    left = names + 1
    for row, number in enumerate(shown):
        series = plot.series[number]
        floor = 1 + row * (tall + gap) + tall - 1
        canvas.put(0, floor, glyph(series.mark), ink_of(series.mark))
        canvas.put(
            2, floor, cut(series.name, names - 2), "strong" if number == at.series else "plain"
        )
        for place, point in enumerate(series.points):
            here = At(number, place) == at
            _bar(
                canvas,
                plot,
                series,
                point,
                (left + round(point.x) * each, floor, each - 1, tall),
                here,
            )
    bottom = 1 + len(shown) * (tall + gap) - gap
    _class_names(canvas, plot, left, each, bottom)
    canvas.put(left, bottom + 1, cut(plot.x.label, canvas.width - left), "muted")


def _bar(
    canvas: Canvas,
    plot: Plot,
    series: Series,
    point: Point,
    box: tuple[int, int, int, int],
    here: bool,
) -> None:
    left, floor, wide, tall = box
    share = min(1.0, max(0.0, (point.y - plot.y.low) / (plot.y.span or 1)))
    eighths = round(share * tall * 8)
    if point.y > 0:
        # What is there is seen, however little.
        eighths = max(1, eighths)
    for up in range(tall):
        part = max(0, min(8, eighths - 8 * up))
        if part:
            canvas.put(left, floor - up, EIGHTHS[part] * wide, ink_of(series.mark))
    if not eighths:
        canvas.put(left, floor, "·" * wide, "muted")
    if here:
        text = f"{point.n}" if wide < 5 else value_text(point.y, plot.y.scale)
        canvas.put(left, floor, padded(text, wide), "cursor")


def _class_names(canvas: Canvas, plot: Plot, left: int, each: int, row: int) -> None:
    """Whole names where there is room, else where classes begin, as many as do not meet."""
    names = list(plot.x.names)
    if any(cell_len(name) >= each for name in names):
        names = [name.split("–")[0] for name in names]
    step = max(1, -(-(max(map(cell_len, names), default=0) + 1) // each))
    for at, name in enumerate(names):
        if at % step == 0:
            canvas.put(left + at * each, row, cut(name, step * each - 1), "muted")


def draw_heat(canvas: Canvas, plot: Plot, at: At) -> None:
    """The value in figures with a swatch that is the fuller the higher it is."""
    names = min(max((cell_len(name) for name in plot.y.names), default=0), 28, canvas.width // 3)
    left = names + 2
    columns = len(plot.x.names)
    longest = max((cell_len(name) for name in plot.x.names), default=0)
    most = min(_CELL_MOST, max(_CELL_ROOMY, longest + 2))
    each = max(_CELL, min(most, (canvas.width - left) // max(1, columns)))
    across = window(columns, max(1, (canvas.width - left) // each), at.point)
    down = window(len(plot.y.names), canvas.height - 3, at.series)
    by_place = {(cell.row, cell.column): cell for cell in plot.cells}
    before = "‹" if across.start > 0 else " "
    canvas.put(left - 1, 0, before, "muted")
    if across.stop < columns:
        canvas.put(canvas.width - 1, 0, "›", "muted")
    for place, column in enumerate(across):
        ink = "strong" if column == at.point else "plain"
        canvas.put(left + place * each, 0, cut(plot.x.names[column], each - 1), ink)
    for line, row in enumerate(down, 1):
        ink = "strong" if row == at.series else "plain"
        canvas.put(0, line, cut(plot.y.names[row], names), ink)
        for place, column in enumerate(across):
            cell = by_place[row, column]
            _cell(canvas, plot, cell, left + place * each, line, here=At(row, column) == at)
    _scale(canvas, plot, left, len(down) + 2)


def _cell(canvas: Canvas, plot: Plot, cell: HeatCell, column: int, row: int, *, here: bool) -> None:
    scale = plot.shade.scale if plot.shade else "number"
    text = value_text(cell.value, scale)
    canvas.put(column, row, swatch(plot, cell.value) * 2, "s0")
    canvas.put(column + 3, row, text, "cursor" if here else "plain")


def swatch(plot: Plot, value: float | None) -> str:
    """One of five shades, blank to full."""
    if value is None or plot.shade is None:
        return " "
    share = (value - plot.shade.low) / (plot.shade.span or 1)
    return SHADES[max(0, min(len(SHADES) - 1, int(share * len(SHADES) + 1e-9)))]


def _scale(canvas: Canvas, plot: Plot, left: int, row: int) -> None:
    if plot.shade is None:
        return
    low, step = plot.shade.low, plot.shade.span / len(SHADES)
    parts = [
        f"{shade * 2} {low + step * at:g}–{low + step * (at + 1):g}"
        for at, shade in enumerate(SHADES)
    ]
    canvas.put(left, row, cut("  ".join(parts[1:]), canvas.width - left), "muted")
