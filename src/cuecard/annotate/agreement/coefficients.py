"""Agreement of nominal labels: percent agreement, Cohen's and Fleiss' kappa, Scott's pi, Brennan-Prediger, Gwet's AC1, the overlap of sets, and differences of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.ratings import MISSING, Ratings
from cuecard.core.i18n import _
from cuecard.core.tables.table import Coefficient, beyond_chance, quotient, ratio

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def difference(one: Coefficient, other: Coefficient) -> Coefficient:
    """`one` minus `other`, as a coefficient over the same items. Resamples draw the same items for both (a paired
    bootstrap), so that what they have in common does not widen the interval.

    Raises `ValueError` if they are not over the same items.
    """
    import numpy as np

    if len(one.terms) != len(other.terms):
        raise ValueError("not over the same items")
    width = one.terms.shape[1]

    def apart(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return one.of(sums[..., :width]) - other.of(sums[..., width:])

    return Coefficient(
        name=f"{one.name}-{other.name}",
        terms=np.hstack([one.terms, other.terms]),
        of=apart,
        n=min(one.n, other.n),
        undefined=one.statistic.reason or other.statistic.reason or _("nothing to compare"),
        bounds=(one.bounds[0] - other.bounds[1], one.bounds[1] - other.bounds[0]),
        entered=min((c.entered for c in (one, other) if c.entered is not None), default=None),
    )


def mean_of(parts: Sequence[Coefficient]) -> Coefficient:
    """The mean of those of the coefficients that are defined, such as of several pairs of raters. `n` is the largest of
    theirs.

    Raises `ValueError` for none, or if they are not over the same items.
    """
    import numpy as np

    if len({len(part.terms) for part in parts}) != 1:
        raise ValueError("not over the same items")
    # A pair without a value in the sample would come and go with the resamples.
    known = [part for part in parts if part.statistic.defined]
    used = known or list(parts)
    ends = np.cumsum([part.terms.shape[1] for part in used])[:-1]

    def mean(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        split = np.split(sums, ends, axis=-1)
        return np.mean([part.of(own) for part, own in zip(used, split, strict=True)], axis=0)

    return Coefficient(
        name=used[0].name,
        terms=np.hstack([part.terms for part in used]),
        of=mean,
        n=max(part.n for part in used),
        undefined=used[0].undefined,
        bounds=used[0].bounds,
    )


def percent_coefficient(ratings: Ratings) -> Coefficient:
    """The share of agreeing pairs of raters, 0 to 1: per item over its pairs, then the mean over
    items with at least two ratings (Fleiss 1971, the mean of P_i; for two raters the plain share
    of items on which they agree).
    """
    terms = agreeing(ratings.counts)
    return Coefficient(
        name="percent",
        terms=terms,
        of=quotient,
        n=int(terms[:, 1].sum()),
        undefined=_("no item has two ratings"),
        share=True,
        bounds=(0.0, 1.0),
    )


def agreeing(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Items x 2, from `counts` (items x labels): the share of agreeing pairs of ratings, and 1; both 0 for an item with
    fewer than two ratings.
    """
    import numpy as np

    raters = counts.sum(axis=1)
    paired = raters >= 2
    pairs = np.where(paired, raters * (raters - 1), 1.0)
    shares = (counts * (counts - 1)).sum(axis=1) / pairs
    return np.stack([np.where(paired, shares, 0.0), paired.astype(float)], axis=1)


def cohen_coefficient(ratings: Ratings) -> Coefficient:
    """Cohen (1960), unweighted: (p_o - p_e) / (1 - p_e) with p_e from each rater's own marginals,
    over the items that both rated. Defined for exactly two raters.
    Its terms are the cells of the contingency table.
    """
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
    """Fleiss (1971): (P - P_e) / (1 - P_e), P_e from the pooled shares of the labels.

    Fleiss asks for the same number of ratings on every item. Where ratings are missing, the
    generalisation of Gwet (Handbook of Inter-Rater Reliability, 4th ed., ch. 2.4) is used: P over the
    items with at least two ratings, each item's agreement over its own pairs; each label's share as the
    mean over all rated items of its share among the item's ratings. With a constant number of ratings
    this is exactly Fleiss' kappa.
    """
    terms = agreement_and_shares(ratings)

    def kappa(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return beyond_chance(agreement(sums), (label_shares(sums) ** 2).sum(axis=-1))

    n = int(terms[:, 1].sum())
    return Coefficient("fleiss_kappa", terms, kappa, n, why_undefined(n))


def contingency(ratings: Ratings) -> tuple[NDArray[np.float64], bool]:
    """Items x labels²: for each item, 1 in the cell of the first rater's label (rows) and the second's, if both gave
    one. And whether there are exactly two raters; otherwise all is 0.
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
    """The reason, translated, why kappa of `n` items is undefined."""
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


def scott_coefficient(ratings: Ratings) -> Coefficient:
    """Scott (1955): as Cohen's kappa, with both raters' marginals pooled. Exactly two raters; for more,
    Fleiss' kappa is its generalisation.
    Its terms are the cells of the contingency table.
    """
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


def brennan_prediger_coefficient(ratings: Ratings) -> Coefficient:
    """Brennan & Prediger (1981): (p_a - 1/q) / (1 - 1/q) over the q labels that could be given, used or
    not. With two labels it is PABAK (Byrt, Bishop & Carlin 1993), 2 p_a - 1.
    """
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


def ac1_coefficient(ratings: Ratings) -> Coefficient:
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


def set_agreement(counts: Sequence[tuple[int, int, int]]) -> tuple[Coefficient, ...]:
    """`precision`, `recall` and `f1` of first sets against second ones, pooled. `counts`, for each pair of sets
    (a task's two golds): how many elements mean the same, how many the first has, and the second. F1 does
    not depend on which of them is the reference (Hripcsak & Rothschild 2005, who show that kappa comes near
    it as what neither took grows without end; kappa itself is not defined here).

    Each row of the terms is a pair of sets, so that resampling draws tasks.
    """
    import numpy as np

    terms = np.array(counts, dtype=float).reshape(len(counts), 3)

    def recall(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return ratio(sums[..., 0], sums[..., 2])

    def f1(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return ratio(2 * sums[..., 0], sums[..., 1] + sums[..., 2])

    n = int(terms[:, 1:].sum() - terms[:, 0].sum()) if len(terms) else 0
    empty = _("both sets are empty")
    return (
        Coefficient("precision", terms, quotient, n, _("the first set is empty")),
        Coefficient("recall", terms, recall, n, _("the second set is empty")),
        Coefficient("f1", terms, f1, n, empty),
    )
