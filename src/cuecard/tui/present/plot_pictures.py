"""Plots drawn as characters: curves, points, intervals, bars and heat maps. Colours only repeat what glyphs tell."""

from collections.abc import Callable
from itertools import pairwise

from rich.cells import cell_len

from cuecard.annotate.results.plots.model import (
    HeatCell,
    Plot,
    PlotKind,
    Point,
    Series,
    interval_text,
    tick_labels,
    ticks,
    value_text,
)
from cuecard.core.i18n import _
from cuecard.tui.present import plot_canvas

_NAME = 24
_TRACK = 16


def window(many: int, room: int, at: int) -> range:
    """Which of many rows are shown in the room, `at` among them."""
    if many <= room:
        return range(many)
    first = max(0, min(at - room // 2, many - room))
    return range(first, first + room)


def draw_intervals(canvas: plot_canvas.Canvas, plot: Plot, at: plot_canvas.PlotCursor) -> None:
    """`├──●──┤` on one axis, the value in figures beside it where there is room."""
    points = [(series, point) for series, point in plot.points]
    told = [interval_text(p.y, p.low, p.high, plot.y.scale) for _series, p in points]
    short = [interval_text(p.y, None, None, plot.y.scale) for _series, p in points]
    names = min(max((cell_len(name) for name in plot.x.names), default=0), canvas.width // 3, _NAME)
    if canvas.width - names - max(map(len, told), default=0) - 6 < _TRACK:
        told = short
    value = max(map(len, told), default=0)
    left = names + 4
    plane = plot_canvas.Plane(
        plot.y, plot.x, left, 0, canvas.width - left - value - 2, canvas.height - 3
    )
    shown = window(len(points), canvas.height - 3, at.series)
    gap = 2 if len(points) * 2 <= canvas.height - 3 else 1
    for row, number in enumerate(shown):
        series, point = points[number]
        line, ink = row * gap, plot_canvas.ink_of(series.mark)
        chosen = number == at.series
        canvas.put(0, line, plot_canvas.glyph(series.mark), ink)
        name = plot_canvas.padded(plot.x.names[int(point.x)], names)
        canvas.put(2, line, name.rstrip(), "cursor" if chosen else "plain")
        if point.interval:
            low, high = (plane.column(end) for end in point.interval)
            for column in range(low, high + 1):
                char = "├" if column == low else "┤" if column == high else "─"
                canvas.put(column, line, char, ink)
        canvas.put(
            plane.column(point.y), line, plot_canvas.glyph(series.mark), "cursor" if chosen else ink
        )
        canvas.put(canvas.width - len(told[number]), line, told[number], "muted")
    _axis(canvas, plane, min(len(shown) * gap, canvas.height - 3))


def _axis(canvas: plot_canvas.Canvas, plane: plot_canvas.Plane, floor: int) -> None:
    canvas.put(plane.left, floor, "─" * plane.width, "muted")
    most = max(1, plane.width // 8)
    places = ticks(plane.x, min(10, most))
    for place, label in zip(places, tick_labels(places), strict=True):
        column = plane.column(place)
        canvas.put(column, floor, "┴", "muted")
        begin = min(
            max(plane.left, column - len(label) // 2), plane.left + plane.width - len(label)
        )
        canvas.put(begin, floor + 1, label, "muted")
    canvas.put(plane.left, floor + 2, plane.x.label, "muted")


_CURVES_NAME = 22
_LEGEND = 3
_EVERY = 8
"""About how many cells apart the marks on a curve are."""


def draw_curves(canvas: plot_canvas.Canvas, plot: Plot, at: plot_canvas.PlotCursor) -> None:
    """Names stand at the ends of the curves, or in a legend below where they are too many."""
    names = [plot_canvas.cut(one.name, _CURVES_NAME) for one in plot.series]
    margin = max(map(cell_len, names), default=0) + 3
    room = canvas.height - 4
    beside = len(names) * 2 <= room + 1 and margin * 4 <= canvas.width
    legend = (
        []
        if beside
        else plot_canvas.legend_rows(
            plot.series, canvas.width, max(1, min(_LEGEND, canvas.height // 5))
        )
    )
    height = room - len(legend)
    left = plot_canvas.gutter(plot.y, height)
    inset = 3 if plot.x.names else 0
    width = canvas.width - left - 1 - (margin if beside else 0) - 2 * inset
    plane = plot_canvas.Plane(plot.x, plot.y, left + inset, 1, width, height, inset)
    plot_canvas.draw_axes(canvas, plane)
    plot_canvas.draw_legend(canvas, legend, canvas.height - len(legend))
    for series in plot.series:
        _curve(canvas, plane, series)
    for number, series in enumerate(plot.series):
        _marks(canvas, plane, series, number, len(plot.series))
    if beside:
        _names(canvas, plane, plot, names)
    _cursor(canvas, plane, plot, at)


def _curve(canvas: plot_canvas.Canvas, plane: plot_canvas.Plane, series: Series) -> None:
    ink = plot_canvas.ink_of(series.mark)
    dots = [plane.dot(point.x, point.y) for point in series.points]
    for number, (start, end) in enumerate(pairwise(dots), 1):
        canvas.stroke(start, end, ink, every=3 if series.points[number].thin else 1)


def _marks(
    canvas: plot_canvas.Canvas, plane: plot_canvas.Plane, series: Series, number: int, many: int
) -> None:
    """A mark now and then, at other places for each series, at named places all; and the last one."""
    points = series.points
    each = plane.width / max(1.0, plane.x.span)
    step = 1 if plane.x.names else max(1, round(_EVERY / max(each, 0.1)))
    first = number * step // max(1, many)
    for place, point in enumerate(points):
        if (place - first) % step == 0 or place == len(points) - 1:
            spot = plane.column(point.x), plane.row(point.y)
            canvas.put(*spot, plot_canvas.glyph(series.mark), plot_canvas.ink_of(series.mark))


def _names(
    canvas: plot_canvas.Canvas, plane: plot_canvas.Plane, plot: Plot, names: list[str]
) -> None:
    """Right of the plane, each at the height of its curve's end or as near as there is room."""
    order = sorted(range(len(names)), key=lambda i: (-plot.series[i].points[-1].y, i))
    rows = [plane.row(plot.series[i].points[-1].y) for i in order]
    for place in range(1, len(rows)):
        rows[place] = max(rows[place], rows[place - 1] + 1)
    over = max(0, rows[-1] - (plane.top + plane.height - 1)) if rows else 0
    for place in range(len(rows) - 1, -1, -1):
        limit = plane.top + plane.height - 1 - (len(rows) - 1 - place)
        rows[place] = min(rows[place], limit) if over else rows[place]
    column = canvas.width - max(map(cell_len, names), default=0) - 2
    for place, i in enumerate(order):
        mark = plot.series[i].mark
        canvas.put(column, rows[place], plot_canvas.glyph(mark), plot_canvas.ink_of(mark))
        canvas.put(column + 2, rows[place], names[i])


def _cursor(
    canvas: plot_canvas.Canvas, plane: plot_canvas.Plane, plot: Plot, at: plot_canvas.PlotCursor
) -> None:
    """The chosen point in reverse, with its interval."""
    series = plot.series[at.series]
    point = series.points[at.point]
    column = plane.column(point.x)
    if point.interval:
        low, high = (plane.row(end) for end in point.interval)
        for row in range(high, low + 1):
            char = "┬" if row == high else "┴" if row == low else "│"
            canvas.put(column, row, char if high != low else "─", plot_canvas.ink_of(series.mark))
    canvas.put(column, plane.row(point.y), plot_canvas.glyph(series.mark), "cursor")


_DIRECT = 8


def draw_spots(canvas: plot_canvas.Canvas, plot: Plot, at: plot_canvas.PlotCursor) -> None:
    """Names stand beside their points, or all in a legend where one finds no place."""
    if len(plot.series) > _DIRECT or not _draw(canvas, plot, at, []):
        canvas.wipe()
        most = max(1, min(_LEGEND, canvas.height // 5))
        _draw(canvas, plot, at, plot_canvas.legend_rows(plot.series, canvas.width, most))


def _draw(
    canvas: plot_canvas.Canvas,
    plot: Plot,
    at: plot_canvas.PlotCursor,
    legend: list[list[tuple[int, str]]],
) -> bool:
    height = canvas.height - 4 - len(legend)
    left = plot_canvas.gutter(plot.y, height)
    plane = plot_canvas.Plane(plot.x, plot.y, left, 1, canvas.width - left - 1, height)
    plot_canvas.draw_axes(canvas, plane)
    plot_canvas.draw_legend(canvas, legend, canvas.height - len(legend))
    spots = [
        (i, j, series, point)
        for i, series in enumerate(plot.series)
        for j, point in enumerate(series.points)
    ]
    for _i, _j, series, point in spots:
        ink = plot_canvas.ink_of(series.mark)
        column, row = plane.column(point.x), plane.row(point.y)
        if point.x_interval:
            low, high = (plane.column(end) for end in point.x_interval)
            _stroke(canvas, [(c, row) for c in range(low, high + 1)], "├─┤", ink)
        if point.interval:
            low, high = (plane.row(end) for end in point.interval)
            _stroke(canvas, [(column, r) for r in range(high, low + 1)], "┬│┴", ink)
    for _i, _j, series, point in spots:
        canvas.put(
            plane.column(point.x),
            plane.row(point.y),
            plot_canvas.glyph(series.mark),
            plot_canvas.ink_of(series.mark),
        )
    named = bool(legend) or _spots_names(canvas, plane, plot)
    for i, j, series, point in spots:
        if (i, j) == at:
            canvas.put(
                plane.column(point.x), plane.row(point.y), plot_canvas.glyph(series.mark), "cursor"
            )
    return named


def _stroke(
    canvas: plot_canvas.Canvas, cells: list[tuple[int, int]], shape: str, ink: plot_canvas.Ink
) -> None:
    first, middle, last = shape
    if len(cells) < 2:
        return
    for place, (column, row) in enumerate(cells):
        char = first if place == 0 else last if place == len(cells) - 1 else middle
        canvas.put(column, row, char, ink)


def _spots_names(canvas: plot_canvas.Canvas, plane: plot_canvas.Plane, plot: Plot) -> bool:
    """Beside each point on blank cells; whether all found some."""
    for series, point in plot.points:
        name = plot_canvas.cut(point.label or series.name, _NAME)
        wide = cell_len(name)
        column, row = plane.column(point.x), plane.row(point.y)
        right, left = column + 2, column - wide - 1
        ways = [(right, row), (left, row)]
        ways += [(begin, row + down) for down in (-1, 1, -2, 2) for begin in (right, left)]
        for begin, line in ways:
            inside = plane.top <= line < plane.top + plane.height and begin > plane.left
            if inside and canvas.free(
                begin - 1, line, wide + 2 if begin + wide < canvas.width else wide + 1
            ):
                canvas.put(begin, line, name)
                break
        else:
            return False
    return True


EIGHTHS = " ▁▂▃▄▅▆▇█"
SHADES = " ░▒▓█"
_GRIDS_NAME = 20
_TALL = 8
_WIDE, _WIDEST = 3, 12
_CELL, _CELL_ROOMY, _CELL_MOST = 9, 18, 30


def draw_bars(canvas: plot_canvas.Canvas, plot: Plot, at: plot_canvas.PlotCursor) -> None:
    """A row of bars for each series, all on one scale; classes are named below."""
    many, classes = len(plot.series), max(1, len(plot.x.names))
    names = min(
        max((cell_len(one.name) for one in plot.series), default=0) + 2,
        _GRIDS_NAME,
        canvas.width // 3,
    )
    room = canvas.height - 3
    tall = max(1, min(_TALL, room // max(1, many) - (1 if room // max(1, many) > 1 else 0)))
    gap = 1 if tall > 1 or many * 2 <= room else 0
    shown = window(many, max(1, room // (tall + gap)), at.series)
    each = max(_WIDE, min(_WIDEST, (canvas.width - names - 2) // classes))
    full = value_text(plot.y.high, plot.y.scale)
    heading = _("{what}; a full bar is {value}").format(what=plot.y.label, value=full)
    canvas.put(0, 0, plot_canvas.cut(heading, canvas.width), "muted")
    left = names + 1
    for row, number in enumerate(shown):
        series = plot.series[number]
        floor = 1 + row * (tall + gap) + tall - 1
        canvas.put(0, floor, plot_canvas.glyph(series.mark), plot_canvas.ink_of(series.mark))
        canvas.put(
            2,
            floor,
            plot_canvas.cut(series.name, names - 2),
            "strong" if number == at.series else "plain",
        )
        for place, point in enumerate(series.points):
            here = plot_canvas.PlotCursor(number, place) == at
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
    canvas.put(left, bottom + 1, plot_canvas.cut(plot.x.label, canvas.width - left), "muted")


def _bar(
    canvas: plot_canvas.Canvas,
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
            canvas.put(left, floor - up, EIGHTHS[part] * wide, plot_canvas.ink_of(series.mark))
    if not eighths:
        canvas.put(left, floor, "·" * wide, "muted")
    if here:
        text = f"{point.n}" if wide < 5 else value_text(point.y, plot.y.scale)
        canvas.put(left, floor, plot_canvas.padded(text, wide), "cursor")


def _class_names(canvas: plot_canvas.Canvas, plot: Plot, left: int, each: int, row: int) -> None:
    """Whole names where there is room, else where classes begin, as many as do not meet."""
    names = list(plot.x.names)
    if any(cell_len(name) >= each for name in names):
        names = [name.split("–")[0] for name in names]
    step = max(1, -(-(max(map(cell_len, names), default=0) + 1) // each))
    for at, name in enumerate(names):
        if at % step == 0:
            canvas.put(left + at * each, row, plot_canvas.cut(name, step * each - 1), "muted")


def draw_heat(canvas: plot_canvas.Canvas, plot: Plot, at: plot_canvas.PlotCursor) -> None:
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
        canvas.put(left + place * each, 0, plot_canvas.cut(plot.x.names[column], each - 1), ink)
    for line, row in enumerate(down, 1):
        ink = "strong" if row == at.series else "plain"
        canvas.put(0, line, plot_canvas.cut(plot.y.names[row], names), ink)
        for place, column in enumerate(across):
            cell = by_place[row, column]
            _cell(
                canvas,
                plot,
                cell,
                left + place * each,
                line,
                here=plot_canvas.PlotCursor(row, column) == at,
            )
    _scale(canvas, plot, left, len(down) + 2)


def _cell(
    canvas: plot_canvas.Canvas, plot: Plot, cell: HeatCell, column: int, row: int, *, here: bool
) -> None:
    scale = plot.shade.scale if plot.shade else "number"
    text = value_text(cell.value, scale)
    canvas.put(column, row, shade_mark(plot, cell.value) * 2, "s0")
    canvas.put(column + 3, row, text, "cursor" if here else "plain")


def shade_mark(plot: Plot, value: float | None) -> str:
    """One of five shades, blank to full."""
    if value is None or plot.shade is None:
        return " "
    share = (value - plot.shade.low) / (plot.shade.span or 1)
    return SHADES[max(0, min(len(SHADES) - 1, int(share * len(SHADES) + 1e-9)))]


def _scale(canvas: plot_canvas.Canvas, plot: Plot, left: int, row: int) -> None:
    if plot.shade is None:
        return
    low, step = plot.shade.low, plot.shade.span / len(SHADES)
    parts = [
        f"{shade * 2} {low + step * at:g}–{low + step * (at + 1):g}"
        for at, shade in enumerate(SHADES)
    ]
    canvas.put(left, row, plot_canvas.cut("  ".join(parts[1:]), canvas.width - left), "muted")


LEAST = (24, 6)
_DRAW: dict[PlotKind, Callable[[plot_canvas.Canvas, Plot, plot_canvas.PlotCursor], None]] = {
    "scatter": draw_spots,
    "lines": draw_curves,
    "bars": draw_bars,
    "heat": draw_heat,
    "intervals": draw_intervals,
}


def picture(
    plot: Plot, width: int, height: int, at: plot_canvas.PlotCursor = plot_canvas.START
) -> tuple[plot_canvas.Line, ...]:
    """`height` lines of at most `width` cells, the place `at` marked."""
    canvas = plot_canvas.Canvas(width, height)
    if plot.missing:
        canvas.put(
            0, 0, plot_canvas.cut(_("Nothing to draw: {reason}").format(reason=plot.missing), width)
        )
    elif width < LEAST[0] or height < LEAST[1]:
        canvas.put(0, 0, plot_canvas.cut(_("Too small to draw"), width), "muted")
    else:
        _DRAW[plot.kind](canvas, plot, plot_canvas.kept(plot, at))
    return canvas.lines()
