"""One number with its n, or the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cuecard.core.i18n import _

_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Measure:
    """`value` over `n` things. An undefined measure has no value, never NaN, and says why."""

    name: str
    value: float | None
    n: int
    reason: str = ""

    def __post_init__(self) -> None:
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"{self.name} must be finite, or None with a reason")
        if self.value is None and not self.reason:
            raise ValueError(f"{self.name} is undefined and must say why")


def share(name: str, part: float, whole: int, empty: str, *, zero: bool = False) -> Measure:
    """Part / whole with n = whole. Of nothing (`whole` 0) it is undefined, or 0 where the definition
    makes it so (`zero`); `empty` says what was missing.
    """
    if whole > 0:
        return Measure(name, part / whole, whole)
    return Measure(name, 0.0 if zero else None, 0, empty)


def harmonic(name: str, precision: Measure, recall: Measure) -> Measure:
    """F1 of two measures with the n of recall; 0 if both are 0, undefined if either is."""
    if precision.value is None:
        return Measure(name, None, recall.n, precision.reason)
    if recall.value is None:
        return Measure(name, None, recall.n, recall.reason)
    total = precision.value + recall.value
    return Measure(name, 2 * precision.value * recall.value / total if total else 0.0, recall.n)


def count(name: str, value: float, n: int = 1) -> Measure:
    """A plain count; `n` is what was counted over (1: this trial)."""
    return Measure(name, float(value), n)


def mean(name: str, values: Iterable[float], empty: str = "") -> Measure:
    """The arithmetic mean with n = how many."""
    collected = list(values)
    reason = empty or _("nothing to average")
    return share(name, math.fsum(collected), len(collected), reason)


def pearson(name: str, pairs: Sequence[tuple[float, float]]) -> Measure:
    """Pearson's correlation of two columns (1895), n = how many pairs; undefined of fewer than two pairs and
    where a column is constant.
    """
    n = len(pairs)
    if n < 2:
        return Measure(name, None, n, _("fewer than two trials"))
    means = [math.fsum(column) / n for column in zip(*pairs, strict=True)]
    apart = [(x - means[0], y - means[1]) for x, y in pairs]
    spread = [math.fsum(column) for column in zip(*((x * x, y * y) for x, y in apart), strict=True)]
    if min(spread) < _TINY:
        return Measure(name, None, n, _("one of the two is the same in every trial"))
    together = math.fsum(x * y for x, y in apart)
    found = together / math.sqrt(spread[0] * spread[1])
    return Measure(name, max(-1.0, min(1.0, found)), n)
