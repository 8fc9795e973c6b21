"""Where labels pay: how many from each stratum, how many in all for an interval, and each unit's chance in an active draw."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, hypot, sqrt
from statistics import stdev
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)

Z95 = 1.959963984540054
FEWEST = 5
"""Labels that each stratum gets, as far as it has units."""
UNKNOWN_TRIAL_SPREAD = 0.25
"""The standard deviation of a trial's measure before anything is labelled; of a yes or no it is .5."""
_LEAST = 0.02
UNKNOWN_ICC = 0.1
EVEN = 0.2
"""The part of an active draw's chances that all units share, so that none is without a chance."""
EVEN_BY_VOTES = 0.5
"""The same where judges' votes alone tell doubt: that they agree does not mean that they are right."""
_TINY = 1e-9


def spread_of_pilot(labelled: int, overturned: int) -> float:
    """The standard deviation of people's corrections in a stratum, of whose `labelled` pilot units people `overturned`
    so many: sqrt(p (1 - p)) with p = (x + 1) / (m + 2), which is .5 where nothing was labelled and never 0.
    """
    p = (overturned + 1) / (labelled + 2)
    return sqrt(p * (1 - p))


def pilot_spread(corrections: Sequence[float], *, of_items: bool) -> float:
    """The standard deviation of people's corrections in a stratum by those of its pilot: of items, each -1, 0 or 1; or of
    trials, whose measures move by parts, from `FEWEST` of them on.
    """
    if of_items:
        return spread_of_pilot(len(corrections), sum(map(bool, corrections)))
    return max(stdev(corrections), _LEAST) if len(corrections) >= FEWEST else UNKNOWN_TRIAL_SPREAD


def pilot_doubts(classes: Mapping[Key, Sequence[float]], *, of_items: bool) -> dict[Key, float]:
    """How uncertain the judge is of the units of each class, by the corrections of its pilot. An active draw is one
    stratum: what counts is how far corrections are from the mean of all, so a class whose mean is another is uncertain
    even if it is all alike.
    """
    every = [correction for found in classes.values() for correction in found]
    mean = sum(every) / (len(every) + 2)
    return {
        key: hypot(pilot_spread(found, of_items=of_items), sum(found) / (len(found) + 2) - mean)
        for key, found in classes.items()
    }


def neyman(
    sizes: Mapping[str, int], spreads: Mapping[str, float], n: int, *, fewest: int = FEWEST
) -> dict[str, int]:
    """How many of `n` labels each stratum gets: in proportion to size times standard deviation (Neyman 1934), at least
    `fewest` and never more than it has, what is over going to the others by the same rule; rounded by largest
    remainders. Gives `n` in all, or everything where that is less. With fewer labels than the least of all strata
    together take, that least is lowered.
    """
    n = min(n, sum(sizes.values()))
    while fewest and sum(min(fewest, size) for size in sizes.values()) > n:
        fewest -= 1
    least = {name: min(fewest, size) for name, size in sizes.items()}
    weights = {name: size * spreads[name] for name, size in sizes.items()}
    if not any(weights.values()):
        weights = {name: float(size) for name, size in sizes.items()}
    exact = _within(weights, least, sizes, n)
    given = {name: min(sizes[name], floor(value + _TINY)) for name, value in exact.items()}
    by_remainder = sorted(sizes, key=lambda name: (given[name] - exact[name], -sizes[name], name))
    while (left := n - sum(given.values())) > 0:
        for name in [name for name in by_remainder if given[name] < sizes[name]][:left]:
            given[name] += 1
    return given


def allocate(sizes: Mapping[str, int], n: int, *, equal: bool = False) -> dict[str, int]:
    """How many of `n` to draw from each stratum, in proportion to its size or `equal`, by largest remainder; at least one
    from each as far as `n` goes, never more than there are.
    """
    names = sorted(sizes)
    n = min(n, sum(sizes.values()))
    given = dict.fromkeys(names, 0)
    for name in sorted(names, key=lambda name: -sizes[name])[:n]:
        given[name] = 1
    while (left := n - sum(given.values())) > 0:
        open_ = [name for name in names if given[name] < sizes[name]]
        weights = {name: 1 if equal else sizes[name] for name in open_}
        goal = n - sum(given[name] for name in names if name not in weights)
        total = sum(weights.values())
        lacks = {
            name: max(Fraction(goal * weights[name], total) - given[name], Fraction(0))
            for name in open_
        }
        over = max(sum(lacks.values()) / left, 1)
        shares = {name: lack / over for name, lack in lacks.items()}
        for name in open_:
            given[name] += min(int(shares[name]), sizes[name] - given[name])
        if n - sum(given.values()) == left:
            for name in sorted(open_, key=lambda name: (-shares[name], name))[:left]:
                given[name] += 1
    return given


