"""How long the figures of agreement take: 100,000 items, three raters, two labels, gaps.

python bench/agreement.py [ITEMS]      100000 items; about half a minute

Seconds of the clock and of processor time (all threads), the better of two rounds, because the machine is
shared. "All" are the overall coefficients of the three raters, agreement on each label, every pair's own
coefficients, and each rater against each other as the reference. Beside it, in the same run, 1,000 resamples
of Cohen's kappa of two raters by `with_intervals` and by a loop over scikit-learn's `cohen_kappa_score`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import combinations

import numpy as np
from sklearn.metrics import cohen_kappa_score

from cuecard.annotate.agreement.coefficients import cohen_coefficient
from cuecard.annotate.agreement.intervals import with_intervals
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.annotate.agreement.report import against_reference, agreement_table
from cuecard.annotate.agreement.tables import overall_coefficients, specific_coefficients
from cuecard.core.tables.table import Coefficient

TASKS, RESAMPLES, LOOP = 1000, 2000, 1000
DOMAIN = ("covered", "not covered")
RATERS = ("judge", "ana", "bo")


def ratings_of(items: int) -> tuple[Ratings, list[int]]:
    rng = np.random.default_rng(6)
    truth = rng.random(items) < 0.3
    codes = np.stack([np.where(rng.random(items) < 0.1, ~truth, truth) for _ in RATERS], axis=1)
    codes = np.where(rng.random(codes.shape) < 0.1, -1, codes.astype(int))
    table = tuple(map(tuple, codes.tolist()))
    names = tuple(map(str, range(items)))
    return Ratings(names, RATERS, DOMAIN, table), rng.integers(TASKS, size=items).tolist()


def everything(ratings: Ratings) -> list[Coefficient]:
    found = [*overall_coefficients(ratings), *specific_coefficients(ratings)]
    for pair in combinations(RATERS, 2):
        own = ratings.of_raters(pair)
        found += [*overall_coefficients(own), *specific_coefficients(own)]
        found += against_reference(own)
    return found


def fresh(ratings: Ratings) -> Ratings:
    """The same without what is cached on it."""
    return Ratings(ratings.items, ratings.raters, ratings.labels, ratings.codes)


def timed(what: Callable[[], object], rounds: int = 2) -> tuple[float, float]:
    best = (float("inf"), float("inf"))
    for _ in range(rounds):
        wall, spent = time.perf_counter(), time.process_time()
        what()
        best = min(best, (time.perf_counter() - wall, time.process_time() - spent))
    return best


def show(what: str, found: tuple[float, float], bar: str = "") -> None:
    print(f"{what:64} {found[0]:8.3f} s {found[1]:8.3f} s CPU  {bar}", flush=True)


def main(items: int) -> None:
    ratings, tasks = ratings_of(items)
    many = everything(ratings)
    print(f"{items:,} items, {len(RATERS)} raters, {TASKS} tasks, {len(many)} coefficients")
    points = timed(lambda: [one.statistic for one in everything(fresh(ratings))])
    show("all point estimates", points, "bar 1 s")
    clustered = timed(lambda: with_intervals(many, tasks, resamples=RESAMPLES))
    show(f"all, {RESAMPLES} resamples by task", clustered, "bar 10 s")
    corrected = timed(lambda: with_intervals(many, tasks, resamples=RESAMPLES, method="bca"))
    show(f"all, {RESAMPLES} resamples by task, BCa", corrected)
    weights = np.random.default_rng(1).uniform(1, 9, items).tolist()
    show(
        "one AgreementTable, both intervals, weights, by task",
        timed(lambda: agreement_table(fresh(ratings), tasks, weights)),
    )
    show("all, plain resamples", timed(lambda: with_intervals(many, resamples=RESAMPLES), 1))
    beside_scikit_learn(ratings)


def beside_scikit_learn(ratings: Ratings) -> None:
    """Two raters on the items both rated: `LOOP` resamples each, in turns."""
    pair = ratings.of_raters(RATERS[:2]).complete()
    left, right = pair.table[(pair.table >= 0).all(axis=1)].T
    rng = np.random.default_rng(2)

    ends: list[float] = []

    def loop() -> None:
        values = np.empty(LOOP)
        for number in range(LOOP):
            drawn = rng.integers(len(left), size=len(left))
            values[number] = cohen_kappa_score(left[drawn], right[drawn])
        ends[:] = map(float, np.quantile(values, (0.025, 0.975)))

    ours = timed(lambda: with_intervals([cohen_coefficient(fresh(pair))], resamples=LOOP))
    drawing = cohen_coefficient(pair)
    inner = timed(lambda: with_intervals([drawing], resamples=LOOP))
    theirs = timed(loop, 1)
    show(f"kappa, {LOOP} plain resamples, from the ratings", ours)
    show(f"kappa, {LOOP} plain resamples, from the coefficient", inner)
    show(f"kappa, {LOOP} resamples, loop over scikit-learn", theirs)
    print(f"ratio: {ours[0] / theirs[0]:.4f} by the clock, {ours[1] / theirs[1]:.4f} CPU  bar 0.01")
    (found,) = with_intervals([drawing], resamples=LOOP)
    print(f"intervals: {found.interval} and {tuple(ends)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
