"""Intervals by resampling groups of items, such as the tasks that the items belong to."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

from cuecard.annotate.agreement.coefficient import Coefficient
from cuecard.annotate.agreement.linearised import influences
from cuecard.annotate.agreement.statistic import Statistic
from cuecard.annotate.agreement.student import t_quantile
from cuecard.core.i18n import _

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Tails = Callable[[NDArray[np.float64], float, int], tuple[float, float]]

Method = Literal["percentile", "bca"]
RESAMPLES = 2000
LEVEL = 0.95
FEWEST_GROUPS = 5
"""With fewer there are not enough different resamples for the ends of an interval."""
MOST_UNDEFINED = 0.05
"""Share of resamples without a value beyond which those that have one no longer tell of all."""
_DIGITS = 10
_CHUNK = 4_000_000
_Z95 = 1.959963984540054


def with_intervals(
    coefficients: Sequence[Coefficient],
    groups: Sequence[Hashable] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    method: Method = "percentile",
) -> tuple[Statistic, ...]:
    """The coefficients' values with 95% intervals: percentile (Efron & Tibshirani 1993, ch. 13), or bias
    corrected and accelerated (ch. 14.3), with the acceleration from the groups' influences. Both reach
    further by what few groups hide (`reach`).

    `groups` names each item's group, whose items are drawn together (Field & Welsh 2007, the cluster
    bootstrap); None: each item is its own. All coefficients are over the same items and see the same
    resamples. The same seed and data give the same interval, in whatever order the items come.

    There is no interval, and `no_interval` says why, with fewer than `FEWEST_GROUPS` groups, when too
    many resamples are undefined, and when no resample differs from the others. Only a share that is the
    same in every one of two groups and more, which resampling cannot judge, gets Wilson's (1927) interval on
    the number of groups: the cautious reading, in which the items of a group are one observation.

    Raises `ValueError` if the coefficients or groups are not over the same items.
    """
    import numpy as np

    if not coefficients:
        return ()
    rows = {len(coefficient.terms) for coefficient in coefficients}
    rows |= set() if groups is None else {len(groups)}
    if len(rows) > 1:
        raise ValueError("not over the same items")
    sums = _sums_by_group(np.hstack([c.terms for c in coefficients]), groups)
    # Column by column in memory: values are computed from a few columns over all resamples.
    drawn = np.asfortranarray(np.vstack(list(_resampled(sums, resamples, seed)) or [sums]))
    found: list[Statistic] = []
    at = 0
    for coefficient in coefficients:
        own = slice(at, at := at + coefficient.terms.shape[1])
        count = coefficient.entered
        if count is None:
            count = int((sums[:, own] != 0).any(axis=1).sum())
        tails = _plain if method == "percentile" else _corrected(coefficient, groups)
        found.append(_with_interval(coefficient, count, drawn[:, own], tails))
    return tuple(found)


def resampled_values(
    coefficients: Sequence[Coefficient],
    groups: Sequence[Hashable] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Resamples x coefficients: what each resample of the groups (`with_intervals`) makes of every
    coefficient, NaN where that is undefined; for what is told of several of them in the same resample.
    """
    import numpy as np

    if not coefficients:
        return np.empty((0, 0))
    sums = _sums_by_group(np.hstack([c.terms for c in coefficients]), groups)
    drawn = np.vstack(list(_resampled(sums, resamples, seed)) or [sums])
    ends = np.cumsum([c.terms.shape[1] for c in coefficients])
    parts = np.split(drawn, ends[:-1], axis=1)
    return np.stack([c.of(part) for c, part in zip(coefficients, parts, strict=True)], axis=1)


def wilson(value: float, n: int) -> tuple[float, float]:
    """The 95% score interval of a share of `n` > 0 independent observations (Wilson 1927)."""
    spread = _Z95 * _Z95 / n
    middle = (value + spread / 2) / (1 + spread)
    half = _Z95 * sqrt(value * (1 - value) / n + spread / (4 * n)) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def reach(groups: int) -> float:
    """How many standard errors of the resamples' spread 95% intervals reach to either side, for 2 groups and
    more: Student's t instead of the normal quantile, and the root of n / (n - 1), by which resamples of n
    groups vary too little (Hesterberg 2015, the expanded percentile interval).
    """
    return t_quantile((1 + LEVEL) / 2, groups - 1) * sqrt(groups / (groups - 1))


def _plain(_values: NDArray[np.float64], _point: float, groups: int) -> tuple[float, float]:
    tail = NormalDist().cdf(-reach(groups))
    return tail, 1 - tail


