"""Measures by the judge and by people, their difference, estimates from a drawn sample, and changes of ranking."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import TYPE_CHECKING

from pydantic import ValidationError

from cuecard.annotate.agreement.coefficients import difference
from cuecard.annotate.agreement.intervals import FEWEST_GROUPS, resampled_values, with_intervals
from cuecard.annotate.labelling.effect_rescoring import ItemId, Rescored, Settled
from cuecard.annotate.labelling.effect_tables import (
    MeasureEffect,
    Order,
    PairOrder,
    RankedAgent,
    Ranking,
)
from cuecard.annotate.labelling.sampling import (
    SamplingPlan,
    WeightingClass,
    bare_classes,
    class_of,
    weights_of,
)
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.evaluation.decisions import JUDGED
from cuecard.core.families.checkpoints.score import CHECKPOINT_MEASURES
from cuecard.core.families.registry import CORE
from cuecard.core.i18n import _
from cuecard.core.label_records import LabelSet, SetItem
from cuecard.core.scoring.aggregate import (
    COUNTS,
    NOTHING,
    Key,
    Part,
    TrialScore,
    by_task,
    measured_as,
)
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.tables.table import Coefficient, Statistic, quotient
from cuecard.core.tasks.models import Family
from cuecard.core.verdicts import Decision, ItemKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class Weighting:
    """How a labelling set represents its population. `weights`: of settled items; `classes`: the class (stratum and
    kind) of every item; `bare`: classes without settled items. `runs`, `kinds` and `judge` ("": the first of each
    trial) say what the set was drawn from.
    """

    set_id: int
    name: str
    runs: frozenset[int]
    kinds: frozenset[ItemKind]
    judge: str
    weights: dict[ItemId, float]
    classes: dict[ItemId, WeightingClass]
    bare: frozenset[WeightingClass]


def weighting(
    label_set: LabelSet, plan: SamplingPlan, items: Sequence[SetItem], settled: Collection[ItemId]
) -> Weighting:
    """The weights of the settled items of a set that was drawn by this plan."""
    return Weighting(
        set_id=label_set.id,
        name=label_set.name,
        runs=frozenset(plan.runs),
        kinds=frozenset(plan.kinds or JUDGED),
        judge=plan.judge,
        weights=weights_of(items, settled),
        classes={(item.trial_id, item.item.key): class_of(item) for item in items},
        bare=frozenset(bare_classes(items, settled)),
    )


def newest_weighting(
    workspace: Workspace,
    runs: Sequence[int],
    settled: Collection[ItemId],
    set_id: int | None = None,
) -> Weighting | None:
    """The weighting of this set, or else of the newest with settled items that was drawn from any of these runs; None
    if there is none. Raises `NotFound` for an unknown set.
    """
    sets = [workspace.label_sets.get(set_id)] if set_id is not None else workspace.label_sets.all()
    for one in sets:
        plan = _plan(one)
        if plan is None or (set_id is None and not set(runs) & set(plan.runs)):
            continue
        found = weighting(one, plan, workspace.label_sets.items(one.id), settled)
        if set_id is not None or found.weights:
            return found
    return None


def _plan(label_set: LabelSet) -> SamplingPlan | None:
    """The plan of a set; None if it is unknown how the set was drawn, so that nothing can be estimated."""
    try:
        return SamplingPlan.model_validate(label_set.plan)
    except ValidationError:
        return None


MEASURES = CORE.each(lambda family: family.judged)
"""Measures that labels can change, by family."""
OF_STATUSES = frozenset(CHECKPOINT_MEASURES) - {"acc"}
"""Measures that only labels of statuses can change."""
SUMS: dict[str, ItemKind] = {
    "triplet_recall": ItemKind.TRIPLE,
    "triplet_precision": ItemKind.PREDICTED,
    "item_recall": ItemKind.CELL,
    "row_recall": ItemKind.ROW,
    "acc": ItemKind.ANSWER,
    "pass_at_1": ItemKind.ANSWER,
}
"""Measures that are a share of a trial's items, with the kind of item; others cannot be estimated from a sample."""

Values = Mapping[str, float | None]
Parts = Mapping[str, Part]


