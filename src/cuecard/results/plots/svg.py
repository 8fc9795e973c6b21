"""A plot as SVG."""

from __future__ import annotations

from cuecard.results.plots.model import Plot


def as_svg(plot: Plot) -> str:
    """A self-contained `<svg>` element (no XML declaration, so it can stand in HTML and in a file): the same bytes
    for the same plot, no scripts, no fonts or pictures from elsewhere, readable on light and dark grounds.
    """
    raise NotImplementedError
