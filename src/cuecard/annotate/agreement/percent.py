"""Observed agreement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.annotate.agreement.ratings import Ratings
from cuecard.annotate.agreement.statistic import Statistic
from cuecard.core.i18n import _

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def percent_agreement(ratings: Ratings) -> Statistic:
    """The share of agreeing pairs of raters, 0 to 1: per item over its pairs, then the mean over
    items with at least two ratings (Fleiss 1971, the mean of P_i; for two raters the plain share
    of items on which they agree).
    """
    counts = ratings.paired_counts
    if not len(counts):
        return Statistic(name="percent", value=None, n=0, reason=_("no item has two ratings"))
    return Statistic(name="percent", value=observed(counts), n=len(counts))


def observed(counts: NDArray[np.float64]) -> float:
    """The mean share of agreeing pairs; every row of `counts` sums to two or more."""
    raters = counts.sum(axis=1)
    agreeing = (counts * (counts - 1)).sum(axis=1)
    return float((agreeing / (raters * (raters - 1))).mean())
