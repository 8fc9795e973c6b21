"""Rank correlation of two columns of numbers with intervals by task, and the sample size that a correlation needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import atanh, ceil
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING, Literal

from cuecard.annotate.agreement.intervals import RESAMPLES, drawn_groups, with_ends
from cuecard.core.i18n import _
from cuecard.core.tables.table import Statistic, ratio

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

FEWEST = 3
"""Two sessions always agree fully or disagree fully."""


@dataclass(frozen=True)
class RankCorrelations:
    """`spearman`, `kendall`: over all sessions; `spearman_within`, `kendall_within`: within tasks."""

    spearman: Statistic
    kendall: Statistic
    spearman_within: Statistic
    kendall_within: Statistic


def rank_correlations(
    x: Sequence[float],
    y: Sequence[float],
    groups: Sequence[Hashable],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> RankCorrelations:
    """Spearman's rho (1904; Pearson's coefficient of midranks) and Kendall's tau-b (1945), overall and within
    groups, with 95% percentile intervals of the cluster bootstrap over `groups` (the task of each session),
    which reach as far out as `with_intervals` says.

    Within groups: rho of the midranks, taken over all those sessions, less their group's mean; tau-b over
    pairs of sessions of the same group only. Both leave out groups with one session; `n` counts what is
    left. A coefficient is undefined, with the reason, of fewer than three sessions and where one side is
    constant. The same data and seed give the same interval, in whatever order the sessions come.

    Raises `ValueError` unless all three have the same length.
    """
    if not len(x) == len(y) == len(groups):
        raise ValueError("not over the same sessions")
    everything = _Sample.of(x, y, groups)
    several = everything.several()
    return RankCorrelations(
        spearman=_figure("spearman", everything, resamples, seed),
        kendall=_figure("kendall", everything, resamples, seed),
        spearman_within=_figure("spearman_within", several, resamples, seed),
        kendall_within=_figure("kendall_within", several, resamples, seed),
    )


@dataclass(frozen=True)
class _Sample:
    """Sessions for rank statistics. `x`, `y`: values replaced by their order; `group`: each session's group."""

    x: Ints
    y: Ints
    group: Ints

    @classmethod
    def of(cls, x: Sequence[float], y: Sequence[float], groups: Sequence[Hashable]) -> _Sample:
        import numpy as np

        parts: dict[Hashable, list[tuple[float, float]]] = defaultdict(list)
        for group, *pair in zip(groups, x, y, strict=True):
            parts[group].append((float(pair[0]), float(pair[1])))
        # An order that follows from the values alone.
        ordered = sorted(sorted(part) for part in parts.values())
        flat = np.array([pair for part in ordered for pair in part]).reshape(-1, 2)
        sizes = [len(part) for part in ordered]
        return cls(
            np.unique(flat[:, 0], return_inverse=True)[1].reshape(-1),
            np.unique(flat[:, 1], return_inverse=True)[1].reshape(-1),
            np.repeat(np.arange(len(sizes)), sizes),
        )

    def several(self) -> _Sample:
        """Only groups with two sessions or more."""
        import numpy as np

        if not self.n:
            return self
        kept = np.bincount(self.group)[self.group] >= 2
        return _Sample(
            self.x[kept],
            self.y[kept],
            np.unique(self.group[kept], return_inverse=True)[1].reshape(-1),
        )

    @property
    def n(self) -> int:
        return len(self.group)

    @property
    def groups(self) -> int:
        return int(self.group.max()) + 1 if self.n else 0


