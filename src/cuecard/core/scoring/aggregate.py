"""Aggregates samples of many tasks into one number."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, partial
from itertools import accumulate, pairwise
from math import fsum
from typing import Any, NamedTuple

from cuecard.core.families.graph.judge import GRAPH_MEASURES
from cuecard.core.i18n import _
from cuecard.core.scoring.measures import (
    MAX_MEASURES,
    PASS_MEASURES,
    POOLED_MEASURES,
    mean_name,
    measured_as,
)
from cuecard.core.verdicts import Measure, Measures

BEST_BY = "triplet_f1"
_WHOLE = 1e-6


class Statistic(StrEnum):
    """How the samples of all tasks become one value. `AVG`, `BEST`, `MAX`, `PASS` and `PASS_ALL` take one value per task and
    then the mean over tasks; `POOLED` is a ratio of sums over all tasks.
    """

    AVG = "avg"
    BEST = "best"
    MAX = "max"
    PASS = "pass"
    PASS_ALL = "pass_all"
    POOLED = "pooled"

    @property
    def of_several(self) -> bool:
        """Whether it depends on the number of samples per task: with one sample it equals the average."""
        return self not in (Statistic.AVG, Statistic.POOLED)


Key = tuple[str, Statistic]


class Part(NamedTuple):
    """What one task adds to the numerator (`above`) and the denominator (`below`) of a figure: its value and 1 for a
    mean over tasks, counts for a pooled ratio. With a denominator of 0 the task has no value.
    """

    above: float
    below: float

    @property
    def value(self) -> float | None:
        return self.above / self.below if self.below > 0 else None


NOTHING = Part(0.0, 0.0)


def statistics_of(measure: str) -> tuple[Statistic, ...]:
    """The statistics given for a measure; the first is its main one."""
    if measure in POOLED_MEASURES:
        return (Statistic.POOLED,)
    return (
        Statistic.AVG,
        *((Statistic.BEST,) if measure in GRAPH_MEASURES else ()),
        *((Statistic.MAX,) if measure in MAX_MEASURES else ()),
        *((Statistic.PASS, Statistic.PASS_ALL) if measure in PASS_MEASURES else ()),
    )


@dataclass(frozen=True, slots=True)
class TrialScore:
    """The measures of one sample of one task."""

    task_id: str
    sample: int
    measures: Sequence[Measure]


class Column(NamedTuple):
    """One measure of all samples, task by task: values and the n of each, of those samples that have it."""

    values: Sequence[Sequence[float | None]]
    counts: Sequence[Sequence[int]]


class Samples:
    """The measures of the samples of each task, column by column. `tasks`: their ids in alphabetic order, each with its
    samples in theirs; `more`: functions that give measures beside each sample's own, in the same order.
    """

    def __init__(
        self,
        tasks: Mapping[str, Sequence[Measures]],
        more: Mapping[str, Callable[[], Sequence[Sequence[Measure]]]] | None = None,
    ) -> None:
        self.tasks = tuple(tasks)
        self._groups = tuple(tasks.values())
        self._more = more or {}
        self._columns: dict[str, Column] = {}
        # Samples of one family share their names.
        kinds = {one.names: one.places for group in self._groups for one in group}
        self._places = next(iter(kinds.values())) if len(kinds) == 1 else None
        named = (name for names in kinds for name in (*names, *self._more))
        self.names = tuple(dict.fromkeys(named))

    @classmethod
    def of(cls, scores: Iterable[TrialScore]) -> Samples:
        tasks: dict[str, list[TrialScore]] = defaultdict(list)
        for score in scores:
            tasks[score.task_id].append(score)
        return cls(
            {
                task: [
                    Measures.of(score.measures)
                    for score in sorted(tasks[task], key=lambda one: one.sample)
                ]
                for task in sorted(tasks)
            }
        )

    @property
    def most(self) -> int:
        """The largest number of samples of any task."""
        return max(map(len, self._groups), default=0)

    def column(self, name: str) -> Column:
        found = self._columns.get(name)
        if found is None:
            found = self._columns[name] = self._read(name)
        return found

    def _read(self, name: str) -> Column:
        if name in self._more:
            told = self._more[name]()
            return Column(
                [[one.value for one in group] for group in told],
                [[one.n for one in group] for group in told],
            )
        if self._places is not None and name in self._places:
            at = self._places[name]
            values, counts, ends = self._turned
            return Column(
                [values[at][start:end] for start, end in ends],
                [counts[at][start:end] for start, end in ends],
            )
        own = [
            [(one, at) for one in group if (at := one.places.get(name)) is not None]
            for group in self._groups
        ]
        return Column(
            [[one.values[at] for one, at in group] for group in own],
            [[one.counts[at] for one, at in group] for group in own],
        )

    @cached_property
    def _turned(self) -> tuple[Sequence[Any], Sequence[Any], Sequence[tuple[int, int]]]:
        """The values and the n of samples that share their names, measure by measure, and where each task's begin and
        end.
        """
        every = [one for group in self._groups for one in group]
        ends = [0, *accumulate(map(len, self._groups))]
        turned = (
            tuple(zip(*columns, strict=True))
            for columns in ([one.values for one in every], [one.counts for one in every])
        )
        return next(turned), next(turned), list(pairwise(ends))

    def reasons(self, name: str) -> set[str]:
        """What is said of the samples' values, "" of those with one."""
        if name in self._more:
            return {one.reason for group in self._more[name]() for one in group}
        every = (one for group in self._groups for one in group)
        return {
            one.reasons.get(at, "") for one in every if (at := one.places.get(name)) is not None
        }

    def best(self) -> Samples:
        """Of each task the sample with the highest triplet F1, the earlier of equals; tasks without one have none."""
        found: dict[str, list[Measures]] = {}
        chosen: list[int | None] = []
        for task, group in zip(self.tasks, self._groups, strict=True):
            known = [
                (v, -n) for n, one in enumerate(group) if (v := one.value(BEST_BY)) is not None
            ]
            at = -max(known)[1] if known else None
            chosen.append(at)
            found[task] = [] if at is None else [group[at]]
        return Samples(found, {name: partial(self._chosen, name, chosen) for name in self._more})

    def _chosen(self, name: str, chosen: Sequence[int | None]) -> list[list[Measure]]:
        groups = zip(chosen, self._more[name](), strict=True)
        return [[] if at is None else [group[at]] for at, group in groups]


