"""Aggregates samples of many tasks into one number."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, partial
from itertools import pairwise
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

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

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Parts = NDArray[np.float64]
    """Tasks x 2: the `Part` of each."""

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
    """One measure of all samples that have it, task by task: values, NaN where there is none. Those of the t-th task stand
    from `ends[t]` up to `ends[t + 1]`.
    """

    values: NDArray[np.float64]
    ends: NDArray[np.int64]

    @property
    def known(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The values there are, and how many of them each task has."""
        import numpy as np

        none = np.isnan(self.values)
        if not none.any():
            return self.values, np.diff(self.ends)
        return self.values[~none], np.diff(np.r_[0, np.cumsum(~none)][self.ends])


class ExtraMeasure(NamedTuple):
    """A measure that samples have beside their own: a value for each, NaN where there is none, and `why` not."""

    values: NDArray[np.float64]
    why: str


class Samples:
    """The measures of the samples of each task, column by column. `tasks`: their ids in alphabetic order, each with its
    samples in theirs; `more`: functions that give measures beside each sample's own, of all samples in the same order.
    """

    def __init__(
        self,
        tasks: Mapping[str, Sequence[Measures]],
        more: Mapping[str, Callable[[], ExtraMeasure]] | None = None,
    ) -> None:
        self.tasks = tuple(tasks)
        self.sizes = [len(group) for group in tasks.values()]
        self._every = [one for group in tasks.values() for one in group]
        self._more = more or {}
        self._columns: dict[str, Column] = {}
        # Samples of one family share their names.
        kinds = {id(one.names): one.names for one in self._every}.values()
        self.names = tuple(dict.fromkeys(name for own in kinds for name in (*own, *self._more)))

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
        return max(self.sizes, default=0)

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """Where the samples of each task end among all, and 0 before them."""
        import numpy as np

        return np.cumsum([0, *self.sizes])

    def column(self, name: str) -> Column:
        found = self._columns.get(name)
        if found is None:
            found = self._columns[name] = self._read(name)
        return found

    def _read(self, name: str) -> Column:
        import numpy as np

        if name in self._more:
            return Column(self._more[name]().values, self.ends)
        if self._table is not None and (at := self._every[0].places.get(name)) is not None:
            return Column(self._table[at], self.ends)
        has = [name in one.places for one in self._every]
        values = [one.values[at] for one, at in self._having(name)]
        ends = self.ends if all(has) else np.r_[0, np.cumsum(has)][self.ends]
        return Column(np.array(values, dtype=np.float64), ends)

    @cached_property
    def _table(self) -> NDArray[np.float64] | None:
        """All columns, where the samples have the same measures: turned at once they take a fifth of the time."""
        import numpy as np

        if len({id(one.names) for one in self._every}) != 1:
            return None
        rows = np.array([one.values for one in self._every], dtype=np.float64)
        return np.ascontiguousarray(rows.T)

    def counts(self, name: str) -> list[int]:
        """The n of each value of the column, of a measure of the samples' own."""
        return [one.counts[at] for one, at in self._having(name)]

    def _having(self, name: str) -> Iterator[tuple[Measures, int]]:
        """The samples that have the measure, and where it stands in each."""
        for one in self._every:
            at = one.places.get(name)
            if at is not None:
                yield one, at

    def reasons(self, name: str) -> set[str]:
        """What is said of the samples' values, "" of those with one."""
        if name in self._more:
            found = self._more[name]()
            return {found.why if value != value else "" for value in found.values.tolist()}
        return {one.reasons.get(at, "") for one, at in self._having(name)}

    @cached_property
    def best(self) -> Samples:
        """Of each task the sample with the highest triplet F1, the earlier of equals; tasks without one have none."""
        found: dict[str, list[Measures]] = {}
        chosen: list[int] = []
        ends = self.ends.tolist()
        values = [one.value(BEST_BY) for one in self._every]
        for task, start, end in zip(self.tasks, ends, ends[1:], strict=False):
            known = [(v, -at) for at in range(start, end) if (v := values[at]) is not None]
            mine = [-max(known)[1]] if known else []
            found[task] = [self._every[at] for at in mine]
            chosen += mine
        return Samples(found, {name: partial(self._chosen, name, chosen) for name in self._more})

    def _chosen(self, name: str, chosen: Sequence[int]) -> ExtraMeasure:
        found = self._more[name]()
        return ExtraMeasure(found.values[list(chosen)], found.why)


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


