"""Analytic intervals: the variance of a function of sums by its linearisation."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import sqrt
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.coefficient import Coefficient
from cuecard.annotate.agreement.statistic import Statistic
from cuecard.annotate.agreement.student import t_quantile
from cuecard.core.i18n import _

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_STEP = 1e-5
_NOTHING = 1e-9
"""Slopes are numerical: below this a standard error is their rounding."""


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
    """What each group that adds anything moves the value by, to first order; None without a value."""
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
