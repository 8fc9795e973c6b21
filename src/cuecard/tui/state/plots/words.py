"""What a plot says in words beside its picture."""

from __future__ import annotations

from cuecard.core.i18n import _
from cuecard.results.plots.model import Plot
from cuecard.results.plots.tables import place_text
from cuecard.results.plots.ticks import interval_text
from cuecard.tui.state.plots.canvas import glyph
from cuecard.tui.state.plots.cursor import At, kept, point_at


def told(plot: Plot, at: At) -> str:
    """The values under the cursor, with their intervals, what they are over, and what is missing of them."""
    at = kept(plot, at)
    if plot.missing:
        return _("Nothing to draw: {reason}").format(reason=plot.missing)
    if plot.kind == "heat":
        return _cell(plot, at)
    point = point_at(plot, at)
    if point is None:
        return ""
    series = plot.series[at.series]
    where = interval_text(point.x, point.x_low, point.x_high, plot.x.scale)
    if plot.x.names:
        where = place_text(plot.x, point.x)
    parts = [f"{glyph(series.mark)} {point.label or series.name}"]
    if plot.kind != "intervals":
        parts.append(f"{plot.x.label} {where}")
    parts.append(f"{plot.y.label} {interval_text(point.y, point.low, point.high, plot.y.scale)}")
    parts.append(_counted(point.n, plot.counted))
    if point.thin:
        parts.append(_("few trials"))
    return " · ".join((*parts, *_without_interval(point.remark)))


def name_at(plot: Plot, at: At) -> str:
    """What is under the cursor, without its value: `beta · Triplet F1 0.7–0.8`."""
    at = kept(plot, at)
    if plot.kind == "heat":
        return f"{plot.x.names[at.point]} · {plot.y.names[at.series]}"
    point = point_at(plot, at)
    if point is None:
        return plot.title
    name = point.label or plot.series[at.series].name
    if plot.kind in ("intervals", "scatter"):
        return name
    return f"{name} · {plot.x.label} {place_text(plot.x, point.x)}"


def _cell(plot: Plot, at: At) -> str:
    cell = next((c for c in plot.cells if (c.row, c.column) == at), None)
    if cell is None:
        return ""
    scale = plot.shade.scale if plot.shade else "number"
    parts = [
        plot.x.names[cell.column],
        plot.y.names[cell.row],
        interval_text(cell.value, cell.low, cell.high, scale),
        _counted(cell.n, plot.counted),
    ]
    if cell.value is not None:
        return " · ".join((*parts, *_without_interval(cell.reason)))
    return " · ".join((*parts, *((cell.reason,) if cell.reason else ())))


def _without_interval(reason: str) -> tuple[str, ...]:
    return (_("no interval: {reason}").format(reason=reason),) if reason else ()


def _counted(n: int, what: str) -> str:
    return _("n {n} ({what})").format(n=f"{n:,}", what=what)
