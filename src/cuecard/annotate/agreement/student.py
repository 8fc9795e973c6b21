"""How far an interval from few groups must reach: quantiles of Student's t."""

from __future__ import annotations

from functools import lru_cache
from math import atan, cos, pi, sin, sqrt
from statistics import NormalDist

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