def totals_of(samples: Samples, parts: Mapping[Key, Parts]) -> tuple[AggregateMeasure, ...]:
    """`aggregate` of samples, of which `parts_of` gave these."""
    return tuple(_total(key, tasks, samples) for key, tasks in parts.items())


def by_task(scores: Iterable[TrialScore]) -> dict[Key, dict[str, Part]]:
    """The numerator and denominator that each task, by its id in alphabetic order, adds to each figure of `aggregate`.
    The figure's value is the sum of numerators over the sum of denominators.
    """
    samples = Samples.of(scores)
    return {
        key: dict(zip(samples.tasks, map(Part._make, parts.tolist()), strict=True))
        for key, parts in parts_of(samples).items()
    }


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


def parts_of(samples: Samples, wanted: Collection[str] | None = None) -> dict[Key, Parts]:
    """`by_task` of samples, task by task; `wanted`: only these figures."""
    import numpy as np

    found: dict[Key, Parts] = {}
    for name in samples.names:
        mean = mean_name(name) if name in POOLED_MEASURES else name
        if wanted is not None and name not in wanted and mean not in wanted:
            continue
        for statistic in statistics_of(name):
            column = (samples.best if statistic is Statistic.BEST else samples).column(name)
            parts = (
                _pooled(column, samples.counts(name))
                if statistic is Statistic.POOLED
                else _means(column, statistic)
            )
            if wanted is None or name in wanted:
                found[name, statistic] = parts
            if statistic is Statistic.POOLED and (wanted is None or mean in wanted):
                has = parts[:, 1] > 0
                own = np.divide(parts[:, 0], parts[:, 1], out=np.zeros(len(parts)), where=has)
                found[mean, Statistic.AVG] = np.column_stack([own, has.astype(np.float64)])
    return found


def total_of(parts: Iterable[Part]) -> Part:
    """The sums of numerators and denominators. `fsum` makes them independent of the order of the tasks."""
    found = list(parts)
    return Part(fsum(part.above for part in found), fsum(part.below for part in found))


def _means(column: Column, statistic: Statistic) -> Parts:
    """What each task adds to a mean over tasks: one value of its samples, and 1."""
    import numpy as np

    values, sizes = column.known
    starts = np.cumsum(sizes) - sizes
    has = sizes > 0
    if statistic is Statistic.PASS_ALL:
        has &= sizes == sizes.max(initial=0)
    parts = np.zeros((len(sizes), 2))
    parts[has, 1] = 1.0
    if not has.any():
        return parts
    if statistic in (Statistic.AVG, Statistic.BEST):
        told = values.tolist()
        own = zip(starts[has].tolist(), sizes[has].tolist(), strict=True)
        parts[has, 0] = [fsum(told[start : start + size]) / size for start, size in own]
    else:
        of = np.minimum if statistic is Statistic.PASS_ALL else np.maximum
        # Of tasks without a sample, which have no part, it would give that of the next one.
        parts[has, 0] = of.reduceat(values, starts[sizes > 0])[has[sizes > 0]]
    return parts


def _pooled(column: Column, counts: Sequence[int]) -> Parts:
    """What each task adds to a ratio of sums. A numerator, value times n, is rounded where it differs from a whole number only
    by rounding errors.
    """
    import numpy as np

    above = np.nan_to_num(column.values) * counts
    whole = np.round(above)
    told = np.where(np.abs(above - whole) < _WHOLE, whole, above).tolist()
    ends = column.ends.tolist()
    parts = [
        (fsum(told[start:end]) / (end - start), fsum(counts[start:end]) / (end - start))
        if end > start
        else NOTHING
        for start, end in pairwise(ends)
    ]
    return np.array(parts, dtype=np.float64).reshape(-1, 2)


def _total(key: Key, parts: Parts, samples: Samples) -> AggregateMeasure:
    name, statistic = key
    base = measured_as(name)
    total = Part(fsum(parts[:, 0].tolist()), fsum(parts[:, 1].tolist()))
    # `best` reads one sample of each task, but its N is the number that it was chosen from.
    trials = samples.best if statistic is Statistic.BEST else samples
    values = trials.column(base).values
    unknown = int((values != values).sum())
    reason = ""
    if total.value is None:
        reasons = trials.reasons(base)
        pooled = base in POOLED_MEASURES and len(reasons) == 1
        reason = reasons.pop() if pooled else _("no sample has a value")
    return AggregateMeasure(
        name=name,
        statistic=statistic,
        value=total.value,
        n=int((parts[:, 1] > 0).sum()),
        trials=len(values) - unknown,
        undefined=unknown,
        samples=samples.most,
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
