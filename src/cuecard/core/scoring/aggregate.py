"""From the samples of many tasks to one number: average, best, max and pass over samples, pooled counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import fsum
from typing import NamedTuple

from cuecard.core.i18n import _
from cuecard.core.scoring.checkpoints import DETECTION_MEASURES
from cuecard.core.scoring.graph import GRAPH_MEASURES
from cuecard.core.scoring.measures import Measure

PASS_MEASURES = ("success", "acc", "pass_at_1")
MAX_MEASURES = ("row_f1", "item_f1")
POOLED_MEASURES = DETECTION_MEASURES
"""Ratios of counts: those of an agent are of the sums over all tasks, not means of the tasks' ratios."""
BEST_BY = "triplet_f1"
_MEAN = "_mean"
_WHOLE = 1e-6


class Statistic(StrEnum):
    """How the samples of all tasks become one value: the first four first of each task, and then as the
    mean over tasks; `POOLED` as the ratio of sums over all tasks.
    """

    AVG = "avg"
    BEST = "best"
    MAX = "max"
    PASS = "pass"
    POOLED = "pooled"

    @property
    def of_several(self) -> bool:
        """It is another number than the average only where a task has several samples, and grows with them."""
        return self in (Statistic.BEST, Statistic.MAX, Statistic.PASS)


Key = tuple[str, Statistic]


class Part(NamedTuple):
    """What one task adds to a figure, above and below the line: value and 1 to a mean over tasks, sums of
    counts to a pooled ratio. Nothing below the line: the task has no value.
    """

    above: float
    below: float

    @property
    def value(self) -> float | None:
        return self.above / self.below if self.below > 0 else None


NOTHING = Part(0.0, 0.0)


def statistics_of(measure: str) -> tuple[Statistic, ...]:
    """How a measure's samples are taken together; the first is the one that stands for it."""
    if measure in POOLED_MEASURES:
        return (Statistic.POOLED,)
    return (
        Statistic.AVG,
        *((Statistic.BEST,) if measure in GRAPH_MEASURES else ()),
        *((Statistic.MAX,) if measure in MAX_MEASURES else ()),
        *((Statistic.PASS,) if measure in PASS_MEASURES else ()),
    )


def mean_name(measure: str) -> str:
    """What the mean over tasks of a pooled measure's own ratios is called: `ce_a_mean`."""
    return f"{measure}{_MEAN}"


def measured_as(name: str) -> str:
    """The measure that trials have for what an aggregate calls so: `ce_a` for `ce_a_mean`, else itself."""
    base = name.removesuffix(_MEAN)
    return base if base in POOLED_MEASURES else name


@dataclass(frozen=True, slots=True)
class TrialScore:
    """The measures of one sample of one task."""

    task_id: str
    sample: int
    measures: tuple[Measure, ...]

    def get(self, name: str) -> Measure | None:
        return next((m for m in self.measures if m.name == name), None)


