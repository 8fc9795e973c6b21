"""Gwet's AC1: agreement beyond chance that does not collapse when one label is rare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.annotate.agreement.coefficient import Coefficient, beyond_chance
from cuecard.annotate.agreement.kappa import (
    agreement,
    agreement_and_shares,
    label_shares,
    why_undefined,
)
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.annotate.agreement.statistic import Statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def gwet_ac1(ratings: Ratings) -> Statistic:
    """Gwet (2008), "Computing inter-rater reliability and its variance in the presence of high
    agreement", Br. J. Math. Stat. Psychol. 61, 29-48: (p_a - p_e) / (1 - p_e) with
    p_e = sum of pi_k (1 - pi_k) over the q labels, divided by q - 1.

    For two raters and more, ratings may be missing: p_a over the items with at least two ratings, each
    item's agreement over its own pairs; pi_k as the mean over all rated items of the label's share among
    the item's ratings (Gwet, Handbook, 4th ed., ch. 4.4 and 5).

    q counts the labels that could be given, used or not. Where one of several possible labels is used
    throughout, pi (1 - pi) is 0 for each, so p_e is 0 and AC1 is p_a: that chance cannot explain such
    agreement is what the coefficient was made to say, and what kappa leaves open. Where only one label is
    possible, p_e has no meaning (q - 1 is 0) and AC1 is undefined.
    """
    return ac1_coefficient(ratings).statistic


def ac1_coefficient(ratings: Ratings) -> Coefficient:
    """`gwet_ac1` as a function of sums."""
    import numpy as np

    q = len(ratings.labels)
    terms = agreement_and_shares(ratings)

    def ac1(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        if q < 2:
            return np.full(sums.shape[:-1], np.nan)
        shares = label_shares(sums)
        return beyond_chance(agreement(sums), (shares * (1 - shares)).sum(axis=-1) / (q - 1))

    n = int(terms[:, 1].sum())
    return Coefficient("ac1", terms, ac1, n, why_undefined(n))
