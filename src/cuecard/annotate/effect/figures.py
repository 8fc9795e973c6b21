"""Figures over tasks by the judge and by people, their difference, and what a sample says of everything.

The interval of a mean over tasks resamples the tasks: all samples of a task and all labels on them stay
together. What a sample says of everything is the difference estimator (Särndal, Swensson & Wretman 1992,
6.3; of labels beside a model's, Angelopoulos et al. 2023): the judge's mean, known of all items, plus the
weighted sum of what people changed. It is without bias over draws for measures that are sums over items,
whatever the judge is like. The tasks' sums are resampled as the ultimate clusters of the design, as if they
had been drawn independently (Wolter 2007).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.bootstrap import FEWEST_GROUPS, with_intervals
from cuecard.annotate.agreement.coefficient import Coefficient, ratio
from cuecard.annotate.agreement.differences import difference
from cuecard.annotate.agreement.statistic import Statistic
from cuecard.annotate.effect.models import MeasureEffect
from cuecard.annotate.effect.rescoring import Rescored, Settled
from cuecard.annotate.effect.weighting import Weighting
from cuecard.core.i18n import _
from cuecard.core.parts import CheckpointStatus
from cuecard.core.scoring.aggregate import NOTHING, Key, Part, TrialScore, by_task, measured_as
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.scoring.checkpoints import CHECKPOINT_MEASURES
from cuecard.core.scoring.graph import GRAPH_MEASURES
from cuecard.core.scoring.labels import COUNTS
from cuecard.core.scoring.table import TABLE_MEASURES
from cuecard.core.tasks import Family
from cuecard.core.verdicts import Decision, ItemKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MEASURES: dict[Family, tuple[str, ...]] = {
    "graph": GRAPH_MEASURES,
    "table": TABLE_MEASURES,
    "checkpoints": CHECKPOINT_MEASURES,
    "facts": ("pass_at_1",),
}
"""What labels can change, by family."""
OF_STATUSES = frozenset(CHECKPOINT_MEASURES) - {"acc"}
"""What only labels of statuses can change."""
SUMS: dict[str, ItemKind] = {
    "triplet_recall": ItemKind.TRIPLE,
    "triplet_precision": ItemKind.PREDICTED,
    "item_recall": ItemKind.CELL,
    "row_recall": ItemKind.ROW,
    "acc": ItemKind.ANSWER,
    "pass_at_1": ItemKind.ANSWER,
}
"""Measures that are a share of a trial's items, and of which; others cannot be had from a sample."""

Values = Mapping[str, float | None]
Parts = Mapping[str, Part]


def parts_by_task(trials: Sequence[Rescored], people: bool) -> dict[Key, dict[str, Part]]:
    """What each task adds to each figure, over its samples as `aggregate` takes them together."""
    scores: list[TrialScore] = []
    for one in trials:
        wanted = MEASURES[one.trial.family]
        measures = one.people if people else one.judge
        shown = tuple(measure for measure in measures if measure.name in wanted)
        scores.append(TrialScore(one.trial.task_id, one.trial.sample, shown))
    return {key: parts for key, parts in by_task(scores).items() if measured_as(key[0]) == key[0]}


def mean_over(name: str, values: Values, tasks: Sequence[str]) -> Coefficient:
    """The mean over those of the tasks that have a value, a row for each task."""
    parts = {task: NOTHING if v is None else Part(v, 1.0) for task, v in values.items()}
    return figure_over((name, Taken.AVG), parts, tasks)


def figure_over(key: Key, parts: Parts, tasks: Sequence[str]) -> Coefficient:
    """A figure as a ratio of what tasks add, a row for each task; a mean over tasks, or a pooled ratio, in
    which a task with nothing below the line is drawn like the others.
    """
    import numpy as np

    name, statistic = key
    found = [parts.get(task, NOTHING) for task in tasks]
    pooled = statistic is Taken.POOLED
    terms = [
        [part.above, part.below, *([float(task in parts)] if pooled else [])]
        for task, part in zip(tasks, found, strict=True)
    ]
    known = [part.value for part in found if part.value is not None]
    within = name not in COUNTS and all(0 <= value <= 1 for value in known)
    return Coefficient(
        name=name,
        terms=np.array(terms, dtype=np.float64).reshape(len(found), 3 if pooled else 2),
        of=_ratio,
        n=len(known),
        undefined=_("no task has a value"),
        # Wilson's interval takes a task for one observation; of a few tasks' counts it would say nothing.
        share=within and not (pooled and len(known) < FEWEST_GROUPS),
        entered=len(known) if pooled else None,
    )