@dataclass(frozen=True, slots=True)
class AggregateMeasure:
    """A mean over `n` tasks, or a pooled ratio to whose denominator `n` tasks contribute. `trials`: samples with a
    value; `undefined`: samples without one; `samples`: the N of Avg@N, the largest number of samples of any task.
    `of`: the denominator of a pooled ratio, None for means. `reason`: why `value` is None.
    """

    name: str
    statistic: Statistic
    value: float | None
    n: int
    trials: int
    undefined: int
    samples: int
    reason: str = ""
    of: float | None = None


def aggregate(scores: Iterable[TrialScore]) -> tuple[AggregateMeasure, ...]:
    """Every measure that occurs in `scores`, aggregated over all tasks.

    - `avg` (Avg@N): the mean over tasks of the mean over samples;
    - `best` (VibeSearchBench): the graph measures of the sample with the highest triplet F1, the earlier of equals;
    - `max` (WideSearch, Max@N): the highest row F1 and the highest item F1 of a task's samples;
    - `pass` (WideSearch, Pass@N): 1 if any sample succeeds, for success, acc and pass_at_1;
    - `pass_all` (tau-bench, Pass^N): 1 if all N samples succeed, for the same; a task with fewer samples that have a
      value is left out, and so not counted in `n`;
    - `pooled` (DiscoBench, equations 6-13): detection, CE-A and CE-B as ratios of counts over all reached
      checkpoints of all tasks; a trial of a task with n samples weighs 1 / n. Beside it, under
      `mean_name`, the mean over tasks of each task's own ratio, which the paper does not print.

    Undefined values are left out of means and counted in `undefined`; a task without any value is not counted in
    `n`. Zeros are values.
    """
    samples = Samples.of(scores)
    return totals_of(samples, parts_of(samples))


def totals_of(
    samples: Samples, parts: Mapping[Key, Mapping[str, Part]]
) -> tuple[AggregateMeasure, ...]:
    """`aggregate` of samples, of which `parts_of` gave these."""
    most = samples.most
    best = samples.best()
    return tuple(
        # `best` reads one sample of each task, but its N is the number that it was chosen from.
        _total(key, tasks.values(), best if key[1] is Statistic.BEST else samples, most)
        for key, tasks in parts.items()
    )


def by_task(scores: Iterable[TrialScore]) -> dict[Key, dict[str, Part]]:
    """The numerator and denominator that each task, by its id in alphabetic order, adds to each figure of `aggregate`.
    The figure's value is the sum of numerators over the sum of denominators.
    """
    return parts_of(Samples.of(scores))


