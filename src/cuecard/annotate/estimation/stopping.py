"""Intervals that may be looked at after every label: the betting confidence sequence of a mean of bounded values, and of
a corrected share from strata.

Method: hedged capital with and without replacement (Waudby-Smith & Ramdas 2024, arXiv 2010.09686; 2020, arXiv 2006.04347).
It holds at any sample size for values within known bounds, however often it is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEVEL = 0.05
GRID = 1000
"""Steps of the grid of means that are held against the data."""
_TRUNCATED = 0.5
"""The share of what a bet may lose at most."""


class BettingSequence:
    """The mean of units in [0, 1], in random order. `size`: how many units there are in all; None for an endless supply.
    A mean is ruled out, for good, once bets against it have won `2 / level` times what was staked. `fractions`: values are
    multiples of its inverse (1 for yes or no), so that for few units every possible mean is looked at; 0 if unknown.
    `orders`: of how many orders of the units this is at once, as simulations ask for; values are then arrays.

    Adding a value takes one pass over the grid. Nothing is kept of the values but sums.
    """

    def __init__(
        self, size: int | None, *, level: float = LEVEL, fractions: int = 0, orders: int = 0
    ) -> None:
        import numpy as np

        self.size, self.level = size, level
        self.count = 0
        means = np.linspace(0.0, 1.0, GRID + 1)
        if size is not None and 0 < size * fractions <= GRID:
            means = np.union1d(means, np.arange(size * fractions + 1) / (size * fractions))
        self._means = means
        batch = (orders,) if orders else ()
        self._sum = np.zeros((*batch, 1))
        self._squares = np.full((*batch, 1), 0.25)
        self._above = np.zeros((*batch, len(means)))
        self._below = np.zeros((*batch, len(means)))
        self._left = np.ones((*batch, len(means)), dtype=bool)

    def add(self, value: float | Floats) -> None:
        """The value of the next unit. Raises `ValueError` outside [0, 1], or for more units than there are."""
        import numpy as np

        x = np.asarray(value, dtype=np.float64)[..., None]
        if not ((x >= 0) & (x <= 1)).all():
            raise ValueError("a value outside [0, 1]")
        if self.size is not None and self.count >= self.size:
            raise ValueError("more values than units")
        self.count += 1
        t = self.count
        rest = self._rest_means()
        possible = (rest >= 0) & (rest <= 1)
        m = np.clip(rest, 0.0, 1.0)
        variance = self._squares / t
        bet = np.sqrt(2 * np.log(2 / self.level) / (variance * t * np.log(t + 1)))
        with np.errstate(divide="ignore"):
            self._above += np.log1p(np.minimum(bet, _TRUNCATED / m) * (x - m))
            self._below += np.log1p(-np.minimum(bet, _TRUNCATED / (1 - m)) * (x - m))
        won = np.maximum(self._above, self._below) >= np.log(2 / self.level)
        self._left &= possible & ~won
        self._sum = self._sum + x
        self._squares = self._squares + (x - (0.5 + self._sum) / (t + 1)) ** 2

    def _rest_means(self) -> Floats:
        """For each mean of all units, that of those which have not come yet."""
        import numpy as np

        if self.size is None:
            return np.broadcast_to(self._means, self._above.shape)
        return (self.size * self._means - self._sum) / (self.size - self.count + 1)

    def holds(self) -> tuple[Floats, Floats]:
        """The least and the greatest mean that is left, before anything is rounded; NaN where none of the grid is."""
        import numpy as np

        low = np.where(self._left, self._means, np.inf).min(axis=-1)
        high = np.where(self._left, self._means, -np.inf).max(axis=-1)
        none = low > high
        return np.where(none, np.nan, low), np.where(none, np.nan, high)

    def ends(self) -> tuple[Floats, Floats]:
        """The ends of the interval, one step of the grid wider than what is left, and within what the units that have not
        come can still make of the mean; of each order, where there are several.
        """
        import numpy as np

        low, high = self.holds()
        low, high = np.fmax(low - 1 / GRID, 0.0), np.fmin(high + 1 / GRID, 1.0)
        if self.size is not None:
            total = self._sum[..., 0]
            low = np.fmax(low, total / self.size)
            high = np.fmin(high, (total + self.size - self.count) / self.size)
        return low, high

    @property
    def interval(self) -> tuple[float, float]:
        low, high = self.ends()
        return float(low), float(high)


@dataclass(frozen=True)
class StratumBounds:
    """A stratum of units, as it is known before the first label. `share`: of all units' weight (W_h); `judge`: the mean of
    l J over all of them; `low`, `high`: what people's value less l times the judge's can be at the least and most.
    `fractions`: as in `BettingSequence`, of the whole span from low to high.
    """

    size: int
    share: float
    judge: float
    low: float
    high: float
    fractions: int = 0

    @classmethod
    def of(
        cls,
        judged: Mapping[float, int],
        whole: int,
        *,
        trust: float = 1.0,
        yes_or_no: bool = True,
    ) -> Self:
        """So many units with these values of the judge, each in [0, 1], as part of a `whole` number of units. `trust`, the
        l, is fixed before the first label; where the judge says the same of all it makes no difference.
        """
        size = sum(judged.values())
        low, high = -trust * max(judged), 1 - trust * min(judged)
        return cls(
            size=size,
            share=size / whole,
            judge=trust * sum(value * n for value, n in judged.items()) / size,
            low=low,
            high=high,
            fractions=round(high - low) if yes_or_no and trust in (0.0, 1.0) else 0,
        )


class CorrectedSequence:
    """The mean of people's values over all units of some strata, from those labelled so far in random order and the judge's
    of all: in each stratum the betting sequence of people's less l times the judge's, at a level that is divided by the
    number of strata, weighted by their shares. `known`: what units outside the strata, whose values are known, add to the
    mean.
    """

    def __init__(
        self, strata: Mapping[str, StratumBounds], *, known: float = 0.0, level: float = LEVEL
    ) -> None:
        self.strata, self._known = dict(strata), known
        self._each = {
            name: BettingSequence(
                units.size, level=level / len(self.strata), fractions=units.fractions
            )
            for name, units in self.strata.items()
        }
        self._said: dict[str, list[float]] = {name: [] for name in self.strata}
        self._ends = {name: each.interval for name, each in self._each.items()}

    def add(self, stratum: str, error: float) -> None:
        """The next labelled unit of a stratum: people's value less l times the judge's. Raises `ValueError` for one outside
        the stratum's bounds, or for more units than it has.
        """
        units = self.strata[stratum]
        each = self._each[stratum]
        each.add((error - units.low) / (units.high - units.low))
        self._ends[stratum] = each.interval
        self._said[stratum].append(error)

    @property
    def labelled(self) -> int:
        return sum(each.count for each in self._each.values())

    @property
    def size(self) -> int:
        return sum(units.size for units in self.strata.values())

    @property
    def estimate(self) -> float | None:
        """The judge's mean, corrected by what was labelled; None while a stratum has no label."""
        if not all(self._said.values()):
            return None
        return self._known + sum(
            units.judge * units.share + units.share * sum(self._said[name]) / len(self._said[name])
            for name, units in self.strata.items()
        )

    @property
    def interval(self) -> tuple[float, float]:
        """Holds the mean over *these* units in 95 of 100 studies, at all looks together. Of no stratum does it go beyond
        [0, 1], where people's values are.
        """
        low = high = self._known
        for name, units in self.strata.items():
            span = units.high - units.low
            least, most = (units.judge + units.low + end * span for end in self._ends[name])
            low += units.share * max(least, 0.0)
            high += units.share * min(most, 1.0)
        return low, high

    @property
    def half_width(self) -> float:
        low, high = self.interval
        return (high - low) / 2

    def imagined(self, stratum: str, chooser: Random) -> float:
        """A unit of the stratum that is like one of those labelled; of its bounds' middle before any is."""
        said = self._said[stratum]
        units = self.strata[stratum]
        return chooser.choice(said) if said else (units.low + units.high) / 2