def parts_by_task(trials: Sequence[Rescored], people: bool) -> dict[Key, dict[str, Part]]:
    """What each task adds to each measure, over its samples as `aggregate` combines them."""
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
    """A measure as a `Coefficient` with a row for each task: a mean over tasks, or a pooled ratio, in which tasks that
    add nothing to the denominator are resampled too.
    """
    import numpy as np

    name, statistic = key
    found = chain.from_iterable(parts.get(task, NOTHING) for task in tasks)
    pooled = statistic is Taken.POOLED
    terms = np.fromiter(found, np.float64, 2 * len(tasks)).reshape(-1, 2)
    above, below = terms[terms[:, 1] > 0].T
    known = above / below
    within = name not in COUNTS and bool(((known >= 0) & (known <= 1)).all())
    if pooled:
        terms = np.column_stack([terms, [float(task in parts) for task in tasks]])
    return Coefficient(
        name=name,
        terms=terms,
        of=quotient,
        n=len(known),
        undefined=_("no task has a value"),
        # Wilson's interval takes a task for one observation; of a few tasks' counts it would say nothing.
        share=within and not (pooled and len(known) < FEWEST_GROUPS),
        entered=len(known) if pooled else None,
    )


def measure_effects(
    trials: Sequence[Rescored], sampled: Weighting | None
) -> tuple[MeasureEffect, ...]:
    """Every measure of one agent and family with its difference, and estimates where possible."""
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
    """One measure by judge and by people with their difference, and the estimate with its difference, if there is one."""

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
    """By task, the judge's value corrected by the changes that people made in the sample; a `Statistic` with the reason
    if that is impossible; None if there is nothing to estimate.
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
    """1 if people changed a decision upwards, -1 downwards; 0 if not, or if the score does not contain the item."""
    if isinstance(item.machine, CheckpointStatus) or item.machine is None or not item.changed:
        return 0.0
    return 1.0 if item.people is Decision.YES else -1.0


MAIN = CORE.each(lambda family: family.main)
_LEVEL = 1e-9
"""Means closer than this are equal."""


def ranking(family: Family, agents: Mapping[str, Sequence[Rescored]]) -> Ranking:
    """Agents ranked by the mean over tasks of the family's main measure. Every resample draws the same tasks for all
    agents and for judge and people, so that orders can be compared within it.
    """
    name = MAIN[family]
    tasks = sorted({one.trial.task_id for trials in agents.values() for one in trials})
    names = sorted(agents)
    judge = [_mean(name, agents[agent], tasks, people=False) for agent in names]
    people = [_mean(name, agents[agent], tasks, people=True) for agent in names]
    values = [[c.statistic.value for c in side] for side in (judge, people)]
    ranks = [_ranks(side) for side in values]
    ranked = [
        RankedAgent(
            agent=agent,
            judge=values[0][i],
            people=values[1][i],
            judge_rank=ranks[0][i],
            people_rank=ranks[1][i],
        )
        for i, agent in enumerate(names)
    ]
    drawn = resampled_values([*judge, *people])
    pairs = [
        PairOrder(
            left=names[i],
            right=names[j],
            judge=_order(values[0][i], values[0][j]),
            people=_order(values[1][i], values[1][j]),
            same=_same(drawn, i, j, _shared(judge[i], judge[j])),
        )
        for i, j in combinations(range(len(names)), 2)
    ]
    last = len(names) + 1
    return Ranking(
        family=family,
        measure=name,
        agents=tuple(sorted(ranked, key=lambda one: (one.judge_rank or last, one.agent))),
        pairs=tuple(pairs),
    )


def _mean(name: str, trials: Sequence[Rescored], tasks: Sequence[str], people: bool) -> Coefficient:
    key = name, Taken.AVG
    return figure_over(key, parts_by_task(trials, people).get(key, {}), tasks)


def _ranks(values: Sequence[float | None]) -> list[int | None]:
    known = [value for value in values if value is not None]
    return [
        None if value is None else 1 + sum(other > value + _LEVEL for other in known)
        for value in values
    ]


def _order(left: float | None, right: float | None) -> Order | None:
    if left is None or right is None:
        return None
    if abs(left - right) <= _LEVEL:
        return "level"
    return "above" if left > right else "below"


def _shared(left: Coefficient, right: Coefficient) -> int:
    """Tasks of which both have a value."""
    return int(((left.terms[:, 1] > 0) & (right.terms[:, 1] > 0)).sum())


def _same(drawn: NDArray[np.float64], i: int, j: int, tasks: int) -> Statistic:
    import numpy as np

    half = drawn.shape[1] // 2
    gaps = np.stack([drawn[:, i] - drawn[:, j], drawn[:, half + i] - drawn[:, half + j]])
    known = ~np.isnan(gaps).any(axis=0)
    why = ""
    if tasks < FEWEST_GROUPS:
        why = _("fewer than {n} tasks in common").format(n=FEWEST_GROUPS)
    elif not known.any():
        why = _("no resample has a value of both")
    if why:
        return Statistic(name="same_order", value=None, n=0, reason=why)
    signs = np.sign(np.where(np.abs(gaps) <= _LEVEL, 0.0, gaps))[:, known]
    return Statistic(
        name="same_order", value=float((signs[0] == signs[1]).mean()), n=int(known.sum())
    )
