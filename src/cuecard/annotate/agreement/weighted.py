"""Agreement where labels lie on a scale: weighted kappa and Gwet's AC2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.annotate.agreement.coefficient import Coefficient, beyond_chance, ratio
from cuecard.annotate.agreement.kappa import contingency, label_shares, why_undefined
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.annotate.agreement.statistic import Statistic
from cuecard.annotate.agreement.weights import Weighting, agreement_weights
from cuecard.core.i18n import _

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def weighted_kappa(ratings: Ratings, weighting: Weighting = "linear") -> Statistic:
    """Cohen (1968): kappa with partial credit for labels that are near each other on their scale, in the
    order of `ratings.labels` and by their values where they are numbers. Exactly two raters.
    """
    return weighted_kappa_coefficient(ratings, weighting).statistic


def weighted_kappa_coefficient(ratings: Ratings, weighting: Weighting = "linear") -> Coefficient:
    """`weighted_kappa` as a function of sums: the cells of the contingency table."""
    size = len(ratings.labels)
    weights = agreement_weights(ratings, weighting)
    terms, two = contingency(ratings)

    def kappa(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        cells = sums.reshape(*sums.shape[:-1], size, size)
        n = sums.sum(axis=-1)
        rows, columns = cells.sum(axis=-1), cells.sum(axis=-2)
        observed = ratio((cells * weights).sum(axis=(-1, -2)), n)
        return beyond_chance(observed, ratio(((rows @ weights) * columns).sum(axis=-1), n * n))

    n = int(terms.sum())
    why = why_undefined(n) if two else _("not exactly two raters")
    return Coefficient(f"kappa_{weighting}", terms, kappa, n, why)


def gwet_ac2(ratings: Ratings, weighting: Weighting = "quadratic") -> Statistic:
    """Gwet (Handbook, 4th ed., ch. 3 and 5): AC1 with partial credit; p_a from weighted pairs,
    p_e = T / (q (q - 1)) times the sum of pi_k (1 - pi_k), T the sum of all weights. With identity weights
    it is AC1.
    """
    return ac2_coefficient(ratings, weighting).statistic


def ac2_coefficient(ratings: Ratings, weighting: Weighting = "quadratic") -> Coefficient:
    """`gwet_ac2` as a function of sums."""
    import numpy as np

    q = len(ratings.labels)
    weights = agreement_weights(ratings, weighting)
    counts = ratings.counts
    raters = counts.sum(axis=1)
    paired, rated = raters >= 2, raters > 0
    near = (counts * (counts @ weights - 1)).sum(axis=1) / np.where(
        paired, raters * (raters - 1), 1
    )
    terms = np.column_stack(
        [
            np.where(paired, near, 0.0),
            paired.astype(float),
            counts / np.where(rated, raters, 1.0)[:, None],
            rated.astype(float),
        ]
    )

    def ac2(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        if q < 2:
            return np.full(sums.shape[:-1], np.nan)
        shares = label_shares(sums)
        chance = weights.sum() / (q * (q - 1)) * (shares * (1 - shares)).sum(axis=-1)
        return beyond_chance(ratio(sums[..., 0], sums[..., 1]), chance)

    n = int(paired.sum())
    return Coefficient(f"ac2_{weighting}", terms, ac2, n, why_undefined(n))
