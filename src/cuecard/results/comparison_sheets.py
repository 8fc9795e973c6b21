"""Comparisons as sheets."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.annotate.labelling.comparison.sheets import Sheet
from cuecard.results.comparing import Comparison

WORST = 10


def comparison_sheets(
    found: Sequence[Comparison], *, tasks: int = WORST, percent: bool = False
) -> tuple[Sheet, ...]:
    """For each family: differences (a line for each measure and arm), win/tie/loss, cost and tokens, what was left out, and
    the `tasks` that differ most by the first measure.
    """
    raise NotImplementedError
