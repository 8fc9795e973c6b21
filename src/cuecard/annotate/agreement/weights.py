"""How much two labels differ: weights of agreement and squared distances, for labels on a scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from cuecard.annotate.agreement.ratings import Ratings, as_numbers
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = get_args(Level)
Weighting = Literal["identity", "linear", "quadratic", "ordinal"]
WEIGHTINGS: tuple[Weighting, ...] = get_args(Weighting)


def values_of(ratings: Ratings) -> NDArray[np.float64]:
    """The labels as numbers: what they say if all are numbers, else their places from 1."""
    import numpy as np

    numbers = as_numbers(ratings.labels)
    if numbers is None:
        return np.arange(1.0, len(ratings.labels) + 1)
    return np.array(list(numbers.values()))


def numbers_of(ratings: Ratings) -> NDArray[np.float64]:
    """The labels as numbers. Raises `CuecardError` where one is none: distances need them."""
    import numpy as np

    numbers = as_numbers(ratings.labels)
    if numbers is None:
        raise CuecardError(
            _("These labels are not numbers"),
            ", ".join(label for label in ratings.labels if as_numbers([label]) is None),
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
