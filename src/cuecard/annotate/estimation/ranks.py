"""Ranks of agents on the same tasks: sets from simultaneous intervals (Mogstad, Romano, Shaikh & Wilhelm 2024), how often each
comes first, and p values adjusted for many comparisons (Holm 1979).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.intervals import LEVEL, RESAMPLES, drawn_groups
from cuecard.core.i18n import _
from cuecard.core.tasks.base import Frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEWEST_TASKS = 10
"""With fewer there are no rank sets: the intervals would not hold what they promise."""
_DUST = 1e-10


class RankedPair(Frozen):
    """Two agents: `difference` is the mean over tasks of the left one's value minus the right one's, with an interval that holds
    together with those of all other pairs. `decided`: the differences of all tasks are equal, and not zero.
    """

    left: str
    right: str
    difference: float
    low: float
    high: float
    decided: bool = False

    @property
    def apart(self) -> int:
        """1 if the left one is higher, -1 if the right one is, 0 if they are not told apart."""
        return (self.low > 0) - (self.high < 0)


class Ranked(Frozen):
    """An agent with its mean over the tasks. `best` and `worst` bound its rank; None where there are no rank sets. `first`: the
    share of resamples in which its mean is the highest, ties shared; that is no probability that it is best.
    """

    name: str
    mean: float
    best: int | None
    worst: int | None
    first: float | None


class Ranks(Frozen):
    """Agents in groups of which each is told apart from every other; within a group by name. `pairs` are empty, and `reason` says
    why, where there are no rank sets; then all agents are one group. `tasks`: those that all agents have; `left_out`: the
    others.
    """

    tasks: int
    left_out: int
    groups: tuple[tuple[Ranked, ...], ...]
    pairs: tuple[RankedPair, ...]
    reason: str = ""

    @property
    def agents(self) -> tuple[Ranked, ...]:
        return tuple(one for group in self.groups for one in group)


def ranks(
    values: Mapping[str, Mapping[str, float]],
    base: str | None = None,
    *,
    lower_is_better: bool = False,
    widening: float = 1.0,
    labelled: int | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Ranks:
    """Ranks of agents from their values by task, over the tasks that all have. `base`: only the pairs with this agent, whose
    intervals are narrower; the others are then not told apart. `widening`: of all intervals, where values are estimates
    from few labels; `labelled`: on how many tasks these stand.
    """
    import numpy as np

    names = sorted(values)
    every = {task for own in values.values() for task in own}
    tasks = sorted(task for task in every if all(task in own for own in values.values()))
    table = np.array([[values[name][task] for name in names] for task in tasks])
    table = table.reshape(len(tasks), len(names))
    means = table.mean(axis=0) if tasks else np.zeros(len(names))
    reason = ""
    if len(names) < 2:
        reason = _("fewer than two to rank")
    elif len(tasks) < FEWEST_TASKS:
        reason = _("fewer than {n} tasks that all have").format(n=FEWEST_TASKS)
    elif labelled is not None and labelled < FEWEST_TASKS:
        reason = _("fewer than {n} tasks with labels").format(n=FEWEST_TASKS)
    if reason:
        alone = tuple(
            Ranked(name=name, mean=float(mean), best=None, worst=None, first=None)
            for name, mean in zip(names, means, strict=True)
        )
        return Ranks(
            tasks=len(tasks),
            left_out=len(every) - len(tasks),
            groups=(alone,) if alone and tasks else (),
            pairs=(),
            reason=reason,
        )
    sign = -1.0 if lower_is_better else 1.0
    drawn = drawn_groups(len(tasks), resamples=resamples, seed=seed)
    places = [
        (j, k) for j, k in combinations(range(len(names)), 2) if base in (None, names[j], names[k])
    ]
    pairs = _simultaneous(names, places, table, drawn, widening)
    first = _firsts(sign * table, drawn)
    told = {frozenset((p.left, p.right)): p for p in pairs}

    def above(one: str, other: str) -> bool:
        pair = told.get(frozenset((one, other)))
        return pair is not None and sign * pair.apart == (1 if pair.left == one else -1)

    found = {
        name: Ranked(
            name=name,
            mean=float(means[at]),
            best=1 + sum(above(other, name) for other in names if other != name),
            worst=len(names) - sum(above(name, other) for other in names if other != name),
            first=float(first[at]),
        )
        for at, name in enumerate(names)
    }
    order = sorted(names, key=lambda name: -sign * found[name].mean)
    groups: list[list[Ranked]] = []
    for at, name in enumerate(order):
        if not at or all(above(one, other) for one in order[:at] for other in order[at:]):
            groups.append([])
        groups[-1].append(found[name])
    return Ranks(
        tasks=len(tasks),
        left_out=len(every) - len(tasks),
        groups=tuple(tuple(sorted(group, key=lambda one: one.name)) for group in groups),
        pairs=pairs,
    )


def _simultaneous(
    names: Sequence[str],
    places: Sequence[tuple[int, int]],
    table: NDArray[np.float64],
    drawn: NDArray[np.float64],
    widening: float,
) -> tuple[RankedPair, ...]:
    """Intervals D -+ q se, where q is the 95% quantile over resamples of the largest |D* - D| / se*, with se* from the resample
    itself: with se held fixed ten tasks are covered too rarely.
    """
    import numpy as np

    count = len(table)
    left, right = [j for j, _k in places], [k for _j, k in places]
    gaps = table[:, left] - table[:, right]
    middle = gaps.mean(axis=0)
    centred = gaps - middle
    error = np.sqrt((centred**2).sum(axis=0) / (count - 1) / count)
    varies = error > _DUST
    moved = drawn @ centred[:, varies] / count
    squares = drawn @ centred[:, varies] ** 2 / count
    errors = np.sqrt(np.maximum(squares - moved**2, 0) / (count - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        # Resamples in which a pair does not vary say nothing of it.
        sizes = np.where(errors > _DUST, np.abs(moved) / errors, 0.0)
    reach = 0.0
    if varies.any():
        reach = widening * float(np.quantile(sizes.max(axis=1), LEVEL, method="higher"))
    return tuple(
        RankedPair(
            left=names[j],
            right=names[k],
            difference=float(middle[at]) if abs(middle[at]) > _DUST else 0.0,
            low=float(middle[at] - reach * error[at]) if varies[at] else _still(middle[at]),
            high=float(middle[at] + reach * error[at]) if varies[at] else _still(middle[at]),
            decided=not varies[at] and abs(middle[at]) > _DUST,
        )
        for at, (j, k) in enumerate(places)
    )


def _still(value: float) -> float:
    return float(value) if abs(value) > _DUST else 0.0


def _firsts(table: NDArray[np.float64], drawn: NDArray[np.float64]) -> NDArray[np.float64]:
    """In which share of resamples each column has the highest mean, ties shared."""
    import numpy as np

    means = np.round(drawn @ table / len(table), 10)
    top = means == means.max(axis=1, keepdims=True)
    return (top / top.sum(axis=1, keepdims=True)).mean(axis=0)


def holm(values: Sequence[float | None]) -> tuple[float | None, ...]:
    """The p values adjusted by Holm's step-down method, each in its place: the i-th smallest of m is the largest of
    min(1, (m - l + 1) p_(l)) for l <= i. None (no test) stays None and does not count.
    """
    known = sorted((p, at) for at, p in enumerate(values) if p is not None)
    found: list[float | None] = [None] * len(values)
    highest = 0.0
    for place, (p, at) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - place) * p))
        found[at] = highest
    return tuple(found)
