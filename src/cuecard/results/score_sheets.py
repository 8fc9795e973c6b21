"""Score tables as sheets."""

from __future__ import annotations

from cuecard.annotate.labelling.comparison.sheets import Sheet
from cuecard.results.pool import Dimension
from cuecard.results.score_table import ScoreTable


def score_sheet(table: ScoreTable, *, title: str = "", percent: bool = False) -> Sheet:
    """A column for each dimension of `by`, trials (judged of all), tasks, then the figures with intervals. Cells of
    figures know their trials and, for lines by agent and family, their place in the JSON.
    """
    raise NotImplementedError


def pivoted(table: ScoreTable, across: Dimension, column: str) -> Sheet:
    """One figure (a column's key) with the values of a dimension of `by` across and the others down. Raises
    `NotFound`.
    """
    raise NotImplementedError
