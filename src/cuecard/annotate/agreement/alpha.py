"""Krippendorff's alpha, for labels of any level of measurement, any number of raters, with gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.annotate.agreement.coefficient import Coefficient, ratio
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.annotate.agreement.statistic import Statistic
from cuecard.annotate.agreement.weights import Level, squared_distances
from cuecard.core.i18n import _

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cuecard.annotate.agreement.coefficient import Of


def krippendorff_alpha(ratings: Ratings, level: Level = "nominal") -> Statistic:
    """Krippendorff (2011), "Computing Krippendorff's alpha-reliability": 1 - D_o / D_e, with the observed
    disagreement over pairs of ratings within items and the expected over all pairs. Items with a single
    rating tell of no pair and are left out. Labels are in the order of `ratings.labels` for ordinal data;
    interval and ratio data take them as numbers (`CuecardError` where they are none).
    """
    return alpha_coefficient(ratings, level).statistic


def alpha_coefficient(ratings: Ratings, level: Level = "nominal") -> Coefficient:
    """`krippendorff_alpha` as a function of sums."""
    import numpy as np

    counts = ratings.counts
    raters = counts.sum(axis=1)
    paired = raters >= 2
    counts = np.where(paired[:, None], counts, 0.0)
    others = np.where(paired, raters - 1, 1.0)
    name = "alpha" if level == "nominal" else f"alpha_{level}"
    n = int(paired.sum())
    why = _("only one category used") if n else _("no item has two ratings")
    if level == "ordinal":
        pairs = _coincidences(counts, others)
        return Coefficient(name, pairs, _ordinal(len(ratings.labels)), n, why)
    distances = squared_distances(ratings, level)
    # The diagonal is 0, so a rating's pair with itself adds nothing.
    observed = ((counts @ distances) * counts).sum(axis=1) / others

    def alpha(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        marginals = sums[..., 1:]
        expected = ((marginals @ distances) * marginals).sum(axis=-1)
        return 1 - ratio(sums[..., 0] * (marginals.sum(axis=-1) - 1), expected)

    return Coefficient(name, np.column_stack([observed, counts]), alpha, n, why)


def _coincidences(counts: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Items x labels squared: each pair of an item's ratings, by what they say."""
    items, size = counts.shape
    pairs = counts[:, :, None] * counts[:, None, :] / others[:, None, None]
    for code in range(size):
        pairs[:, code, code] = counts[:, code] * (counts[:, code] - 1) / others
    return pairs.reshape(items, size * size)


def _ordinal(size: int) -> Of:
    import numpy as np

    def alpha(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        pairs = sums.reshape(*sums.shape[:-1], size, size)
        marginals = pairs.sum(axis=-1)
        # The ordinal difference of two labels is the difference of their mid-ranks.
        ranks = np.cumsum(marginals, axis=-1) - marginals / 2
        apart = (ranks[..., :, None] - ranks[..., None, :]) ** 2
        observed = (pairs * apart).sum(axis=(-1, -2))
        expected = (marginals[..., :, None] * marginals[..., None, :] * apart).sum(axis=(-1, -2))
        return 1 - ratio(observed * (marginals.sum(axis=-1) - 1), expected)

    return alpha