@dataclass(frozen=True, slots=True)
class AggregateMeasure:
    """A mean over `n` tasks, or a ratio of sums to which `n` tasks add below the line. `trials`: samples
    that had a value, `undefined`: those that had none; `samples`: the N of Avg@N, the most samples that any
    task has. `of`: what is below the line of a pooled ratio, None for means.
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
    """Every measure that occurs, over all tasks.

    - `avg`: the mean over tasks of the mean over samples (Avg@N);
    - `best` (FORMATS, vibesearch): the graph measures of the sample with the highest triplet F1, the
      earlier one of equals;
    - `max` (FORMATS, widesearch: Max@N): the highest row F1 and the highest item F1;
    - `pass` (FORMATS, widesearch: Pass@N): 1 if any sample succeeds, for success, acc and pass_at_1;
    - `pooled` (FORMATS, discobench): detection, CE-A and CE-B as ratios of counts over all reached
      checkpoints of all tasks; of a task with n samples each trial weighs 1 / n. Beside it, under
      `mean_name`, the mean over tasks of each task's own ratio, which the paper does not print.

    Undefined values are left out of means and counted in `undefined`; a task without a single value
    is not in `n`. Zeros are values.
    """
    return totals_of(by_task(found := tuple(scores)), found)


def totals_of(
    parts: Mapping[Key, Mapping[str, Part]], scores: Sequence[TrialScore]
) -> tuple[AggregateMeasure, ...]:
    """`aggregate`, where what the tasks of these scores add (`by_task`) is at hand."""
    groups = list(_by_task(scores).values())
    # Best looks at one sample, but it is the best of all of them.
    most = max((len(group) for group in groups), default=0)
    best = [sample for group in groups for sample in _best(group)]
    every = [sample for group in groups for sample in group]
    return tuple(
        _total(key, tasks.values(), best if key[1] is Statistic.BEST else every, most)
        for key, tasks in parts.items()
    )


def by_task(scores: Iterable[TrialScore]) -> dict[Key, dict[str, Part]]:
    """What each task adds to each figure that `aggregate` tells, in the order of the tasks' names: the value
    of the figure is the sum above over the sum below.
    """
    groups = dict(sorted(_by_task(scores).items()))
    return {
        key: dict(zip(groups, tasks, strict=True))
        for key, tasks in _parts(list(groups.values())).items()
    }


def total_of(parts: Iterable[Part]) -> Part:
    """The sums of what tasks add. Exact, so that their order does not show in the last digit."""
    found = list(parts)
    return Part(fsum(part.above for part in found), fsum(part.below for part in found))


Sample = Mapping[str, Measure]
"""The measures of one trial by name."""


def _by_task(scores: Iterable[TrialScore]) -> dict[str, list[Sample]]:
    """The samples of each task in their order."""
    tasks: dict[str, list[TrialScore]] = defaultdict(list)
    for score in scores:
        tasks[score.task_id].append(score)
    return {
        task: [
            {measure.name: measure for measure in score.measures}
            for score in sorted(group, key=lambda one: one.sample)
        ]
        for task, group in tasks.items()
    }


def _parts(groups: Sequence[Sequence[Sample]]) -> dict[Key, list[Part]]:
    """By figure what each group, a task's samples, adds."""
    names = dict.fromkeys(name for group in groups for sample in group for name in sample)
    best = [_best(group) for group in groups]
    found: dict[Key, list[Part]] = {}
    for name in names:
        for statistic in statistics_of(name):
            chosen = best if statistic is Statistic.BEST else groups
            found[name, statistic] = [_part(name, statistic, group) for group in chosen]
        if name in POOLED_MEASURES:
            own = (part.value for part in found[name, Statistic.POOLED])
            found[mean_name(name), Statistic.AVG] = [
                NOTHING if value is None else Part(value, 1.0) for value in own
            ]
    return found


def _part(name: str, statistic: Statistic, group: Sequence[Sample]) -> Part:
    found = [sample[name] for sample in group if name in sample]
    if statistic is Statistic.POOLED:
        total = total_of(Part(_count(measure), measure.n) for measure in found)
        return Part(total.above / len(found), total.below / len(found)) if found else NOTHING
    values = [measure.value for measure in found if measure.value is not None]
    if not values:
        return NOTHING
    average = statistic in (Statistic.AVG, Statistic.BEST)
    return Part(fsum(values) / len(values) if average else max(values), 1.0)


def _count(measure: Measure) -> float:
    """What is above the line: a whole number, which value and n tell up to rounding."""
    count = (measure.value or 0.0) * measure.n
    whole = round(count)
    return float(whole) if abs(count - whole) < _WHOLE else count


def _best(group: Sequence[Sample]) -> list[Sample]:
    judged = [
        (measure.value, sample)
        for sample in group
        if (measure := sample.get(BEST_BY)) and measure.value is not None
    ]
    return [max(judged, key=lambda pair: pair[0])[1]] if judged else []


def _total(
    key: Key, parts: Collection[Part], trials: Sequence[Sample], samples: int
) -> AggregateMeasure:
    name, statistic = key
    base = measured_as(name)
    total = total_of(parts)
    found = [sample[base] for sample in trials if base in sample]
    known = sum(measure.value is not None for measure in found)
    reason = ""
    if total.value is None:
        reasons = {measure.reason for measure in found}
        pooled = base in POOLED_MEASURES and len(reasons) == 1
        reason = reasons.pop() if pooled else _("no sample has a value")
    return AggregateMeasure(
        name=name,
        statistic=statistic,
        value=total.value,
        n=sum(part.below > 0 for part in parts),
        trials=known,
        undefined=len(found) - known,
        samples=samples,
        reason=reason,
        of=total.below if statistic is Statistic.POOLED else None,
    )
