"""Coefficients that differ from kappa in what they take for chance: Scott's pi and Brennan-Prediger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.annotate.agreement.coefficient import Coefficient, beyond_chance, ratio
from cuecard.annotate.agreement.kappa import contingency, why_undefined
from cuecard.annotate.agreement.percent import agreeing
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.annotate.agreement.statistic import Statistic
from cuecard.core.i18n import _

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def scott_pi(ratings: Ratings) -> Statistic:
    """Scott (1955): as Cohen's kappa, with both raters' marginals pooled. Exactly two raters; for more,
    Fleiss' kappa is its generalisation.
    """
    return scott_coefficient(ratings).statistic


def scott_coefficient(ratings: Ratings) -> Coefficient:
    """`scott_pi` as a function of sums: the cells of the contingency table."""
    import numpy as np

    size = len(ratings.labels)
    terms, two = contingency(ratings)

    def pi(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        cells = sums.reshape(*sums.shape[:-1], size, size)
        n = sums.sum(axis=-1)
        shares = ratio(cells.sum(axis=-1) + cells.sum(axis=-2), 2 * n[..., None])
        observed = ratio(np.trace(cells, axis1=-2, axis2=-1), n)
        return beyond_chance(observed, (shares**2).sum(axis=-1))

    n = int(terms.sum())
    why = why_undefined(n) if two else _("not exactly two raters")
    return Coefficient("scott_pi", terms, pi, n, why)


def brennan_prediger(ratings: Ratings) -> Statistic:
    """Brennan & Prediger (1981): (p_a - 1/q) / (1 - 1/q) over the q labels that could be given, used or
    not. With two labels it is PABAK (Byrt, Bishop & Carlin 1993), 2 p_a - 1.
    """
    return brennan_prediger_coefficient(ratings).statistic


def brennan_prediger_coefficient(ratings: Ratings) -> Coefficient:
    """`brennan_prediger` as a function of sums."""
    import numpy as np

    q = len(ratings.labels)
    terms = agreeing(ratings.counts)

    def coefficient(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        if q < 2:
            return np.full(sums.shape[:-1], np.nan)
        observed = ratio(sums[..., 0], sums[..., 1])
        return beyond_chance(observed, np.full_like(observed, 1 / q))

    n = int(terms[:, 1].sum())
    return Coefficient(
        "brennan_prediger",
        terms,
        coefficient,
        n,
        _("only one label is possible") if n else _("no item has two ratings"),
    )