def _within(
    weights: Mapping[str, float], least: Mapping[str, int], most: Mapping[str, int], n: int
) -> dict[str, float]:
    """Parts of `n` in proportion to the weights, each within its bounds. Weights of 0 get their least, unless all others
    have their most.
    """
    found: dict[str, float] = {}
    free: dict[str, float] = dict(weights)
    while free:
        goal = n - sum(found.values())
        total = sum(free.values())
        parts = {name: goal * (w / total if total else 1 / len(free)) for name, w in free.items()}
        over = {name: part for name, part in parts.items() if part > most[name]}
        under = {name: part for name, part in parts.items() if part < least[name]}
        if not over and not under:
            return found | parts
        excess = sum(part - most[name] for name, part in over.items())
        lack = sum(least[name] - part for name, part in under.items())
        # Only those on the heavier side are sure to stand at their bound in the end.
        fixed, bound = (over, most) if excess >= lack else (under, least)
        found |= {name: float(bound[name]) for name in fixed}
        free = {name: weight for name, weight in free.items() if name not in fixed}
    return found


def labels_for_half_width(
    half_width: float, strata: Iterable[tuple[int, float]], *, deff: float = 1
) -> float:
    """How many labels, allocated by `neyman`, make a 95% interval that reaches so far to each side, not rounded.
    `strata`: size and standard deviation of each. `deff`: the factor by which units of one task repeat each other.
    At most all units are needed. Raises `ValueError` for a half-width that is not above 0.
    """
    if not half_width > 0:
        raise ValueError("a half-width must be above 0")
    known = list(strata)
    total = sum(size for size, _spread in known)
    if not total:
        return 0.0
    mean = sum(size * spread for size, spread in known) / total
    mean_square = sum(size * spread**2 for size, spread in known) / total
    return min(total, deff * mean**2 / ((half_width / Z95) ** 2 + mean_square / total))


def intraclass_correlation(values: Sequence[float], groups: Sequence[Hashable]) -> float | None:
    """How much units of one group resemble each other: one-way analysis of variance (Donner 1986), 0 where it is
    negative. None where it cannot be told: fewer than two groups, none with two units, or no variance.
    """
    by_group: dict[Hashable, list[float]] = defaultdict(list)
    for value, group in zip(values, groups, strict=True):
        by_group[group].append(value)
    n, k = len(values), len(by_group)
    if k < 2 or n == k:
        return None
    grand = sum(values) / n
    means = {group: sum(found) / len(found) for group, found in by_group.items()}
    between = sum(len(by_group[g]) * (mean - grand) ** 2 for g, mean in means.items()) / (k - 1)
    within = sum((v - means[g]) ** 2 for g, found in by_group.items() for v in found) / (n - k)
    typical = (n - sum(len(found) ** 2 for found in by_group.values()) / n) / (k - 1)
    whole = between + (typical - 1) * within
    return max(0.0, (between - within) / whole) if whole > _TINY**2 else None


def design_effect(units_per_task: float, correlation: float) -> float:
    """1 + (m - 1) rho (Kish 1965), at least 1."""
    return max(1.0, 1 + (units_per_task - 1) * correlation)


@dataclass(frozen=True)
class LabelsNeeded:
    """How many labels an interval takes: `n` of `population`. `correlation`: of units of one task; where it was not
    `known`, `UNKNOWN_ICC` was assumed, which has to be said. `n` None: even all units would not do.
    """

    n: int | None
    population: int
    correlation: float
    known: bool


def labels_needed(
    half_width: float,
    strata: Iterable[tuple[int, float]],
    *,
    tasks: int,
    correlation: float | None = None,
) -> LabelsNeeded:
    """As `labels_for_half_width` for units spread evenly over `tasks`, of which each label more of a task adds less: n is
    that for independent units times the design effect of n / tasks units a task.
    """
    known = [pair for pair in strata if pair[0]]
    population = sum(size for size, _spread in known)
    rho = UNKNOWN_ICC if correlation is None else correlation
    alone = labels_for_half_width(half_width, known)
    if not tasks or not population:
        return LabelsNeeded(None, population, rho, correlation is not None)
    spare = 1 - alone * rho / tasks
    n = max(alone, alone * (1 - rho) / spare) if spare > _TINY else population + 1
    whole = ceil(n - _TINY)
    return LabelsNeeded(
        whole if whole <= population else None, population, rho, correlation is not None
    )


def vote_uncertainty(votes: Sequence[bool]) -> float:
    """How far judges differ on a unit: sqrt(q (1 - q)) for a share q of them that say yes; 0 for none or one."""
    q = sum(votes) / len(votes) if votes else 0.0
    return sqrt(q * (1 - q))


def active_chances(uncertainties: Sequence[float], n: float, *, even: float = EVEN) -> list[float]:
    """Each unit's chance in an active draw of `n` units on average (Zrnic & Candès 2024): in proportion to how uncertain
    the judge is of it, a part of it `even`, the same for all. Chances are above 0, at most 1, and sum to `n`, or are all 1 for
    as many units as that. Where nothing is uncertain all are alike.
    """
    if n >= len(uncertainties):
        return [1.0] * len(uncertainties)
    mean = sum(uncertainties) / len(uncertainties)
    weights = [(1 - even) * u / mean + even if mean > 0 else 1.0 for u in uncertainties]
    sure: set[int] = set()
    while True:
        free = sum(weight for i, weight in enumerate(weights) if i not in sure)
        scale = (n - len(sure)) / free if free else 0.0
        more = {i for i, w in enumerate(weights) if i not in sure and scale * w >= 1}
        if not more:
            return [1.0 if i in sure else scale * weight for i, weight in enumerate(weights)]
        sure |= more
