"""Whether the intervals and the numbers of sessions of `cuecard fidelity` keep what they promise.

python bench/fidelity.py [STUDIES [RESAMPLES]] [PART...]      parts: coverage, power, design; 400 studies

A study: tasks with so many sessions each; satisfaction (1 to 7) and a score follow from two normal variables
that correlate within tasks, and from one for each task and side that correlate too. The true value is that
of a population of that kind. Coverage of 95% from 1,000 studies has a standard error of 0.7 points.
"""

from __future__ import annotations

import sys
import time
from math import atanh, pi, sin, sqrt
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import stats

from cuecard.annotate.fidelity.correlation import design_effect, rank_correlations, sessions_needed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NAMES = ("spearman", "kendall", "spearman_within", "kendall_within")
KINDS = {
    # correlation within tasks, share of the variance between tasks, correlation between tasks
    "within 0.3, tasks alike": (0.3, 0.0, 0.0),
    "within 0.3, between 0.3": (0.3, 0.3, 0.3),
    "within 0.6, between -0.3": (0.6, 0.3, -0.3),
}
SHAPES = ((10, 4), (20, 4), (30, 4), (60, 1), (60, 4))
"""Tasks, and the mean number of sessions of each."""
POPULATION = 4_000
GRADES = stats.norm.ppf(np.arange(1, 7) / 7)


def pair(rng: np.random.Generator, rho: float, size: int) -> Floats:
    both = rng.normal(size=(2, size))
    return np.stack([both[0], rho * both[0] + sqrt(1 - rho**2) * both[1]])


def study(
    rng: np.random.Generator, kind: str, tasks: int, mean: int
) -> tuple[NDArray[np.int64], Floats, NDArray[np.int64]]:
    """Answers, scores and the task of each session; scores in steps of a twentieth."""
    within, share, between = KINDS[kind]
    sizes = np.ones(tasks, dtype=int) if mean == 1 else rng.integers(2, 2 * mean - 1, tasks)
    task = np.repeat(np.arange(tasks), sizes)
    level = pair(rng, between, tasks)[:, task] * sqrt(share)
    own = pair(rng, within, len(task)) * sqrt(1 - share)
    x, y = level + own
    return np.digitize(x, GRADES) + 1, np.round(stats.norm.cdf(y) * 20) / 20, task


def truth(rng: np.random.Generator, kind: str, mean: int) -> list[float]:
    x, y, task = study(rng, kind, POPULATION, mean)
    found = [
        float(cast(Any, stats.spearmanr(x, y))[0]),
        float(cast(Any, stats.kendalltau(x, y))[0]),
    ]
    if mean == 1:
        return [*found, float("nan"), float("nan")]
    ranks = np.stack([stats.rankdata(x), stats.rankdata(y)])
    counts = np.bincount(task)
    means = np.stack([np.bincount(task, weights=side) / counts for side in ranks])
    inside = ranks - means[:, task]
    found.append(float((inside[0] * inside[1]).sum() / sqrt((inside**2).sum(axis=1).prod())))
    ends = np.cumsum(counts)
    agreeing = np.zeros(3)
    for start, end in zip(ends - counts, ends, strict=True):
        one, other = (np.sign(side[start:end, None] - side[start:end]) for side in (x, y))
        agreeing += ((one * other).sum(), np.abs(one).sum(), np.abs(other).sum())
    return [*found, float(agreeing[0] / sqrt(agreeing[1] * agreeing[2]))]


def coverage(studies: int, resamples: int) -> None:
    rng = np.random.default_rng(7)
    print("percent of intervals that hold the true value")
    print(f"{'':42}" + "".join(f"{name:>17}" for name in NAMES))
    for kind in KINDS:
        wanted = {mean: truth(rng, kind, mean) for mean in {mean for _tasks, mean in SHAPES}}
        for tasks, mean in SHAPES:
            held = np.zeros((4, 2))
            for number in range(studies):
                x, y, task = (side.tolist() for side in study(rng, kind, tasks, mean))
                found = rank_correlations(x, y, task, resamples=resamples, seed=number)
                for at, name in enumerate(NAMES):
                    interval = getattr(found, name).interval
                    if interval:
                        held[at] += (interval[0] <= wanted[mean][at] <= interval[1], 1)
            shares = "".join(
                f"{100 * hits / of:17.1f}" if of else f"{'–':>17}" for hits, of in held
            )
            print(f"{kind:26} {tasks:3} tasks x {mean}" + f"{shares}", flush=True)


def power(studies: int, resamples: int) -> None:
    """How often independent sessions of the number that is said find the correlation: by Fisher's z, which
    the number is for, and by the interval that is shown.
    """
    rng = np.random.default_rng(8)
    print("percent of studies that find the correlation, of 80 promised")
    for size in (0.2, 0.3, 0.5):
        for kind in ("spearman", "kendall"):
            n = sessions_needed(size, kind=kind)
            rho = 2 * sin(pi * size / 6) if kind == "spearman" else sin(pi * size / 2)
            by_z = shown = 0
            many = 20 * studies
            for number in range(many):
                x, y = pair(rng, rho, n)
                test = stats.spearmanr if kind == "spearman" else stats.kendalltau
                found = float(cast(Any, test(x, y))[0])
                error = (
                    sqrt((1 + found**2 / 2) / (n - 3))
                    if kind == "spearman"
                    else sqrt(0.437 / (n - 4))
                )
                by_z += abs(atanh(found)) > 1.959964 * error
                if number < studies:
                    statistics = rank_correlations(
                        x.tolist(), y.tolist(), range(n), resamples=resamples, seed=number
                    )
                    interval = getattr(statistics, kind).interval
                    shown += interval is not None and interval[0] > 0
            print(
                f"{kind:9} {size}: {n:4} sessions, Fisher's z {100 * by_z / many:5.1f},"
                f" interval shown {100 * shown / studies:5.1f}",
                flush=True,
            )


def design(studies: int, _resamples: int) -> None:
    """The variance of correlations of sides that have nothing to do with each other, over that of independent
    sessions, beside the design effect as it is estimated.
    """
    rng = np.random.default_rng(9)
    print("variance of Spearman's rho of unrelated sides, in terms of independent sessions")
    for share, tasks, each in ((0.3, 30, 4), (0.5, 30, 4), (0.5, 20, 10)):
        task = np.repeat(np.arange(tasks), each)
        values: list[float] = []
        told: list[float] = []
        for _number in range(10 * studies):
            level = rng.normal(size=(2, tasks))[:, task] * sqrt(share)
            x, y = level + rng.normal(size=(2, len(task))) * sqrt(1 - share)
            values.append(float(cast(Any, stats.spearmanr(x, y))[0]))
            effect = design_effect(x.tolist(), y.tolist(), task.tolist())
            if effect is not None:
                told.append(effect)
        wanted = 1 + (each - 1) * share**2
        print(
            f"intraclass {share}, {tasks} tasks x {each}: {np.var(values) * (len(task) - 1):.2f};"
            f" by the formula {wanted:.2f}, as estimated {np.mean(told):.2f}",
            flush=True,
        )


PARTS = {"coverage": coverage, "power": power, "design": design}


def main() -> None:
    begun = time.process_time()
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    numbers += [400, 1000][len(numbers) :]
    for name in [word for word in sys.argv[1:] if word in PARTS] or PARTS:
        PARTS[name](numbers[0], numbers[1])
    spent = time.process_time() - begun
    print(f"{numbers[0]} studies, {numbers[1]} resamples, {spent:.0f} s of processor time")


if __name__ == "__main__":
    main()
