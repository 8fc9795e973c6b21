"""From the samples of many tasks to one number: average, best, max and pass over samples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from cuecard.core.i18n import _
from cuecard.core.scoring.graph import GRAPH_MEASURES
from cuecard.core.scoring.measures import Measure, mean

PASS_MEASURES = ("success", "acc", "pass_at_1")
MAX_MEASURES = ("row_f1", "item_f1")
BEST_BY = "triplet_f1"


class Statistic(StrEnum):
    """How the samples of one task become one value, before the mean over tasks."""

    AVG = "avg"
    BEST = "best"
    MAX = "max"
    PASS = "pass"


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
    """A mean over `n` tasks. `trials`: samples that had a value, `undefined`: those that had none;
    `samples`: the N of Avg@N, the most samples that any task has.
    """

    name: str
    statistic: Statistic
    value: float | None
    n: int
    trials: int
    undefined: int
    samples: int
    reason: str = ""


def aggregate(scores: Iterable[TrialScore]) -> tuple[AggregateMeasure, ...]:
    """Every measure that occurs, first per task over its samples, then as the mean over tasks.

    - `avg`: the mean over samples (Avg@N), for every measure;
    - `best` (FORMATS, vibesearch): the graph measures of the sample with the highest triplet F1, the
      earlier one of equals;
    - `max` (FORMATS, widesearch: Max@N): the highest row F1 and the highest item F1;
    - `pass` (FORMATS, widesearch: Pass@N): 1 if any sample succeeds, for success, acc and pass_at_1.

    Undefined values are left out of means and counted in `undefined`; a task without a single value
    is not in `n`. Zeros are values.
    """
    tasks: dict[str, list[TrialScore]] = defaultdict(list)
    for score in scores:
        tasks[score.task_id].append(score)
    groups = [sorted(group, key=lambda score: score.sample) for group in tasks.values()]
    names = list(dict.fromkeys(m.name for group in groups for s in group for m in s.measures))
    best = [_best(group) for group in groups]
    result: list[AggregateMeasure] = []
    for name in names:
        result.append(_over_tasks(name, Statistic.AVG, groups))
        if name in GRAPH_MEASURES:
            result.append(_over_tasks(name, Statistic.BEST, best))
        if name in MAX_MEASURES:
            result.append(_over_tasks(name, Statistic.MAX, groups))
        if name in PASS_MEASURES:
            result.append(_over_tasks(name, Statistic.PASS, groups))
    # Best looks at one sample, but it is the best of all of them.
    most = max((len(group) for group in groups), default=0)
    return tuple(_with_samples(item, most) for item in result)


def _best(group: Sequence[TrialScore]) -> list[TrialScore]:
    judged = [
        (m.value, score) for score in group if (m := score.get(BEST_BY)) and m.value is not None
    ]
    return [max(judged, key=lambda pair: pair[0])[1]] if judged else []


def _over_tasks(
    name: str, statistic: Statistic, groups: Sequence[Sequence[TrialScore]]
) -> AggregateMeasure:
    per_task: list[float] = []
    trials = undefined = 0
    for group in groups:
        found = [measure for score in group if (measure := score.get(name))]
        values = [measure.value for measure in found if measure.value is not None]
        trials += len(values)
        undefined += len(found) - len(values)
        if not values:
            continue
        average = statistic in (Statistic.AVG, Statistic.BEST)
        per_task.append(mean(name, values).value or 0.0 if average else max(values))
    total = mean(name, per_task, _("no sample has a value"))
    return AggregateMeasure(
        name, statistic, total.value, total.n, trials, undefined, 0, total.reason
    )


def _with_samples(item: AggregateMeasure, samples: int) -> AggregateMeasure:
    return AggregateMeasure(
        item.name,
        item.statistic,
        item.value,
        item.n,
        item.trials,
        item.undefined,
        samples,
        item.reason,
    )
