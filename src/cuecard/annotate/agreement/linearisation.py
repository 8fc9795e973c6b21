"""Intervals by linearisation, with quantiles of Student's t."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from math import atan, cos, pi, sin, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

from cuecard.core.i18n import _
from cuecard.core.tables.table import Coefficient, Statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_EXACT = 400


@lru_cache(maxsize=512)
def t_quantile(share: float, freedom: int) -> float:
    """The point below which `share` (0 to 1, both excluded) of Student's t with `freedom` >= 1 degrees lies,
    to 1e-8. Raises `ValueError` outside.
    """
    if freedom < 1 or not 0 < share < 1:
        raise ValueError("a share between 0 and 1, and a degree of freedom at least")
    z = NormalDist().inv_cdf(share)
    if freedom > _EXACT:
        return _expanded(z, freedom)
    # The share below t grows with t; the normal quantile is nearer to 0 than t's.
    low, high = (0.0, 1.0) if share >= 0.5 else (-1.0, 0.0)
    while _below(high, freedom) < share:
        high *= 2
    while _below(low, freedom) > share:
        low *= 2
    while high - low > 1e-12 * max(1.0, abs(low)):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _below(middle, freedom) < share else (low, middle)
    return (low + high) / 2


def _below(t: float, freedom: int) -> float:
    """Student's distribution by its finite series (Abramowitz & Stegun 1964, 26.7.3 and 26.7.4)."""
    angle = atan(t / sqrt(freedom))
    across, up = cos(angle), sin(angle)
    odd = freedom % 2
    term = across if odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(3 if odd else 2, freedom - 1, 2):
        term *= across * across * (k - 1) / k
        total += term
    middle = 2 / pi * (angle + up * total) if odd else up * total
    return (1 + middle) / 2


def _expanded(z: float, freedom: int) -> float:
    """Its expansion around the normal quantile (Abramowitz & Stegun 1964, 26.7.5)."""
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


_STEP = 1e-5
_NOTHING = 1e-9
"""Slopes are computed numerically; a standard error below this is rounding error."""


def linearised(coefficient: Coefficient, groups: Sequence[Hashable] | None = None) -> Statistic:
    """The value with the 95% interval of its linearisation (delta method; Binder 1983), the variance over
    `groups` that vary independently, such as tasks; None: each item is its own. It reaches as many standard
    errors as Student's t says with one degree less than groups. Without groups the variance is the
    asymptotic one that the coefficients' authors give (for kappa that of Fleiss, Cohen & Everitt 1969),
    up to n / (n - 1).

    `no_interval` says why there is none: with fewer than two groups, where the value does not vary, or where
    it has no slope.
    """
    point = coefficient.statistic
    if point.value is None:
        return point
    moved = influences(coefficient, groups)
    if moved is None:
        return point.model_copy(update={"no_interval": _("the value has no slope")})
    error = _error(moved)
    if error is None:
        return point.model_copy(update={"no_interval": _("fewer than {n} groups").format(n=2)})
    if not error > 0:
        return point.model_copy(update={"no_interval": _("no group differs")})
    half = t_quantile(0.975, len(moved) - 1) * error
    low, high = point.value - half, point.value + half
    lowest, highest = coefficient.bounds
    return point.model_copy(update={"low": max(low, lowest), "high": min(high, highest)})


def standard_error(
    coefficient: Coefficient, groups: Sequence[Hashable] | None = None
) -> float | None:
    """The root of the linearised variance; None with fewer than two groups or without a value."""
    influence = influences(coefficient, groups)
    return None if influence is None else _error(influence)


def _error(influence: NDArray[np.float64]) -> float | None:
    if len(influence) < 2:
        return None
    count = len(influence)
    spread = influence - influence.mean()
    found = sqrt(float((spread**2).sum()) * count / (count - 1))
    return 0.0 if found < _NOTHING else found


def influences(
    coefficient: Coefficient, groups: Sequence[Hashable] | None = None
) -> NDArray[np.float64] | None:
    """The first-order change of the value by each group that adds anything (its influence); None without a value."""
    import numpy as np

    terms = coefficient.terms
    sums = terms.sum(axis=0)
    total = float(np.abs(sums).sum())
    if not total:
        return None
    step = _STEP * total / len(sums)
    nudges = np.eye(len(sums)) * step
    # What nobody said moves nothing, and a coefficient need not be smooth there.
    nudges[:, sums == 0] = 0
    slopes = (coefficient.of(sums + nudges) - coefficient.of(sums - nudges)) / (2 * step)
    if np.isnan(slopes).any():
        return None
    counts = (terms != 0).any(axis=1)
    moved = terms[counts] @ slopes
    if groups is None:
        return moved
    index: dict[Hashable, int] = {}
    chosen = (group for group, used in zip(groups, counts, strict=True) if used)
    codes = [index.setdefault(group, len(index)) for group in chosen]
    return np.bincount(codes, weights=moved, minlength=len(index)).astype(np.float64)
