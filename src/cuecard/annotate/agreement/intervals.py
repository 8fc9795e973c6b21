"""Confidence intervals by resampling groups of items."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

from cuecard.annotate.agreement.linearisation import influences, t_quantile
from cuecard.core.i18n import _, current_language
from cuecard.core.tables.table import Coefficient, Statistic, quotient

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Tails = Callable[[NDArray[np.float64], float, int], tuple[float, float]]

Method = Literal["percentile", "bca"]
RESAMPLES = 2000
LEVEL = 0.95
FEWEST_GROUPS = 5
"""With fewer groups there are too few different resamples for an interval."""
MOST_UNDEFINED = 0.05
"""If a larger share of resamples is undefined, there is no interval."""
_DIGITS = 10
_CHUNK = 4_000_000
_SMALL, _LARGE = 2000, 20_000
_MOST_KNOWN = 4096
_KNOWN: dict[object, Statistic] = {}
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
    if len(coefficients) == 1 and method == "percentile":
        return each_with_interval(coefficients, groups, resamples=resamples, seed=seed)
    sums = _sums_by_group(np.hstack([c.terms for c in coefficients]), groups)
    drawn: NDArray[np.float64] | None = None
    found: list[Statistic] = []
    at = 0
    for coefficient in coefficients:
        own = slice(at, at := at + coefficient.terms.shape[1])
        point, count, varies = _point(coefficient, sums[:, own])
        if varies:
            if drawn is None:
                # Column by column in memory: values are computed from a few columns over all resamples.
                drawn = np.asfortranarray(
                    np.vstack(list(_resampled(sums, resamples, seed)) or [sums])
                )
            tails = _plain if method == "percentile" else _corrected(coefficient, groups)
            values = coefficient.of(drawn[:, own])
            point = with_ends(point, values, count, share=coefficient.share, tails=tails)
        found.append(point)
    return tuple(found)


def each_with_interval(
    coefficients: Sequence[Coefficient],
    groups: Sequence[Hashable] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[Statistic, ...]:
    """`with_intervals` of each coefficient by itself, in a fraction of the time: what is over equally many groups is
    resampled at once, and the same ratio, which stands in several tables, plots and comparisons, only once.
    """
    found: list[Statistic] = []
    waiting: dict[int, tuple[NDArray[np.float64], int, object]] = {}
    for at, one in enumerate(coefficients):
        sums = _sums_by_group(one.terms, groups)
        known: object = None
        if one.of is quotient:
            data = blake2b(sums.tobytes(), digest_size=16).digest()
            told = one.statistic, one.share, one.entered, resamples, seed, current_language()
            known = (data, *told)
        point = _KNOWN.get(known)
        if point is None:
            point, count, varies = _point(one, sums)
            if varies:
                waiting[at] = sums, count, known
        found.append(point)
    drawn = _resampled_each([sums for sums, _count, _known in waiting.values()], resamples, seed)
    for (at, (_sums, count, known)), own in zip(waiting.items(), drawn, strict=True):
        one = coefficients[at]
        found[at] = with_ends(found[at], one.of(own), count, share=one.share, tails=_plain)
        if known is not None:
            if len(_KNOWN) >= _MOST_KNOWN:
                _KNOWN.clear()
            _KNOWN[known] = found[at]
    return tuple(found)


def _point(coefficient: Coefficient, sums: NDArray[np.float64]) -> tuple[Statistic, int, bool]:
    """The value, over how many groups it is, and whether resampling them tells its interval."""
    point, count = coefficient.statistic, coefficient.entered
    if count is None:
        count = int((sums != 0).any(axis=1).sum())
    if point.value is None:
        return point, count, False
    if count < FEWEST_GROUPS and not (coefficient.share and count > 1):
        return _without(point, _too_few()), count, False
    return point, count, True


def resampled_values(coefficients: Sequence[Coefficient]) -> NDArray[np.float64]:
    """Resamples x coefficients: the value of every coefficient in each resample of the items (see `with_intervals`),
    NaN where undefined. For statements about several coefficients at once.
    """
    import numpy as np

    if not coefficients:
        return np.empty((0, 0))
    sums = _sums_by_group(np.hstack([c.terms for c in coefficients]), None)
    drawn = np.vstack(list(_resampled(sums, RESAMPLES, 0)) or [sums])
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
    """How many standard errors a 95% interval from so many groups (2 or more) extends to either side: Student's t
    instead of the normal quantile, times the root of n / (n - 1), by which resamples of n groups vary too little
    (Hesterberg 2015, the expanded percentile interval).
    """
    return t_quantile((1 + LEVEL) / 2, groups - 1) * sqrt(groups / (groups - 1))


def _plain(_values: NDArray[np.float64], _point: float, groups: int) -> tuple[float, float]:
    tail = NormalDist().cdf(-reach(groups))
    return tail, 1 - tail


def _corrected(coefficient: Coefficient, groups: Sequence[Hashable] | None) -> Tails:
    """A function that gives the percentiles at which a BCa interval ends."""

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
        if len(index) == len(codes):
            sums += terms  # Each group has one item, in its place.
        else:
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
    alike = _alike(sums)
    block = max(1, _CHUNK // (count if alike is None else len(alike[0])))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        if alike is not None:
            kinds, times = alike
            yield rng.multinomial(count, times / count, size=size) @ kinds
        elif count <= _SMALL and size == resamples:
            yield _weights(seed, size, count).astype(float) @ sums
        elif count <= _LARGE:
            yield _in_blocks(seed, resamples, block, count)[start // block].astype(float) @ sums
        else:
            yield _drawn(rng, size, count) @ sums


def _alike(
    sums: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
    """Where many groups add the same: what each kind of them adds, to be drawn as one, and how many they are."""
    import numpy as np

    starts = np.flatnonzero(np.r_[True, (sums[1:] != sums[:-1]).any(axis=1)])
    few = len(starts) * 8 < len(sums)
    return (sums[starts], np.diff(np.r_[starts, len(sums)])) if few else None


def _resampled_each(
    every: Sequence[NDArray[np.float64]], resamples: int, seed: int
) -> Iterator[NDArray[np.float64]]:
    """Resamples x terms of each, as `_resampled` gives them."""
    import numpy as np

    together: dict[int, list[int]] = {}
    for at, sums in enumerate(every):
        if _alike(sums) is None and len(sums) <= _SMALL and resamples * len(sums) <= _CHUNK:
            together.setdefault(len(sums), []).append(at)
    drawn: dict[int, NDArray[np.float64]] = {}
    for count, places in together.items():
        widths = [every[at].shape[1] for at in places]
        weights = _weights(seed, resamples, count).astype(float)
        whole = weights @ np.hstack([every[at] for at in places])
        drawn |= zip(places, np.split(whole, np.cumsum(widths)[:-1], axis=1), strict=True)
    for at, sums in enumerate(every):
        own = drawn.pop(at, None)
        if own is None:
            own = np.vstack(list(_resampled(sums, resamples, seed)) or [sums])
        yield np.asfortranarray(own)


def _drawn(rng: np.random.Generator, size: int, count: int) -> NDArray[np.float64]:
    """`size` x `count`: how often each of `count` groups is drawn when as many are drawn."""
    import numpy as np

    chosen = rng.integers(count, size=(size, count))
    chosen += np.arange(size)[:, None] * count
    weights = np.bincount(chosen.ravel(), minlength=size * count)
    return weights.reshape(size, count).astype(float)


@lru_cache(maxsize=3)
def _in_blocks(seed: int, resamples: int, block: int, count: int) -> list[NDArray[np.uint8]]:
    """As `_weights`, of so many groups that their resamples are drawn block by block."""
    import numpy as np

    rng = np.random.default_rng(seed)
    sizes = (min(block, resamples - start) for start in range(0, resamples, block))
    return [_drawn(rng, size, count).astype(np.uint8) for size in sizes]


@lru_cache(maxsize=16)
def _weights(seed: int, size: int, count: int) -> NDArray[np.uint8]:
    """What `_drawn` gives first after this seed; a table of figures asks for the same over and over. No group is drawn
    as often as a byte can hold.
    """
    import numpy as np

    return _drawn(np.random.default_rng(seed), size, count).astype(np.uint8)
