"""Ratios of sums over trials with their intervals, and tables of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, TypeVar

from cuecard.annotate.agreement.intervals import FEWEST_GROUPS, each_with_interval, with_intervals
from cuecard.annotate.results.errors.groups import Judged, Trials
from cuecard.annotate.results.pool import Row
from cuecard.core.i18n import _
from cuecard.core.tables.table import Cell, Coefficient, Statistic, Table, in_percent, quotient
from cuecard.core.tasks.base import Frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Part = tuple[Row, float, float]
"""A trial with what it adds to the numerator and to the denominator."""

_Key = TypeVar("_Key")
_ALONE = 16


class Rate(Frozen):
    """A ratio of sums over trials with its interval: `count` / `of`. `trials`: those behind it, for opening them: the
    ones that have what is counted or, for a mean, all that entered.
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
    """A ratio to compute, of what each of `trials` (`at`: of those at these places) adds. `share`: it lies between 0 and 1.
    `hits`: only trials that add to the numerator are listed behind it. `empty`: the reason given if the denominator is
    0. `each_task`: take the mean over tasks of each task's own ratio, as `core.scoring.aggregate` does; `n` then counts
    tasks.
    """

    name: str
    trials: Trials
    above: Sequence[float]
    below: Sequence[float]
    share: bool = True
    hits: bool = False
    empty: str = field(default_factory=lambda: _("nothing to count"))
    each_task: bool = False
    at: Sequence[int] | None = None

    def of_each(self, column: NDArray[np.int64]) -> NDArray[np.int64]:
        """A column of `trials`, of those that add something."""
        return column if self.at is None else column[list(self.at)]

    @cached_property
    def tasks(self) -> set[str]:
        """The tasks of the trials that add something."""
        if self.at is None:
            return set(self.trials.tasks)
        return {self.trials.tasks[place] for place in {*self.of_each(self.trials.places).tolist()}}


def plan(
    name: str,
    parts: Iterable[Part],
    *,
    share: bool = True,
    hits: bool = False,
    empty: str = "",
    each_task: bool = False,
) -> Plan:
    told = list(parts)
    return Plan(
        name,
        Trials(row for row, _above, _below in told),
        [above for _row, above, _below in told],
        [below for _row, _above, below in told],
        share,
        hits,
        empty or _("nothing to count"),
        each_task,
    )


def flagged(name: str, rows: Iterable[tuple[Row, bool]], empty: str = "") -> Plan:
    """The share of trials that have the flag."""
    told = list(rows)
    return Plan(
        name,
        Trials(row for row, _flag in told),
        [float(flag) for _row, flag in told],
        [1.0] * len(told),
        hits=True,
        empty=empty or _("nothing to count"),
    )


def counted(plans: Mapping[_Key, Plan]) -> dict[_Key, Rate]:
    """Every ratio with its 95% interval, resampling tasks (`annotate.agreement.intervals.with_intervals`). Many at once share
    their resamples, which is faster.
    """
    if len(plans) <= _ALONE:
        # Each by itself: the same figure has the same interval in every table.
        told = each_with_interval([coefficients_of([plan])[0] for plan in plans.values()])
        return {key: _rate(plan, one) for (key, plan), one in zip(plans.items(), told, strict=True)}
    # In an order of their own, so that intervals do not follow from that of the trials.
    ordered = sorted(plans, key=str)
    coefficients = coefficients_of([plans[key] for key in ordered])
    statistics = dict(zip(ordered, with_intervals(coefficients), strict=True))
    return {key: _rate(plan, statistics[key]) for key, plan in plans.items()}


def coefficients_of(plans: list[Plan]) -> list[Coefficient]:
    """A coefficient for each plan, all over the same tasks."""
    import numpy as np

    tasks = sorted(set[str]().union(*(plan.tasks for plan in plans)))
    of = {task: place for place, task in enumerate(tasks)}
    found: list[Coefficient] = []
    for each in plans:
        # Tasks that add nothing to any of the plans have no place.
        own = np.array([of.get(task, -1) for task in each.trials.tasks], dtype=np.int64)
        found.append(_coefficient(each, own[each.of_each(each.trials.places)], len(tasks)))
    return found


def _sums(values: Sequence[float], places: NDArray[np.int64], many: int) -> NDArray[np.float64]:
    """By task, exactly, so that the order of the trials does not show in the last digit."""
    import numpy as np

    numbers = np.array(values, dtype=np.float64)
    if (numbers == np.floor(numbers)).all():
        return np.bincount(places, numbers, many).astype(np.float64)
    own: list[list[float]] = [[] for _task in range(many)]
    for value, place in zip(values, places.tolist(), strict=True):
        own[place].append(value)
    return np.array([fsum(each) for each in own])


def _coefficient(plan: Plan, places: NDArray[np.int64], many: int) -> Coefficient:
    import numpy as np

    terms = np.column_stack([_sums(plan.above, places, many), _sums(plan.below, places, many)])
    # Wilson's interval takes a task for one observation; of a few tasks' many items it would say nothing.
    items = max(plan.below, default=0) > 1
    if plan.each_task:
        below = terms[:, 1:]
        terms = np.where(
            below > 0, np.hstack([terms[:, :1] / np.maximum(below, 1e-12), below > 0]), 0
        )
    return Coefficient(
        name=plan.name,
        terms=terms,
        of=quotient,
        n=round(terms[:, 1].sum()),
        undefined=plan.empty,
        share=plan.share and not (items and np.count_nonzero(terms.any(axis=1)) < FEWEST_GROUPS),
    )


