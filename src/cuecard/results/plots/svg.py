"""A plot as SVG."""

from __future__ import annotations

from cuecard.core.i18n import _
from cuecard.results.plots.drawing.bars import bars
from cuecard.results.plots.drawing.frame import PAD, WIDTH
from cuecard.results.plots.drawing.heat import heat
from cuecard.results.plots.drawing.intervals import intervals
from cuecard.results.plots.drawing.lines import lines
from cuecard.results.plots.drawing.parts import SMALL, element, number, safe, text, wrapped
from cuecard.results.plots.drawing.scatter import scatter
from cuecard.results.plots.model import Plot
from cuecard.results.plots.ticks import interval_text

_FONTS = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'Noto Sans CJK SC', 'PingFang SC', sans-serif"
_HEAD, _BARE = 40.0, 8.0
_LINE = 16.0
_TOLD = 24
_DRAW = {
    "scatter": scatter,
    "lines": lines,
    "bars": bars,
    "heat": heat,
    "intervals": intervals,
}


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
    """The plot in words for who does not see it: its values, where they are few, and its notes."""
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
        parts += [", ".join(one.name for one in plot.series)]
    return "; ".join((*parts, *plot.notes))


def _nothing(plot: Plot, top: float) -> tuple[list[str], float, float]:
    words = _("Nothing to draw: {reason}").format(reason=plot.missing)
    return [text(PAD, top + 16, words, muted=True)], WIDTH, top + 26
