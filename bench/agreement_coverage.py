"""How often 95% intervals hold the true value, on clustered data whose truth is known.

python bench/agreement_coverage.py [STUDIES [RESAMPLES]] [WAY...]      400 studies of each kind; two minutes

A study: TASKS tasks with 4 to 24 items each; whether an item is covered, and how often a rater errs, varies
by task (a logistic normal), so that items of a task resemble each other. The true value of a coefficient is
its value over a population of 20,000 tasks of that kind. Coverage of 95% from 1,000 studies has a standard
error of 0.7 points.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cuecard.annotate.agreement.coefficients import (
    ac1_coefficient,
    cohen_coefficient,
    difference,
    percent_coefficient,
)
from cuecard.annotate.agreement.intervals import with_intervals
from cuecard.annotate.agreement.linearisation import linearised
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.annotate.agreement.report import against_reference
from cuecard.annotate.agreement.scales import alpha_coefficient

if TYPE_CHECKING:
    from cuecard.core.tables.table import Coefficient, Statistic

DOMAIN = ("covered", "not covered")
TASKS = (15, 30, 50, 100)
KINDS = {
    # mean logit of covered, spread over tasks, mean logit of an error, spread over tasks
    "even, errors 12%": (0.0, 1.0, -2.0, 0.7),
    "78% covered, errors 12%": (1.5, 1.0, -2.0, 0.7),
    "90% covered, errors 6%": (2.5, 1.0, -3.0, 0.8),
}
POPULATION = 20_000
WAYS = ("percentile", "bca", "analytic")
SHORT = {
    "f1:not covered": "f1:not",
    "balanced_accuracy": "bal. acc.",
    "cohen_kappa-cohen_kappa": "kappa - kappa",
}


def study(rng: np.random.Generator, tasks: int, kind: str) -> tuple[Ratings, list[int]]:
    logit, spread, slip, uneven = KINDS[kind]
    sizes = rng.integers(4, 25, tasks)
    task = np.repeat(np.arange(tasks), sizes)
    covered = chance(logit + spread * rng.normal(size=tasks))[task]
    errs = chance(slip + uneven * rng.normal(size=tasks))[task]
    truth = (rng.random(len(task)) > covered).astype(int)
    sides = [np.where(rng.random(len(task)) < errs, 1 - truth, truth) for _ in range(3)]
    codes = tuple(zip(*(side.tolist() for side in sides), strict=True))
    items = tuple(map(str, range(len(task))))
    return Ratings(items, ("judge", "other", "person"), DOMAIN, codes), task.tolist()


def chance(logits: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-logits))


def coefficients(ratings: Ratings) -> list[Coefficient]:
    other, ratings = ratings.of_raters(["other", "person"]), ratings.of_raters(["judge", "person"])
    named = {one.name: one for one in against_reference(ratings)}
    return [
        percent_coefficient(ratings),
        cohen_coefficient(ratings),
        alpha_coefficient(ratings),
        ac1_coefficient(ratings),
        named["recall:covered"],
        named["f1:not covered"],
        named["balanced_accuracy"],
        named["mcc"],
        difference(cohen_coefficient(ratings), cohen_coefficient(other)),
    ]


def intervals(
    way: str, own: list[Coefficient], groups: list[int], resamples: int, seed: int
) -> Sequence[Statistic]:
    if way == "analytic":
        return [linearised(one, groups) for one in own]
    method = "bca" if way == "bca" else "percentile"
    return with_intervals(own, groups, resamples=resamples, seed=seed, method=method)


def main(studies: int, resamples: int, ways: Sequence[str]) -> None:
    begun = time.process_time()
    rng = np.random.default_rng(6)
    names = [one.name for one in coefficients(study(rng, 5, next(iter(KINDS)))[0])]
    print("percent of intervals that hold the true value")
    print(f"{'':44}" + "".join(f"{SHORT.get(name, name):>16}" for name in names))
    for kind in KINDS:
        truth = [one.statistic.value for one in coefficients(study(rng, POPULATION, kind)[0])]
        for tasks in TASKS:
            held = {way: np.zeros((len(names), 2)) for way in ways}
            for number in range(studies):
                ratings, groups = study(rng, tasks, kind)
                own = coefficients(ratings)
                for way in ways:
                    found = intervals(way, own, groups, resamples, number)
                    for at, (statistic, true) in enumerate(zip(found, truth, strict=True)):
                        if statistic.interval and true is not None:
                            low, high = statistic.interval
                            held[way][at] += (low <= true <= high, 1)
            for way, counted in held.items():
                shares = "".join(
                    f"{100 * hits / of:16.1f}" if of else f"{'–':>16}" for hits, of in counted
                )
                print(f"{kind:25} {tasks:4} tasks {way:>11}" + shares, flush=True)
    spent = time.process_time() - begun
    print(f"{studies} studies, {resamples} resamples, {spent:.0f} s of processor time")


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    numbers += [400, 1000][len(numbers) :]
    main(numbers[0], numbers[1], [word for word in sys.argv[1:] if word in WAYS] or WAYS)
