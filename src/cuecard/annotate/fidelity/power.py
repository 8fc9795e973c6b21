"""How many sessions it takes to find a rank correlation, and which can be found with those that there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from math import atanh, ceil
from statistics import NormalDist, fmean
from typing import Literal

Kind = Literal["spearman", "kendall"]
ALPHA = 0.05
POWER = 0.8


def sessions_needed(
    correlation: float, power: float = POWER, alpha: float = ALPHA, kind: Kind = "spearman"
) -> int:
    """The fewest independent sessions with which a true rank correlation of this size differs from 0 in a
    two-sided test at `alpha`, with probability `power`. The test is that of Fisher's z with the variances of
    Bonett & Wright (2000, Psychometrika 65, 23-28): (1 + r²/2) / (n - 3) for Spearman's rho,
    0.437 / (n - 4) for Kendall's tau. So n = 3 + (1 + r²/2) ((z_alpha/2 + z_power) / atanh r)², or
    4 + 0.437 (...)², rounded up.

    Sessions of one task are not independent: multiply by `design_effect`. Raises `ValueError` unless the
    size of the correlation, `power` and `alpha` lie between 0 and 1.
    """
    return ceil(_sessions(abs(correlation), power, alpha, kind) - 1e-9)


def detectable(
    sessions: int, power: float = POWER, alpha: float = ALPHA, kind: Kind = "spearman"
) -> float | None:
    """The smallest correlation that so many independent sessions find, the inverse of `sessions_needed`, to
    1e-9; None for fewer sessions than any correlation takes. Raises `ValueError` as it does.
    """
    low, high = 1e-9, 1 - 1e-12
    if _sessions(high, power, alpha, kind) > sessions:
        return None
    while high - low > 1e-12:
        middle = (low + high) / 2
        if _sessions(middle, power, alpha, kind) > sessions:
            low = middle
        else:
            high = middle
    return high


def design_effect(
    x: Sequence[float], y: Sequence[float], groups: Sequence[Hashable]
) -> float | None:
    """How many times the variance of a correlation of independent sessions to expect where sessions of a
    group resemble each other: 1 + (m - 1) I_x I_y, with the intraclass correlations of both sides and
    m = the sum of squared group sizes / n (Clifford, Richardson & Hémon 1989, Biometrics 45, 123-134, whose
    effective sample size holds for two sides that are not correlated). 1 where each group has one session;
    None where an intraclass correlation cannot be told.
    """
    sizes: dict[Hashable, int] = defaultdict(int)
    for group in groups:
        sizes[group] += 1
    n = len(groups)
    if len(sizes) == n:
        return 1.0 if n else None
    within = [intraclass(side, groups) for side in (x, y)]
    if within[0] is None or within[1] is None:
        return None
    crowd = sum(size * size for size in sizes.values()) / n
    return 1 + (crowd - 1) * max(0.0, within[0]) * max(0.0, within[1])


def intraclass(values: Sequence[float], groups: Sequence[Hashable]) -> float | None:
    """The share of the variance that lies between groups, by the analysis of variance with groups of unequal
    size (Donner 1986, Int. Stat. Rev. 54, 67-82); it may be below 0. None with fewer than two groups, without
    a group of two, or where nothing differs.
    """
    parts: dict[Hashable, list[float]] = defaultdict(list)
    for group, value in zip(groups, values, strict=True):
        parts[group].append(value)
    n, count = len(values), len(parts)
    if count < 2 or n <= count:
        return None
    mean = fmean(values)
    between = sum(len(part) * (fmean(part) - mean) ** 2 for part in parts.values())
    within = sum((value - fmean(part)) ** 2 for part in parts.values() for value in part)
    between, within = between / (count - 1), within / (n - count)
    size = (n - sum(len(part) ** 2 for part in parts.values()) / n) / (count - 1)
    whole = between + (size - 1) * within
    return (between - within) / whole if whole > 0 else None


def _sessions(size: float, power: float, alpha: float, kind: Kind) -> float:
    if not (0 < size < 1 and 0 < power < 1 and 0 < alpha < 1):
        raise ValueError("a correlation, a power and an alpha lie between 0 and 1")
    normal = NormalDist()
    reach = (normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)) / atanh(size)
    if kind == "kendall":
        return 4 + 0.437 * reach**2
    return 3 + (1 + size**2 / 2) * reach**2
