"""Ratios of sums over trials, with intervals by task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import fsum
from typing import TYPE_CHECKING, TypeVar

from cuecard.annotate.agreement import Coefficient, Statistic, with_intervals
from cuecard.annotate.agreement.bootstrap import FEWEST_GROUPS
from cuecard.annotate.agreement.coefficient import ratio
from cuecard.core.i18n import _
from cuecard.core.tasks.base import Frozen
from cuecard.results.pool import Row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_Key = TypeVar("_Key")
_ALONE = 16
Part = tuple[Row, float, float]
"""What one trial adds above and below the line."""


class Rate(Frozen):
    """`count` / `of`: the sums over trials whose ratio `statistic` is, with its interval. `trials`: those that are
    opened from here, the ones that have what is counted or, of a mean, all that entered.
    """

    statistic: Statistic
    count: float
    of: float
    trials: tuple[int, ...]

    @property
    def value(self) -> float | None:
        return self.statistic.value


@dataclass(frozen=True)
class Plan:
    """A ratio to be counted. `share`: it lies between 0 and 1. `hits`: only trials that add above the line are
    behind it. `empty`: why there is no value where nothing is below the line. `each_task`: the mean over tasks of
    each task's own ratio, as `core.scoring.aggregate` takes measures; `n` counts tasks then.
    """

    name: str
    parts: tuple[Part, ...]
    share: bool = True
    hits: bool = False
    empty: str = field(default_factory=lambda: _("nothing to count"))
    each_task: bool = False


def plan(
    name: str,
    parts: Iterable[Part],
    *,
    share: bool = True,
    hits: bool = False,
    empty: str = "",
    each_task: bool = False,
) -> Plan:
    return Plan(name, tuple(parts), share, hits, empty or _("nothing to count"), each_task)


def flagged(name: str, rows: Iterable[tuple[Row, bool]], empty: str = "") -> Plan:
    """The share of trials that have something; those are behind it."""
    return plan(name, ((row, float(flag), 1.0) for row, flag in rows), hits=True, empty=empty)


def counted(plans: Mapping[_Key, Plan]) -> dict[_Key, Rate]:
    """Every ratio with its 95% interval, in which all trials of a task are drawn together
    (`annotate.agreement.with_intervals`). Many at once see the same resamples, which costs less.
    """
    if len(plans) <= _ALONE:
        # Each by itself: the same figure has the same interval in every table.
        return {
            key: _rate(plan, *with_intervals(coefficients_of([plan])))
            for key, plan in plans.items()
        }
    # In an order of their own, so that intervals do not follow from that of the trials.
    ordered = sorted(plans, key=str)
    coefficients = coefficients_of([plans[key] for key in ordered])
    statistics = dict(zip(ordered, with_intervals(coefficients), strict=True))
    return {key: _rate(plan, statistics[key]) for key, plan in plans.items()}


def coefficients_of(plans: list[Plan]) -> list[Coefficient]:
    """A coefficient for each plan, all over the same tasks."""
    tasks = sorted({row.trial.task_id for plan in plans for row, _above, _below in plan.parts})
    places = {task: place for place, task in enumerate(tasks)}
    return [_coefficient(plan, places) for plan in plans]


def _coefficient(plan: Plan, places: Mapping[str, int]) -> Coefficient:
    import numpy as np

    terms = np.zeros((len(places), 2))
    tasks: dict[int, list[Part]] = defaultdict(list)
    for part in plan.parts:
        tasks[places[part[0].trial.task_id]].append(part)
    for place, mine in tasks.items():
        # Exactly, so that the order of the trials does not show in the last digit.
        terms[place] = (fsum(part[1] for part in mine), fsum(part[2] for part in mine))
    # Wilson's interval takes a task for one observation; of a few tasks' many items it would say nothing.
    items = any(below > 1 for _row, _above, below in plan.parts)
    if plan.each_task:
        below = terms[:, 1:]
        terms = np.where(
            below > 0, np.hstack([terms[:, :1] / np.maximum(below, 1e-12), below > 0]), 0
        )
    return Coefficient(
        name=plan.name,
        terms=terms,
        of=_ratio,
        n=round(terms[:, 1].sum()),
        undefined=plan.empty,
        share=plan.share and not (items and np.count_nonzero(terms.any(axis=1)) < FEWEST_GROUPS),
    )


def _rate(plan: Plan, statistic: Statistic) -> Rate:
    behind = (
        row.trial.id for row, above, below in plan.parts if (above if plan.hits else below) > 0
    )
    return Rate(
        statistic=statistic,
        count=fsum(above for _row, above, _below in plan.parts),
        of=fsum(below for _row, _above, below in plan.parts),
        trials=tuple(dict.fromkeys(behind)),
    )


def _ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return ratio(sums[..., 0], sums[..., 1])
