"""The betting confidence sequence, looked at after every label of 2,000 orders of known populations: how often it ever left
the truth out, how often the order of two agents was decided wrongly, and how wide it is after how many labels; and the
interval of a fixed number of labels, looked at as often. Prints the tables of docs/stopping.md.

    nice python bench/stopping.py [--orders 2000]
"""

import argparse
from collections import Counter
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from cuecard.annotate.estimation.allocation import Z95
from cuecard.annotate.estimation.stopping import (
    LEVEL,
    BettingSequence,
    CorrectedSequence,
    StratumBounds,
    decided,
)

SIZE = 300
BATCH = 250
CORRECTIONS = (0.02, 0.83, 0.15)
"""Shares of units that people decide lower than the judge, alike, and higher."""


def population(name: str, size: int = SIZE) -> NDArray[np.float64]:
    """The units of a population, scaled to [0, 1]."""
    if name == "corrections":
        counts = [round(size * share) for share in CORRECTIONS]
        return np.repeat([0.0, 0.5, 1.0], [counts[0], size - counts[0] - counts[2], counts[2]])
    ones = round(size * float(name))
    return np.repeat([1.0, 0.0], [ones, size - ones])


def orders_of(values: NDArray[np.float64], n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    return rng.permuted(np.tile(values, (n, 1)), axis=1)


def ever_outside(name: str, orders: int, rng: np.random.Generator) -> tuple[float, float]:
    """Shares of orders in which the truth is ever outside: of the sequence, and of the interval for a fixed n with finite
    population correction, from 10 labels on.
    """
    values = population(name)
    truth = values.mean()
    left = fixed = 0
    for start in range(0, orders, BATCH):
        drawn = orders_of(values, min(BATCH, orders - start), rng)
        sequence = BettingSequence(SIZE, orders=len(drawn))
        out = np.zeros(len(drawn), dtype=bool)
        out_fixed = np.zeros(len(drawn), dtype=bool)
        for t in range(1, SIZE):
            sequence.add(drawn[:, t - 1])
            low, high = sequence.ends()
            out |= (low > truth + 1e-12) | (high < truth - 1e-12)
            if t >= 10:
                seen = drawn[:, :t]
                half = Z95 * seen.std(axis=1, ddof=1) * np.sqrt((1 - t / SIZE) / t)
                out_fixed |= np.abs(seen.mean(axis=1) - truth) > half
        left += int(out.sum())
        fixed += int(out_fixed.sum())
    return left / orders, fixed / orders


def decisions(orders: int, gap: float, rng: np.random.Generator) -> tuple[float, float, float]:
    """Two agents on the same 300 units, people's values yes or no, a judge who errs on a tenth; told apart each by its own
    sequence at half the level. Gives the shares of orders in which an agent was ever told to be better that is not, and in
    which the better one was told before all was labelled, and the mean number of units labelled of each until then.
    """
    wrong = told = used = 0
    for _each in range(orders):
        a = (rng.random(SIZE) < 0.5 + gap / 2).astype(float)
        b = rng.permutation(a) if gap == 0 else (rng.random(SIZE) < 0.5 - gap / 2).astype(float)
        judged = [np.where(rng.random(SIZE) < 0.1, 1 - each, each).tolist() for each in (a, b)]
        truth = a.mean() - b.mean()
        one, other = (
            CorrectedSequence({"": StratumBounds.of(Counter(each), SIZE)}, level=LEVEL / 2)
            for each in judged
        )
        first, second = rng.permutation(SIZE), rng.permutation(SIZE)
        for t in range(SIZE - 1):
            one.add("", float(a[first[t]] - judged[0][first[t]]))
            other.add("", float(b[second[t]] - judged[1][second[t]]))
            if decided(one, other):
                better = 1 if one.interval > other.interval else -1
                right = better * truth > 0
                wrong += not right
                told += right
                used += t + 1
                break
    return wrong / orders, told / orders, used / max(wrong + told, 1)


def price(orders: int, rng: np.random.Generator) -> list[tuple[int, float]]:
    """The mean width of the corrected share after some labels of 200 units."""
    values = population("corrections", 200)
    drawn = orders_of(values, orders, rng)
    sequence = BettingSequence(200, orders=orders)
    found: list[tuple[int, float]] = []
    for t in range(1, 200):
        sequence.add(drawn[:, t - 1])
        if t in (20, 40, 60, 100, 150):
            low, high = sequence.ends()
            found.append((t, 2 * float((high - low).mean())))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, default=2000)
    orders = parser.parse_args().orders
    rng = np.random.default_rng(20)
    print("| population of 300 | ever outside, in % | interval of a fixed n, in % |")
    for name in ("0.5", "0.8", "0.95", "corrections"):
        begun = perf_counter()
        left, fixed = ever_outside(name, orders, rng)
        took = perf_counter() - begun
        print(f"| {name} | {100 * left:.2f} | {100 * fixed:.1f} | {took:.0f} s")
    print("| true difference | decided wrongly, in % | rightly, in % | units of each |")
    for gap in (0.0, 0.1, 0.3):
        wrong, told, used = decisions(orders, gap, rng)
        print(f"| {gap} | {100 * wrong:.2f} | {100 * told:.1f} | {used:.0f} |", flush=True)
    print("| labels of 200 | mean width |")
    for t, width in price(min(orders, 300), rng):
        print(f"| {t} | {width:.3f} |")


if __name__ == "__main__":
    main()