def keys_of(samples: Samples, wanted: Collection[str] | None = None) -> tuple[Key, ...]:
    """The figures of `aggregate`; `wanted`: only these."""
    named = ((name, (*statistics_of(name), None)) for name in samples.names)
    every = (
        (name, taken) if taken else (mean_name(name), Statistic.AVG)
        for name, ways in named
        for taken in ways
        if taken or name in POOLED_MEASURES
    )
    return tuple(key for key in every if wanted is None or key[0] in wanted)


def parts_of(samples: Samples, wanted: Collection[str] | None = None) -> dict[Key, dict[str, Part]]:
    """`by_task` of samples; `wanted`: only these figures."""
    best: Samples | None = None
    found: dict[Key, dict[str, Part]] = {}

    def enter(name: str, statistic: Statistic, parts: Sequence[Part]) -> None:
        if wanted is None or name in wanted:
            found[name, statistic] = dict(zip(samples.tasks, parts, strict=True))

    for name in samples.names:
        mean = mean_name(name) if name in POOLED_MEASURES else name
        if wanted is not None and name not in wanted and mean not in wanted:
            continue
        for statistic in statistics_of(name):
            if statistic is Statistic.BEST:
                best = best or samples.best()
            column = (best if best and statistic is Statistic.BEST else samples).column(name)
            parts = _parts(column, statistic)
            enter(name, statistic, parts)
            if statistic is Statistic.POOLED:
                own = (part.value for part in parts)
                enter(mean, Statistic.AVG, [NOTHING if v is None else Part(v, 1.0) for v in own])
    return found


def total_of(parts: Iterable[Part]) -> Part:
    """The sums of numerators and denominators. `fsum` makes them independent of the order of the tasks."""
    found = list(parts)
    return Part(fsum(part.above for part in found), fsum(part.below for part in found))


def _parts(column: Column, statistic: Statistic) -> list[Part]:
    """What each task adds."""
    if statistic is Statistic.POOLED:
        return [
            _pooled(values, counts)
            for values, counts in zip(column.values, column.counts, strict=True)
        ]
    known = [[value for value in every if value is not None] for every in column.values]
    if statistic is Statistic.PASS_ALL:
        most = max(map(len, known), default=0)
        return [Part(min(each), 1.0) if each and len(each) == most else NOTHING for each in known]
    average = statistic in (Statistic.AVG, Statistic.BEST)
    found: list[Part] = []
    for values in known:
        if not values:
            found.append(NOTHING)
        else:
            found.append(Part(fsum(values) / len(values) if average else max(values), 1.0))
    return found


def _pooled(values: Sequence[float | None], counts: Sequence[int]) -> Part:
    if not values:
        return NOTHING
    above = fsum(_count(value, n) for value, n in zip(values, counts, strict=True))
    return Part(above / len(values), fsum(counts) / len(values))


def _count(value: float | None, n: int) -> float:
    """The numerator of a ratio, value times n, rounded where it differs from a whole number only by rounding errors."""
    count = (value or 0.0) * n
    whole = round(count)
    return float(whole) if abs(count - whole) < _WHOLE else count


def _total(key: Key, parts: Collection[Part], trials: Samples, samples: int) -> AggregateMeasure:
    name, statistic = key
    base = measured_as(name)
    total = total_of(parts)
    column = trials.column(base)
    every = sum(map(len, column.values))
    unknown = sum(each.count(None) for each in column.values)
    reason = ""
    if total.value is None:
        reasons = trials.reasons(base)
        pooled = base in POOLED_MEASURES and len(reasons) == 1
        reason = reasons.pop() if pooled else _("no sample has a value")
    return AggregateMeasure(
        name=name,
        statistic=statistic,
        value=total.value,
        n=sum(part.below > 0 for part in parts),
        trials=every - unknown,
        undefined=unknown,
        samples=samples,
        reason=reason,
        of=total.below if statistic is Statistic.POOLED else None,
    )


def statistic_label(statistic: Statistic, samples: int) -> str:
    """`Avg@3`, `Best@3`, `Max@3`, `Pass@3`, `Pass^3`, `pooled`."""
    match statistic:
        case Statistic.AVG:
            text = _("Avg@{n}")
        case Statistic.BEST:
            text = _("Best@{n}")
        case Statistic.MAX:
            text = _("Max@{n}")
        case Statistic.PASS:
            text = _("Pass@{n}")
        case Statistic.PASS_ALL:
            text = _("Pass^{n}")
        case Statistic.POOLED:
            text = _("pooled")
    return text.format(n=samples)
