"""A plot as SVG. Bars, heat maps and intervals are drawn here, curves and points in `svg_lines`."""

from cuecard.annotate.results.plots.model import (
    HeatCell,
    Plot,
    Point,
    Series,
    interval_text,
    tick_labels,
    ticks,
    value_text,
)
from cuecard.annotate.results.plots.svg_lines import lines, scatter
from cuecard.annotate.results.plots.svg_parts import (
    COLOURS,
    FAINT,
    PAD,
    SMALL,
    WIDTH,
    PlotArea,
    colour,
    element,
    level,
    line,
    marker,
    number,
    safe,
    text,
    whisker,
    width_of,
    wrapped,
)
from cuecard.core.i18n import _, listed

_HEIGHT = 92.0
_EACH = 156.0
_LEFT = 46.0
_GAP = 20.0
_FEW = 3


def bars(plot: Plot, top: float) -> tuple[list[str], float, float]:
    """SVG elements, their width and their lower end."""
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


_ROW = 38.0
_LEAST, _MOST = 66.0, 130.0
_NAME = 190.0
_PALE, _FULL = 0.06, 0.55


def heat(plot: Plot, top: float) -> tuple[list[str], float, float]:
    """SVG elements, their width and their lower end; many columns make it wider."""
    names = max((width_of(name) for name in plot.y.names), default=0.0)
    left = PAD + min(_NAME, names) + 12
    columns = max(1, len(plot.x.names))
    each = min(_MOST, max(_LEAST, (WIDTH - PAD - left) / columns))
    found = [
        text(left + each * (at + 0.5), top + 16, name, anchor="middle", room=each - 8)
        for at, name in enumerate(plot.x.names)
    ]
    start = top + 26
    for row, name in enumerate(plot.y.names):
        middle = start + _ROW * (row + 0.5)
        found.append(text(left - 10, middle + 4, name, anchor="end", room=_NAME))
    for cell in plot.cells:
        found += _cell(plot, cell, left + each * cell.column, start + _ROW * cell.row, each)
    width = max(WIDTH, left + each * columns + PAD)
    return found, width, start + _ROW * len(plot.y.names) + 10


def _cell(plot: Plot, cell: HeatCell, x: float, y: float, each: float) -> list[str]:
    axis = plot.shade
    middle = x + each / 2
    room = {"x": x + 1, "y": y + 1, "width": each - 2, "height": _ROW - 2, "rx": 3}
    if cell.value is None or axis is None:
        told = element("title", safe(cell.reason)) if cell.reason else ""
        hollow = {"fill": "none", "stroke": "currentColor", "stroke_opacity": 0.2}
        return [
            element("rect", told, **room, **hollow, stroke_dasharray="3 3"),
            text(middle, y + _ROW / 2 + 4, "–", anchor="middle", muted=True),
        ]
    share = min(1.0, max(0.0, (cell.value - axis.low) / (axis.span or 1)))
    words = f"{interval_text(cell.value, cell.low, cell.high, axis.scale)} · n {cell.n:,}"
    return [
        element(
            "rect",
            element("title", safe(words)),
            **room,
            fill=COLOURS[0],
            fill_opacity=_PALE + share * (_FULL - _PALE),
        ),
        text(middle, y + 17, value_text(cell.value, axis.scale), anchor="middle"),
        text(middle, y + 31, f"n {cell.n:,}", anchor="middle", size=SMALL, muted=True),
    ]


_INTERVALS_ROW = 28.0
_INTERVALS_NAME = 210.0


def intervals(plot: Plot, top: float) -> tuple[list[str], float, float]:
    """SVG elements, their width and their lower end."""
    told = [
        f"{interval_text(p.y, p.low, p.high, plot.y.scale)} · n {p.n:,}" for _one, p in plot.points
    ]
    names = max((width_of(name) for name in plot.x.names), default=0.0)
    left = PAD + min(_INTERVALS_NAME, names) + 14
    right = WIDTH - PAD - max((width_of(words, SMALL) for words in told), default=0.0) - 12
    plane = PlotArea(
        plot.y, plot.x, left, top + 4, right, top + 4 + _INTERVALS_ROW * len(plot.x.names)
    )
    found = level(plane)
    for (series, point), words in zip(plot.points, told, strict=True):
        y = plane.top + _INTERVALS_ROW * (point.x + 0.5)
        ink = colour(series.mark)
        found.append(line(left, y, right, y, stroke_opacity=0.08))
        found.append(
            text(left - 12, y + 4, plot.x.names[int(point.x)], anchor="end", room=_INTERVALS_NAME)
        )
        if point.interval:
            found.append(whisker(plane.ends_across(point.interval), y, ink, across=True, cap=5))
        found.append(marker(series.mark, plane.across(point.y), y, r=5))
        found.append(text(right + 14, y + 4, words, size=SMALL, muted=True))
    return found, WIDTH, plane.bottom + 44


_FONTS = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'Noto Sans CJK SC', 'PingFang SC', sans-serif"
_HEAD, _BARE = 40.0, 8.0
_LINE = 16.0
_TOLD = 24
_DRAW = {"scatter": scatter, "lines": lines, "bars": bars, "heat": heat, "intervals": intervals}


def as_svg(plot: Plot, *, heading: bool = True) -> str:
    """A self-contained `<svg>` element (no XML declaration, so it can stand in HTML and in a file): the same bytes
    for the same plot, no ids, scripts, fonts or pictures from elsewhere. Text and axes take the colour of the
    text around it, series have colours that can be seen on light and dark grounds. Without `heading` its title is
    told to readers of the screen alone, for places that show a caption.
    """
    top = _HEAD if heading else _BARE
    draw = _nothing if plot.missing else _DRAW[plot.kind]
    body, width, bottom = draw(plot, top)
    notes = [part for note in plot.notes for part in wrapped(note, width - 2 * PAD)]
    body += [
        text(PAD, bottom + 8 + _LINE * at, note, size=SMALL, muted=True)
        for at, note in enumerate(notes, 1)
    ]
    height = bottom + 8 + _LINE * len(notes) + PAD
    content = [
        element("title", safe(plot.title)),
        element("desc", safe(description(plot))),
        *([text(PAD, 24, plot.title, size=15, bold=True, room=width - 2 * PAD)] if heading else []),
        *body,
    ]
    return element(
        "svg",
        "\n".join(("", *content, "")),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=width,
        height=height,
        role="img",
        aria_label=safe(plot.title),
        font_family=_FONTS,
        font_size=12,
        fill="currentColor",
        style="max-width:100%;height:auto;color-scheme:light dark",
    )


def description(plot: Plot) -> str:
    """The plot as text for people who do not see it: its values, if they are few, and its notes."""
    parts: list[str] = [plot.missing] if plot.missing else []
    if plot.kind in ("scatter", "intervals"):
        parts += [
            f"{point.label or series.name} {interval_text(point.y, point.low, point.high, plot.y.scale)}"
            for series, point in list(plot.points)[:_TOLD]
        ]
    elif plot.kind == "heat":
        parts.append(
            _("{rows} by {columns}; the table has the values").format(
                rows=plot.y.label, columns=plot.x.label
            )
        )
    else:
        parts += [listed(one.name for one in plot.series)]
    return _("; ").join((*parts, *plot.notes))


def _nothing(plot: Plot, top: float) -> tuple[list[str], float, float]:
    words = _("Nothing to draw: {reason}").format(reason=plot.missing)
    return [text(PAD, top + 16, words, muted=True)], WIDTH, top + 26