def _figure(name: str, sample: _Sample, resamples: int, seed: int) -> Statistic:
    import numpy as np

    within = name.endswith("_within")
    if why := _undefined(sample, within):
        return Statistic(name=name, value=None, n=sample.n, reason=why)
    of = _spearman if name.startswith("spearman") else _kendall
    value = float(of(sample, np.ones((1, sample.groups)), within)[0])
    if value != value:
        reason = _("nothing differs within a task")
        return Statistic(name=name, value=None, n=sample.n, reason=reason)
    # Rounding may end a hair outside.
    point = Statistic(name=name, value=min(1.0, max(-1.0, value)), n=sample.n)
    drawn = drawn_groups(sample.groups, resamples=resamples, seed=seed)
    return with_ends(point, np.clip(of(sample, drawn, within), -1, 1), sample.groups)


def _undefined(sample: _Sample, within: bool) -> str:
    if within and not sample.n:
        return _("no task has two sessions")
    if sample.n < FEWEST:
        return _("fewer than {n} sessions").format(n=FEWEST)
    if not sample.x.max():
        return _("all answers are the same")
    if not sample.y.max():
        return _("all scores are the same")
    return ""


def _spearman(sample: _Sample, drawn: Floats, within: bool) -> Floats:
    """By resample. `drawn`: resamples x groups."""
    weights = drawn[:, sample.group]
    one, other = (_midranks(codes, weights) for codes in (sample.x, sample.y))
    if within:
        one, other = (ranks - _group_means(ranks, sample) for ranks in (one, other))
    else:
        total = weights.sum(axis=1, keepdims=True)
        one, other = (
            ranks - (weights * ranks).sum(axis=1, keepdims=True) / total for ranks in (one, other)
        )
    import numpy as np

    both, ones, others = (
        (weights * product).sum(axis=1) for product in (one * other, one * one, other * other)
    )
    return ratio(both, np.sqrt(ones * others))


def _midranks(codes: Ints, weights: Floats) -> Floats:
    """Resamples x sessions: each session's rank in the resample, the mean of those of its equals."""
    import numpy as np

    counts = np.zeros((len(weights), int(codes.max()) + 1))
    np.add.at(counts.T, codes, weights.T)
    ranks = np.cumsum(counts, axis=1) - counts + (counts + 1) / 2
    return ranks[:, codes]


def _group_means(ranks: Floats, sample: _Sample) -> Floats:
    import numpy as np

    sums = np.zeros((len(ranks), sample.groups))
    np.add.at(sums.T, sample.group, ranks.T)
    return (sums / np.bincount(sample.group))[:, sample.group]


def _kendall(sample: _Sample, drawn: Floats, within: bool) -> Floats:
    """By resample. A session drawn twice makes a pair that is tied on both sides and counts nowhere."""
    import numpy as np

    found: list[Floats] = []
    x, y = (np.sign(codes[:, None] - codes[None, :]) for codes in (sample.x, sample.y))
    starts = np.flatnonzero(np.r_[True, np.diff(sample.group) > 0])
    for pairs in (x * y, np.abs(x), np.abs(y)):
        blocks = np.add.reduceat(np.add.reduceat(pairs, starts, axis=0), starts, axis=1)
        blocks = blocks.astype(np.float64)
        if within:
            found.append(drawn @ np.diagonal(blocks))
        else:
            found.append(((drawn @ blocks) * drawn).sum(axis=1))
    agreeing, ones, others = found
    return ratio(agreeing, np.sqrt(ones * others))


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
    """The smallest correlation that so many independent sessions detect, the inverse of `sessions_needed`, to 1e-9;
    None if there are too few for any. Raises `ValueError` as it does.
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
    """By what factor the variance of a correlation grows because sessions of a group resemble each other: 1 + (m - 1)
    I_x I_y, with the intraclass correlations of both columns and m = the sum of squared group sizes / n (Clifford,
    Richardson & Hémon 1989, Biometrics 45, 123-134, whose effective sample size holds for uncorrelated columns). 1 if
    each group has one session; None if an intraclass correlation is undefined.
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
    """The share of the variance that lies between groups, by analysis of variance with groups of unequal size (Donner
    1986, Int. Stat. Rev. 54, 67-82); it may be negative. None with fewer than two groups, without a group of two, or if
    all values are equal.
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
