"""The numbers of a plot as a table."""

from __future__ import annotations

from cuecard.annotate.labelling.comparison.sheets import Sheet
from cuecard.results.plots.model import Plot


def plot_sheet(plot: Plot) -> Sheet:
    """A line for each point, or for each row of a heat map, with intervals, n and the trials behind it."""
    raise NotImplementedError
