"""Agreement beyond chance: Cohen's and Fleiss' kappa for nominal labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.annotate.agreement.coefficient import Coefficient, beyond_chance, ratio
from cuecard.annotate.agreement.percent import agreeing
from cuecard.annotate.agreement.ratings import MISSING, Ratings
from cuecard.annotate.agreement.statistic import Statistic
from cuecard.core.i18n import _

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def cohen_kappa(ratings: Ratings) -> Statistic:
    """Cohen (1960), unweighted: (p_o - p_e) / (1 - p_e) with p_e from each rater's own marginals,
    over the items that both rated. Defined for exactly two raters.
    """
    return cohen_coefficient(ratings).statistic


def fleiss_kappa(ratings: Ratings) -> Statistic:
    """Fleiss (1971): (P - P_e) / (1 - P_e), P_e from the pooled shares of the labels.

    Fleiss asks for the same number of ratings on every item. Where ratings are missing, the
    generalisation of Gwet (Handbook of Inter-Rater Reliability, 4th ed., ch. 2.4) is used: P over the
    items with at least two ratings, each item's agreement over its own pairs; each label's share as the
    mean over all rated items of its share among the item's ratings. With a constant number of ratings
    this is exactly Fleiss' kappa.
    """
    return fleiss_coefficient(ratings).statistic


def cohen_coefficient(ratings: Ratings) -> Coefficient:
    """`cohen_kappa` as a function of sums: the cells of the contingency table."""
    import numpy as np

    size = len(ratings.labels)
    terms, two = contingency(ratings)

    def kappa(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        cells = sums.reshape(*sums.shape[:-1], size, size)
        n = sums.sum(axis=-1)
        chance = (cells.sum(axis=-1) * cells.sum(axis=-2)).sum(axis=-1)
        observed = ratio(np.trace(cells, axis1=-2, axis2=-1), n)
        return beyond_chance(observed, ratio(chance, n * n))

    n = int(terms.sum())
    return Coefficient(
        name="cohen_kappa",
        terms=terms,
        of=kappa,
        n=n,
        undefined=_("not exactly two raters") if not two else why_undefined(n),
    )


def fleiss_coefficient(ratings: Ratings) -> Coefficient:
    """`fleiss_kappa` as a function of sums."""
    terms = agreement_and_shares(ratings)

    def kappa(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return beyond_chance(agreement(sums), (label_shares(sums) ** 2).sum(axis=-1))

    n = int(terms[:, 1].sum())
    return Coefficient("fleiss_kappa", terms, kappa, n, why_undefined(n))


def contingency(ratings: Ratings) -> tuple[NDArray[np.float64], bool]:
    """Items x labels squared: 1 in the cell of the first rater's label (rows) and the second's, where both
    gave one; and whether there are exactly two raters, without whom all is 0.
    """
    import numpy as np

    size = len(ratings.labels)
    terms = np.zeros((len(ratings.items), size * size))
    if len(ratings.raters) != 2:
        return terms, False
    left, right = ratings.table.T
    both = np.flatnonzero((left != MISSING) & (right != MISSING))
    terms[both, left[both] * size + right[both]] = 1
    return terms, True


def why_undefined(n: int) -> str:
    """Why kappa of `n` items has no value."""
    return _("only one category used") if n else _("no item has two ratings")


def agreement_and_shares(ratings: Ratings) -> NDArray[np.float64]:
    """Items x (2 + labels + 1): `agreeing`, each label's share among the item's ratings, and 1 where it
    has any.
    """
    import numpy as np

    counts = ratings.counts
    raters = counts.sum(axis=1, keepdims=True)
    rated = raters > 0
    shares = counts / np.where(rated, raters, 1.0)
    return np.hstack([agreeing(counts), shares, rated.astype(float)])


def agreement(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Observed agreement from sums of `agreement_and_shares`."""
    return ratio(sums[..., 0], sums[..., 1])


def label_shares(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """The labels' mean shares from sums of `agreement_and_shares`."""
    return ratio(sums[..., 2:-1], sums[..., -1:])
