"""How often the 95% intervals of results hold the true value: means over tasks and paired differences, on tasks and
samples whose truth is known.

python bench/results_coverage.py [STUDIES [RESAMPLES]]      1,000 studies of each kind; a few minutes

A study draws TASKS tasks with 3 samples of two agents. Tasks differ in how hard they are, agents in how they fare on
each (they resemble each other on a task), samples of a task scatter around what the agent makes of it. The true value
is that of 200,000 tasks of the kind. Coverage of 95% from 1,000 studies has a standard error of 0.7 points. `none`: in
so many percent of the studies there is no interval, and a reason stands in its place.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cuecard.annotate.agreement.intervals import with_intervals
from cuecard.annotate.labelling.effect_figures import mean_over
from cuecard.core.tables.table import Coefficient

TASKS = (10, 20, 50, 100)
SAMPLES = 3
POPULATION = 200_000
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Kind:
    """`hard`: mean and spread over tasks of the logit; `gain` of the second agent with its spread over tasks; `noise`
    between samples. `what`: shares with some failures at 0 and some perfect ones, outcomes, or counts.
    """

    what: str
    hard: tuple[float, float]
    gain: tuple[float, float]
    noise: float


KINDS = {
    "F1, most high, some failed": Kind("share", (1.2, 1.5), (0.5, 0.8), 0.6),
    "F1, most low": Kind("share", (-1.5, 1.2), (0.4, 0.6), 0.6),
    "passed, half of them": Kind("outcome", (0.0, 2.0), (0.5, 0.8), 0.0),
    "passed, one in ten": Kind("outcome", (-3.5, 2.0), (0.7, 0.8), 0.0),
    "tool calls, long tail": Kind("count", (2.3, 0.8), (0.2, 0.3), 0.4),
}
FIGURES = ("mean", "best of 3", "difference")


def drawn(rng: np.random.Generator, kind: Kind, tasks: int) -> tuple[Values, Values]:
    """Tasks x samples of both agents."""
    level = rng.normal(*kind.hard, size=(tasks, 1))
    found: list[Values] = []
    for gain, spread in ((0.0, kind.gain[1]), kind.gain):
        own = level + rng.normal(gain, spread, size=(tasks, 1))
        each = own + kind.noise * rng.normal(size=(tasks, SAMPLES))
        if kind.what == "count":
            found.append(rng.poisson(np.exp(each)).astype(float))
            continue
        chance = 1 / (1 + np.exp(-each))
        if kind.what == "outcome":
            found.append((rng.random((tasks, SAMPLES)) < chance).astype(float))
            continue
        # Of a dozen items, and nothing readable handed in once in 25 times.
        covered = rng.binomial(12, chance) / 12
        found.append(np.where(rng.random((tasks, SAMPLES)) < 0.04, 0.0, covered))
    return found[0], found[1]


def by_task(one: Values, other: Values) -> tuple[Values, Values, Values]:
    """Of each task the values that `FIGURES` are means of."""
    return other.mean(axis=1), other.max(axis=1), other.mean(axis=1) - one.mean(axis=1)


def coefficients(kind: Kind, values: tuple[Values, ...]) -> list[Coefficient]:
    """As score tables and comparisons make them."""
    name = "tool_calls" if kind.what == "count" else "triplet_f1"
    found: list[Coefficient] = []
    for figure, own in zip(FIGURES, values, strict=True):
        tasks = [str(task) for task in range(len(own))]
        mean = mean_over(name, dict(zip(tasks, own.tolist(), strict=True)), tasks)
        found.append(replace(mean, share=False) if figure == "difference" else mean)
    return found


def main(studies: int, resamples: int) -> None:
    begun = time.process_time()
    rng = np.random.default_rng(8)
    print("percent of intervals that hold the true value (below it / above it / none)")
    print(f"{'':28}{'tasks':>6}" + "".join(f"{figure:>28}" for figure in FIGURES))
    for name, kind in KINDS.items():
        truth = [own.mean() for own in by_task(*drawn(rng, kind, POPULATION))]
        for tasks in TASKS:
            counts = np.zeros((len(FIGURES), 4))
            for number in range(studies):
                own = coefficients(kind, by_task(*drawn(rng, kind, tasks)))
                for at, one in enumerate(with_intervals(own, resamples=resamples, seed=number)):
                    if one.interval is None:
                        counts[at, 3] += 1
                        continue
                    low, high = one.interval
                    counts[at, 0 if low <= truth[at] <= high else 1 if high < truth[at] else 2] += 1
            cells = "".join(_cell(row, studies) for row in counts)
            print(f"{name:28}{tasks:6}{cells}", flush=True)
    spent = time.process_time() - begun
    print(f"{studies} studies, {resamples} resamples, {spent:.0f} s of processor time")


def _cell(row: Values, studies: int) -> str:
    held, below, above, none = row
    given = studies - none
    if not given:
        return f"{'–':>28}"
    shares = (100 * part / given for part in (held, below, above))
    told = "{:.1f} ({:.1f} / {:.1f} / ".format(*shares)
    return f"{told + f'{100 * none / studies:.1f})':>28}"


if __name__ == "__main__":
    words = [int(word) for word in sys.argv[1:]]
    main(*(words + [1000, 1000][len(words) :]))
