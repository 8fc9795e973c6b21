"""Agreement of labels on a scale: weights, weighted kappa, Gwet's AC2 and Krippendorff's alpha."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cuecard.annotate.agreement.coefficients import contingency, label_shares, why_undefined
from cuecard.annotate.agreement.ratings import Ratings, as_numbers
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _, listed
from cuecard.core.tables.table import Coefficient, beyond_chance, ratio

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cuecard.core.tables.table import Of


Level = Literal["nominal", "ordinal", "interval", "ratio"]
Weighting = Literal["identity", "linear", "quadratic", "ordinal"]


def values_of(ratings: Ratings) -> NDArray[np.float64]:
    """The labels as numbers: their own values if all are numbers, else 1, 2, 3… in order."""
    import numpy as np

    numbers = as_numbers(ratings.labels)
    if numbers is None:
        return np.arange(1.0, len(ratings.labels) + 1)
    return np.array(list(numbers.values()))


def numbers_of(ratings: Ratings) -> NDArray[np.float64]:
    """The labels as numbers, for distances. Raises `CuecardError` if one is no number."""
    import numpy as np

    numbers = as_numbers(ratings.labels)
    if numbers is None:
        raise CuecardError(
            _("These labels are not numbers"),
            listed(label for label in ratings.labels if as_numbers([label]) is None),
            _("Interval and ratio scales need numbers; use nominal or ordinal."),
        )
    return np.array(list(numbers.values()))


def agreement_weights(ratings: Ratings, weighting: Weighting) -> NDArray[np.float64]:
    """Labels x labels, 1 on the diagonal: how far a pair of labels counts as agreement.

    Linear and quadratic as Cohen (1968) with the labels' values, ordinal as Gwet (Handbook, 4th ed.,
    ch. 3.5): by the number of pairs of labels between them.
    """
    import numpy as np

    size = len(ratings.labels)
    if weighting == "identity" or size < 2:
        return np.eye(size)
    if weighting == "ordinal":
        places = np.arange(size)
        between = np.abs(places[:, None] - places[None, :]) + 1
        pairs = between * (between - 1) / 2
        return 1 - pairs / pairs.max()
    values = values_of(ratings)
    spread = float(np.ptp(values))
    if not spread:
        return np.ones((size, size))
    apart = np.abs(values[:, None] - values[None, :]) / spread
    return 1 - (apart if weighting == "linear" else apart**2)


def squared_distances(ratings: Ratings, level: Level) -> NDArray[np.float64]:
    """Labels x labels, 0 on the diagonal: Krippendorff's squared difference function (2011) for nominal,
    interval and ratio data; ordinal ones depend on the ratings. Raises `CuecardError` for labels that
    are no numbers, and on a ratio scale negative.
    """
    import numpy as np

    size = len(ratings.labels)
    if level == "nominal":
        return 1 - np.eye(size)
    values = numbers_of(ratings)
    apart = values[:, None] - values[None, :]
    if level == "interval":
        return apart**2
    if (values < 0).any():
        raise CuecardError(
            _("A ratio scale has no negative values"), _("Use the interval scale instead.")
        )
    sums = values[:, None] + values[None, :]
    return np.where(sums > 0, apart / np.where(sums > 0, sums, 1), 0) ** 2


def weighted_kappa_coefficient(ratings: Ratings, weighting: Weighting = "linear") -> Coefficient:
    """Cohen (1968): kappa with partial credit for labels that are near each other on their scale, in the
    order of `ratings.labels` and by their values where they are numbers. Exactly two raters.
    Its terms are the cells of the contingency table.
    """
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


def ac2_coefficient(ratings: Ratings, weighting: Weighting = "quadratic") -> Coefficient:
    """Gwet (Handbook, 4th ed., ch. 3 and 5): AC1 with partial credit; p_a from weighted pairs,
    p_e = T / (q (q - 1)) times the sum of pi_k (1 - pi_k), T the sum of all weights. With identity weights
    it is AC1.
    """
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


def alpha_coefficient(ratings: Ratings, level: Level = "nominal") -> Coefficient:
    """Krippendorff (2011), "Computing Krippendorff's alpha-reliability": 1 - D_o / D_e, with the observed
    disagreement over pairs of ratings within items and the expected over all pairs. Items with a single
    rating tell of no pair and are left out. Labels are in the order of `ratings.labels` for ordinal data;
    interval and ratio data take them as numbers (`CuecardError` where they are none).
    """
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