def decided(left: CorrectedSequence, right: CorrectedSequence) -> bool:
    """Whether the order of two agents is told by their own intervals, each at half the level: they have nothing in common."""
    (left_low, left_high), (right_low, right_high) = left.interval, right.interval
    return left_high < right_low or right_high < left_low


_PATHS = 5
_LOOKS = 60
"""How often it is looked on a way ahead, at the most."""


def labels_to_go(
    sequences: Sequence[CorrectedSequence],
    rest: Sequence[tuple[int, str]],
    done: Callable[[Sequence[CorrectedSequence]], bool],
) -> int | None:
    """About how many labels more until `done`, if those to come are like those that were given: the median of some ways on.
    `rest`: for each unit that can still be labelled, in their order, which sequence it belongs to and its stratum. None if
    they are too few.
    """
    if done(sequences):
        return 0
    ways = [_until(sequences, rest, done, Random(way)) for way in range(_PATHS)]
    n = sorted(len(rest) + 1 if way is None else way for way in ways)[_PATHS // 2]
    return n if n <= len(rest) else None


def _until(
    sequences: Sequence[CorrectedSequence],
    rest: Sequence[tuple[int, str]],
    done: Callable[[Sequence[CorrectedSequence]], bool],
    chooser: Random,
) -> int | None:
    ahead = deepcopy(list(sequences))
    step = max(1, len(rest) // _LOOKS)
    for n, (which, stratum) in enumerate(rest, 1):
        ahead[which].add(stratum, ahead[which].imagined(stratum, chooser))
        if (n % step == 0 or n == len(rest)) and done(ahead):
            return n
    return None