def _rate(plan: Plan, statistic: Statistic) -> Rate:
    counted = [n > 0 for n in (plan.above if plan.hits else plan.below)]
    behind = plan.of_each(plan.trials.ids)[counted].tolist()
    return Rate(
        statistic=statistic,
        count=fsum(plan.above),
        of=fsum(plan.below),
        trials=tuple(dict.fromkeys(behind)),
    )


_CALLS = {"0": 0, "1-5": 5, "6-10": 10, "11-20": 20, "21-50": 50, "51-100": 100}
"""Classes by number of tool calls, with the largest number of each."""
_MORE = "101+"
CALL_CLASSES = (*_CALLS, _MORE)


class TrialClass(Frozen):
    """Trials of one class, and the mean of a measure over those that have a value."""

    name: str
    mean: Rate


def calls_class(calls: int) -> str:
    """The class of a number of tool calls in a trial: `0`, `1-5`, `6-10`, `11-20`, `21-50`, `51-100`, `101+`. The
    classes are our own, about as wide as what one answer, one stage and one whole dialogue take.
    """
    return next((name for name, most in _CALLS.items() if calls <= most), _MORE)


def classes(
    judged: Judged,
    count: str,
    class_of: Callable[[int], str],
    names: Sequence[str],
    measure: str = "triplet_f1",
) -> tuple[TrialClass, ...]:
    """The mean of a measure over the trials of each class (`names`), to which they belong by another measure, a `count`,
    0 where it is undefined.
    """
    counts = judged.column(count)
    known = {n: class_of(int(n or 0)) for n in set(counts)}
    values: dict[str, list[float]] = {name: [] for name in names}
    places: dict[str, list[int]] = {name: [] for name in names}
    for at, (n, value) in enumerate(zip(counts, judged.column(measure), strict=True)):
        if value is not None:
            values[known[n]].append(value)
            places[known[n]].append(at)
    empty = _("no such trial")
    rates = counted(
        {
            name: Plan(measure, judged.trials, own, [1.0] * len(own), empty=empty, at=places[name])
            for name, own in values.items()
        }
    )
    return tuple(TrialClass(name=name, mean=rates[name]) for name in names)


_Arm = TypeVar("_Arm")


def number(value: float, trials: Sequence[int] = ()) -> Cell:
    return Cell(f"{value:,.0f}", value=float(value), trials=tuple(trials))


def share(rate: Rate | None) -> Cell:
    """A rate in percent: `8.3 [2.1, 15.4]`."""
    if rate is None:
        return Cell("–")
    return Cell(in_percent(rate.statistic), statistic=rate.statistic, trials=rate.trials)


def share_of(rate: Rate | None) -> Cell:
    """A rate in percent with its n: `8.3 [2.1, 15.4] (24)`; a dash if there is nothing."""
    if rate is None or not rate.of:
        return Cell("–", statistic=rate.statistic if rate else None)
    return Cell(
        f"{in_percent(rate.statistic)} ({rate.statistic.n:,})",
        statistic=rate.statistic,
        trials=rate.trials,
    )


def share_with_count(rate: Rate | None) -> Cell:
    """A count, and the rate in percent: `5 · 20.8 [8.3, 37.5]`."""
    if rate is None:
        return number(0)
    if rate.value is None:
        return Cell("–", statistic=rate.statistic)
    told = f"{rate.count:,.0f} · {in_percent(rate.statistic)}"
    return Cell(told, statistic=rate.statistic, trials=rate.trials)


def level(rate: Rate | None, digits: int = 2) -> Cell:
    """A rate as a number: `7.25 [6.10, 8.31]`."""
    if rate is None:
        return Cell("–")
    return figure_cell(rate.statistic, rate.trials, digits)


def figure_cell(statistic: Statistic | None, trials: Sequence[int] = (), digits: int = 2) -> Cell:
    return Cell(plain(statistic, digits), statistic=statistic, trials=tuple(trials))


def plain(statistic: Statistic | None, digits: int) -> str:
    """A statistic that is no share, with its interval."""
    if statistic is None or statistic.value is None:
        return "–"
    if statistic.interval is None:
        return f"{statistic.value:,.{digits}f}"
    low, high = statistic.interval
    return f"{statistic.value:,.{digits}f} [{low:,.{digits}f}, {high:,.{digits}f}]"


def across(
    words: str,
    heading: str,
    arms: Sequence[tuple[str, _Arm]],
    rows: Sequence[tuple[str, Callable[[_Arm], Cell]]],
    notes: Sequence[str] = (),
) -> Table:
    """A table with a column for each arm. `rows`: for each line its name and a function from the arm to its cell."""
    return Table.of(
        words,
        (heading, *(name for name, _arm in arms)),
        [(name, *(of(arm) for _name, arm in arms)) for name, of in rows],
        notes,
    )