def measure_effects(
    trials: Sequence[Rescored], sampled: Weighting | None
) -> tuple[MeasureEffect, ...]:
    """Of one agent and family: every measure with its difference, and estimates where they can be had."""
    judge, people = parts_by_task(trials, people=False), parts_by_task(trials, people=True)
    tasks = sorted({one.trial.task_id for one in trials})
    several = len(trials) > len(tasks)
    statuses = any(item.item.kind is ItemKind.STATUS for one in trials for item in one.settled)
    plans = [
        _compared(trials, key, judge[key], people[key], tasks, sampled)
        for key in judge
        # Of a single sample, all ways to take them together are the same.
        if (several or not key[1].of_several) and (statuses or key[0] not in OF_STATUSES)
    ]
    figures = iter(with_intervals([one for plan in plans for one in plan.coefficients]))
    effects: list[MeasureEffect] = []
    for plan in plans:
        found = [next(figures) for _one in plan.coefficients]
        whole = dict(zip(("estimate", "estimated_difference"), found[3:], strict=False))
        effects.append(
            MeasureEffect(
                name=plan.key[0],
                taken=plan.key[1],
                judge=found[0],
                people=found[1],
                difference=found[2],
                estimate=whole.get("estimate", plan.without),
                estimated_difference=whole.get("estimated_difference"),
            )
        )
    return tuple(effects)


@dataclass(frozen=True)
class _Compared:
    """Judge, people and their difference, then the estimate and its difference if there is one."""

    key: Key
    coefficients: tuple[Coefficient, ...]
    without: Statistic | None = None


def _compared(
    trials: Sequence[Rescored],
    key: Key,
    judge: Parts,
    people: Parts,
    tasks: Sequence[str],
    sampled: Weighting | None,
) -> _Compared:
    name, taken = key
    left, right = figure_over(key, judge, tasks), figure_over(key, people, tasks)
    three = (left, right, _difference(right, left))
    moved = _estimate(trials, name, judge, sampled) if taken is Taken.AVG else None
    if not isinstance(moved, dict):
        return _Compared(key, three, moved)
    whole = mean_over(name, moved, tasks)
    return _Compared(key, (*three, whole, _difference(whole, left)))


def _difference(one: Coefficient, other: Coefficient) -> Coefficient:
    return replace(difference(one, other), name=one.name)


def _estimate(
    trials: Sequence[Rescored], name: str, judge: Parts, sampled: Weighting | None
) -> dict[str, float | None] | Statistic | None:
    """By task, the judge's value moved by what people changed of the sample; or why there is none; or None
    where there is nothing to estimate.
    """
    kind = SUMS.get(name)
    if kind is None or sampled is None:
        return None
    why = _no_estimate(trials, kind, sampled)
    if why:
        return Statistic(name=name, value=None, n=0, reason=why)
    moved: dict[str, list[float]] = defaultdict(list)
    for one in trials:
        measure = next((m for m in one.judge if m.name == name), None)
        if measure is None or measure.value is None:
            continue
        moves = (
            sampled.weights.get((one.trial.id, item.item.key), 0.0) * _step(item) * item.part
            for item in one.settled
            if item.item.kind is kind
        )
        moved[one.trial.task_id].append(sum(moves) / measure.n if measure.n else 0.0)
    return {
        task: None if (value := part.value) is None else value + sum(moved[task]) / len(moved[task])
        for task, part in judge.items()
    }


def _no_estimate(trials: Sequence[Rescored], kind: ItemKind, sampled: Weighting) -> str:
    ours = {one.trial.id for one in trials}
    drawn = {
        found
        for (trial, _key), found in sampled.classes.items()
        if trial in ours and found[1] is kind
    }
    if kind not in sampled.kinds or not {one.trial.run_id for one in trials} <= sampled.runs:
        return _("the set was not drawn from these items")
    if not drawn:
        return _("nothing of it was drawn")
    if drawn & sampled.bare:
        return _("a stratum of the set has no labels yet")
    return ""


def _step(item: Settled) -> float:
    """1 up, -1 down; 0 where nothing changed, or where the judge's score does not hold the item."""
    if isinstance(item.machine, CheckpointStatus) or item.machine is None or not item.changed:
        return 0.0
    return 1.0 if item.people is Decision.YES else -1.0


def _ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return ratio(sums[..., 0], sums[..., 1])
