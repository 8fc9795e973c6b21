"""Plots as lines of characters: position and glyphs carry the meaning, colours only repeat it."""

from __future__ import annotations

from collections.abc import Callable

from cuecard.core.i18n import _
from cuecard.results.plots.model import Plot, PlotKind
from cuecard.tui.state.plots.canvas import Canvas, Line, cut
from cuecard.tui.state.plots.cursor import START, At, kept
from cuecard.tui.state.plots.curves import draw_curves
from cuecard.tui.state.plots.grids import draw_bars, draw_heat
from cuecard.tui.state.plots.rows import draw_intervals
from cuecard.tui.state.plots.spots import draw_spots

LEAST = (24, 6)
_DRAW: dict[PlotKind, Callable[[Canvas, Plot, At], None]] = {
    "scatter": draw_spots,
    "lines": draw_curves,
    "bars": draw_bars,
    "heat": draw_heat,
    "intervals": draw_intervals,
}


def picture(plot: Plot, width: int, height: int, at: At = START) -> tuple[Line, ...]:
    """`height` lines of at most `width` cells, the place `at` marked."""
    canvas = Canvas(width, height)
    if plot.missing:
        canvas.put(0, 0, cut(_("Nothing to draw: {reason}").format(reason=plot.missing), width))
    elif width < LEAST[0] or height < LEAST[1]:
        canvas.put(0, 0, cut(_("Too small to draw"), width), "muted")
    else:
        _DRAW[plot.kind](canvas, plot, kept(plot, at))
    return canvas.lines()