def _corrected(coefficient: Coefficient, groups: Sequence[Hashable] | None) -> Tails:
    """Where the ends of a BCa interval lie among the resamples."""

    def tails(values: NDArray[np.float64], point: float, count: int) -> tuple[float, float]:
        normal = NormalDist()
        # Values equal to the point count half: coefficients of few labels take few values.
        below = float((values < point).mean() + (values == point).mean() / 2)
        moved = influences(coefficient, groups)
        if not 0 < below < 1 or moved is None:
            return _plain(values, point, count)
        bias = normal.inv_cdf(below)
        spread = float((moved**2).sum()) ** 1.5
        speed = float((moved**3).sum()) / (6 * spread) if spread else 0.0

        def place(z: float) -> float:
            shifted = bias + z
            return normal.cdf(bias + shifted / max(1 - speed * shifted, 1e-6))

        return place(-reach(count)), place(reach(count))

    return tails


def _with_interval(
    coefficient: Coefficient, groups: int, drawn: NDArray[np.float64], tails: Tails
) -> Statistic:
    point = coefficient.statistic
    if point.value is None:
        return point
    if groups < FEWEST_GROUPS and not coefficient.share:
        return _without(point, _too_few())
    return with_ends(point, coefficient.of(drawn), groups, share=coefficient.share, tails=tails)


def with_ends(
    point: Statistic,
    values: NDArray[np.float64],
    groups: int,
    *,
    share: bool = False,
    tails: Tails | None = None,
) -> Statistic:
    """The defined value with the interval that its `values` in resamples of so many groups give (NaN where
    undefined), or with why there is none, as `with_intervals` says; for statistics that are no functions of
    sums. `share`: it is a share, so that Wilson's interval stands in where no group differs.
    """
    import numpy as np

    if point.value is None:
        return point
    few = groups < FEWEST_GROUPS
    known = values[~np.isnan(values)]
    constant = len(known) > 0 and float(np.ptp(known)) < 10**-_DIGITS
    if share and constant and groups > 1:
        low, high = wilson(point.value, groups)
    elif few:
        return _without(point, _too_few())
    elif len(known) < (1 - MOST_UNDEFINED) * len(values):
        return _without(point, _("undefined in many resamples"))
    elif constant:
        return _without(point, _("no resample differs"))
    else:
        # The k-th of n resamples has k / (n + 1) of what could be drawn below it.
        shares = (tails or _plain)(known, point.value, groups)
        low, high = map(float, np.quantile(known, shares, method="weibull"))
    return point.model_copy(update={"low": low, "high": high})


def drawn_groups(groups: int, *, resamples: int = RESAMPLES, seed: int = 0) -> NDArray[np.float64]:
    """Resamples x groups: how often each of the groups was drawn, with replacement, as many as there are."""
    import numpy as np

    rng = np.random.default_rng(seed)
    return rng.multinomial(groups, np.full(groups, 1 / groups), size=resamples).astype(float)


def _too_few() -> str:
    return _("fewer than {n} groups").format(n=FEWEST_GROUPS)


def _without(point: Statistic, why: str) -> Statistic:
    return point.model_copy(update={"no_interval": why})


def _sums_by_group(
    terms: NDArray[np.float64], groups: Sequence[Hashable] | None
) -> NDArray[np.float64]:
    """Groups x terms, without groups that add nothing, in an order that follows from the sums alone."""
    import numpy as np

    if groups is not None:
        index: dict[Hashable, int] = {}
        codes = np.array([index.setdefault(group, len(index)) for group in groups], dtype=np.int64)
        sums = np.zeros((len(index), terms.shape[1]))
        np.add.at(sums, codes, terms)
        terms = sums
    terms = np.round(terms[(terms != 0).any(axis=1)], _DIGITS)
    return terms[np.lexsort(terms.T)] if terms.size else terms


def _resampled(
    sums: NDArray[np.float64], resamples: int, seed: int
) -> Iterator[NDArray[np.float64]]:
    """Blocks of resamples x terms: sums over as many groups as there are, drawn with replacement."""
    import numpy as np

    rng = np.random.default_rng(seed)
    count = len(sums)
    if not count:
        return
    starts = np.flatnonzero(np.r_[True, (sums[1:] != sums[:-1]).any(axis=1)])
    kinds, times = sums[starts], np.diff(np.r_[starts, count])
    few = len(kinds) * 8 < count
    block = max(1, _CHUNK // (len(kinds) if few else count))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        if few:
            # Groups that add the same are drawn as one kind.
            yield rng.multinomial(count, times / count, size=size) @ kinds
            continue
        chosen = rng.integers(count, size=(size, count))
        chosen += np.arange(size)[:, None] * count
        weights = np.bincount(chosen.ravel(), minlength=size * count)
        yield weights.reshape(size, count).astype(float) @ sums
