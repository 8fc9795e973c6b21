"""Observed agreement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.annotate.agreement.coefficient import Coefficient, ratio
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
    return percent_coefficient(ratings).statistic


def percent_coefficient(ratings: Ratings) -> Coefficient:
    """`percent_agreement` as a function of sums."""
    terms = agreeing(ratings.counts)
    return Coefficient(
        name="percent",
        terms=terms,
        of=lambda sums: ratio(sums[..., 0], sums[..., 1]),
        n=int(terms[:, 1].sum()),
        undefined=_("no item has two ratings"),
        share=True,
        bounds=(0.0, 1.0),
    )


def agreeing(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Items x 2, from items x labels: the share of agreeing pairs, and 1; 0 and 0 for an item with
    fewer than two ratings.
    """
    import numpy as np

    raters = counts.sum(axis=1)
    paired = raters >= 2
    pairs = np.where(paired, raters * (raters - 1), 1.0)
    shares = (counts * (counts - 1)).sum(axis=1) / pairs
    return np.stack([np.where(paired, shares, 0.0), paired.astype(float)], axis=1)
