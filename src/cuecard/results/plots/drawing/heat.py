"""Values in a grid of rows and columns: figures first, the shade beside them."""

from __future__ import annotations

from cuecard.results.plots.drawing.frame import PAD, WIDTH
from cuecard.results.plots.drawing.parts import COLOURS, SMALL, element, safe, text, width_of
from cuecard.results.plots.model import HeatCell, Plot
from cuecard.results.plots.ticks import interval_text, value_text

_ROW = 38.0
_LEAST, _MOST = 66.0, 130.0
_NAME = 190.0
_PALE, _FULL = 0.06, 0.55


def heat(plot: Plot, top: float) -> tuple[list[str], float, float]:
    """Elements, the width and where they end; many columns make it wider."""
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
