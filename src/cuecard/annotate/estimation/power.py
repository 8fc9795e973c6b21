"""How large a difference of two agents a study would see: its variance by design, power by the noncentral t distribution,
and the cheapest design for a wanted difference.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import erfc, exp, inf, lgamma, log, sqrt
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.linearisation import t_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

POWER = 0.80
"""The share of studies in which a difference is to be found that is there."""
MOST_TASKS = 100_000
SAMPLES = range(1, 21)
"""Numbers of samples among which the cheapest is looked for."""
_POINTS = 240


@dataclass(frozen=True)
class Design:
    """Every agent plays every task with each of `users`, `samples` times; each of `judges` judges every trial."""

    tasks: int
    samples: int = 1
    users: int = 1
    judges: int = 1

    @property
    def trials(self) -> int:
        """Of one agent."""
        return self.tasks * self.samples * self.users


@dataclass(frozen=True)
class Noise:
    """The components of variance that a comparison of two agents meets: agents by tasks, samples of one task, and agents by
    users, by users on each task, by judges, by judges on each task. `sample` None: not told apart from `task`, so that only
    single samples can be planned.
    """

    task: float
    sample: float | None
    user: float = 0.0
    user_task: float = 0.0
    judge: float = 0.0
    judge_task: float = 0.0

    def variance(self, design: Design) -> float | None:
        """V of the difference of two agents' means; None for several samples where `sample` is unknown."""
        if self.sample is None and design.samples * design.users > 1:
            return None
        by_task = self.task + (self.sample or 0.0) / (design.samples * design.users)
        by_task += self.user_task / design.users + self.judge_task / design.judges
        return 2 * (by_task / design.tasks + self.user / design.users + self.judge / design.judges)


@dataclass(frozen=True)
class Prices:
    """What a study costs: `task` to make one, `trial` to play one, `judgement` of a trial by one judge; of `agents`."""

    task: float = 0.0
    trial: float = 0.0
    judgement: float = 0.0
    agents: int = 2

    def cost(self, design: Design) -> float:
        each = self.trial + self.judgement * design.judges
        return self.task * design.tasks + self.agents * design.trials * each


def smallest_difference(noise: Noise, design: Design, power: float = POWER) -> float | None:
    """The true difference that a two-sided t test at 5% over tasks finds in a share `power` of studies, in the measure's unit:
    (t_.975(v) + t_power(v)) sqrt(V) with v = tasks - 1. None below two tasks, or where V is not known.
    """
    variance = noise.variance(design)
    if variance is None or design.tasks < 2:
        return None
    free = design.tasks - 1
    return (t_quantile(0.975, free) + t_quantile(power, free)) * sqrt(variance)


def power_of(difference: float, variance: float, tasks: int) -> float:
    """The share of studies whose two-sided t test at 5% over `tasks` >= 2 tells this true difference from zero, where the mean
    difference has this variance: 1 - F(t) + F(-t), with F the noncentral t of difference / sqrt(variance).
    """
    free = tasks - 1
    if variance <= 0:
        return 1.0 if difference else 0.05
    shift, end = difference / sqrt(variance), t_quantile(0.975, free)
    return 1 - noncentral_t(end, free, shift) + noncentral_t(-end, free, shift)


def noncentral_t(t: float, freedom: int, shift: float) -> float:
    """P(T <= t) of (Z + shift) / s, where Z is standard normal and freedom * s^2 has a chi-squared distribution with `freedom`
    >= 1 degrees: the mean over s of the normal P(Z <= t s - shift), by Gauss and Legendre's rule, to 1e-9.
    """
    nodes, weights = _legendre()
    # s is close to 1 with a spread of about 1 / sqrt(2 v); nine of these hold all that matters.
    wide = 9 / sqrt(2 * freedom)
    low, high = max(0.0, 1 - wide), 1 + wide
    half = freedom / 2
    constant = log(2) + half * log(half) - lgamma(half)
    total = 0.0
    for node, weight in zip(nodes, weights, strict=True):
        s = low + (high - low) * (node + 1) / 2
        density = exp(constant + (freedom - 1) * log(s) - half * s * s) if s > 0 else 0.0
        total += weight * density * erfc((shift - t * s) / sqrt(2)) / 2
    return min(1.0, max(0.0, total * (high - low) / 2))


_RULE: list[tuple[tuple[float, ...], tuple[float, ...]]] = []


def _legendre() -> tuple[tuple[float, ...], tuple[float, ...]]:
    if not _RULE:
        import numpy as np

        found: tuple[NDArray[np.float64], NDArray[np.float64]] = np.polynomial.legendre.leggauss(
            _POINTS
        )
        _RULE.append((tuple(map(float, found[0])), tuple(map(float, found[1]))))
    return _RULE[0]


def tasks_for(noise: Noise, wanted: float, design: Design) -> int | None:
    """The fewest tasks with which the rest of `design` sees a difference of `wanted`; None if not even `MOST_TASKS` do."""

    def sees(tasks: int) -> bool:
        seen = smallest_difference(noise, replace(design, tasks=tasks))
        return seen is not None and seen <= wanted

    if not sees(MOST_TASKS):
        return None
    low, high = 1, MOST_TASKS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if sees(middle) else (middle, high)
    return high


def designs_for(noise: Noise, wanted: float, design: Design) -> tuple[Design, ...]:
    """For each number of `SAMPLES` the design with the fewest tasks that sees a difference of `wanted`."""
    found: list[Design] = []
    for n in SAMPLES:
        tried = replace(design, samples=n)
        if (tasks := tasks_for(noise, wanted, tried)) is not None:
            found.append(replace(tried, tasks=tasks))
    return tuple(found)


def cheapest(designs: Iterable[Design], prices: Prices) -> Design | None:
    """The one that costs least; of equals the one with fewest trials, then fewest tasks."""
    return min(designs, key=lambda each: (prices.cost(each), each.trials, each.tasks), default=None)


def floor_of(noise: Noise, design: Design) -> float:
    """The difference below which more tasks do not help with these users and judges; 0 where they vary nothing."""
    left = smallest_difference(noise, replace(design, tasks=MOST_TASKS))
    return inf if left is None else left
