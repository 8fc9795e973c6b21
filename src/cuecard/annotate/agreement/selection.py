"""Which coefficients a table shows, by number of raters and level of measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.annotate.agreement.ac1 import ac1_coefficient
from cuecard.annotate.agreement.alpha import alpha_coefficient
from cuecard.annotate.agreement.chance import brennan_prediger_coefficient, scott_coefficient
from cuecard.annotate.agreement.coefficient import Coefficient, ratio
from cuecard.annotate.agreement.kappa import cohen_coefficient, fleiss_coefficient
from cuecard.annotate.agreement.percent import percent_coefficient
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.annotate.agreement.weighted import ac2_coefficient, weighted_kappa_coefficient
from cuecard.annotate.agreement.weights import Level, Weighting
from cuecard.core.i18n import _

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def overall_coefficients(ratings: Ratings, level: Level = "nominal") -> tuple[Coefficient, ...]:
    """`percent`, `cohen_kappa`, `scott_pi`, `fleiss_kappa`, `brennan_prediger`, `ac1`, `alpha`; on a scale
    also `kappa_linear`, `kappa_quadratic`, `ac2_ordinal` or `ac2_quadratic`, and `alpha_LEVEL`. Those for
    two raters are undefined, with the reason, for more.

    Raises `CuecardError` for labels that do not fit the level.
    """
    found = (
        percent_coefficient(ratings),
        cohen_coefficient(ratings),
        scott_coefficient(ratings),
        fleiss_coefficient(ratings),
        brennan_prediger_coefficient(ratings),
        ac1_coefficient(ratings),
        alpha_coefficient(ratings),
    )
    if level == "nominal":
        return found
    credit: Weighting = "ordinal" if level == "ordinal" else "quadratic"
    return (
        *found,
        weighted_kappa_coefficient(ratings, "linear"),
        weighted_kappa_coefficient(ratings, "quadratic"),
        ac2_coefficient(ratings, credit),
        alpha_coefficient(ratings, level),
    )


def short_coefficients(ratings: Ratings) -> tuple[Coefficient, Coefficient, Coefficient]:
    """`percent`, `cohen_kappa`, `ac1`: what stands in a line where there is room for little."""
    return percent_coefficient(ratings), cohen_coefficient(ratings), ac1_coefficient(ratings)


def specific_coefficients(ratings: Ratings) -> tuple[Coefficient, ...]:
    """For each label `specific:L`: of the pairs of ratings of an item of which at least one is L, counted
    by their ratings, the share that agree (Cicchetti & Feinstein 1990; for more raters and gaps, each
    item's pairs are spread over its ratings). For two raters it is the F1 of the label.
    """
    counts = ratings.counts
    raters = counts.sum(axis=1)
    return tuple(
        _specific(counts[:, code], raters, label) for code, label in enumerate(ratings.labels)
    )


def _specific(given: NDArray[np.float64], raters: NDArray[np.float64], label: str) -> Coefficient:
    import numpy as np

    paired = raters >= 2
    same = given * (given - 1) / np.where(paired, raters - 1, 1)
    terms = np.where(paired[:, None], np.column_stack([same, given]), 0.0)
    return Coefficient(
        f"specific:{label}",
        terms,
        lambda sums: ratio(sums[..., 0], sums[..., 1]),
        int((terms[:, 1] > 0).sum()),
        _("nobody gave this label"),
        bounds=(0.0, 1.0),
    )
