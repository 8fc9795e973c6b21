"""Measures by the judge and by people, their difference, corrected from a drawn sample, and changes of ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.coefficients import difference
from cuecard.annotate.agreement.intervals import FEWEST_GROUPS, resampled_values, with_intervals
from cuecard.annotate.labelling.corrections import Corrections
from cuecard.annotate.labelling.effect_rescoring import Rescored
from cuecard.annotate.labelling.effect_tables import (
    MeasureEffect,
    Order,
    PairOrder,
    RankedAgent,
    Ranking,
)
from cuecard.annotate.labelling.labelled_units import CORRECTABLE, OF_STATUSES
from cuecard.core.evaluation.scores import TrialScores
from cuecard.core.families.registry import CORE
from cuecard.core.i18n import _
from cuecard.core.scoring.aggregate import NOTHING, Key, Part, TrialScore, by_task
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.scoring.measures import COUNTS, measured_as
from cuecard.core.tables.table import Coefficient, Statistic, quotient
from cuecard.core.tasks.models import Family
from cuecard.core.verdicts import ItemKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Parts = Mapping[str, Part]


def parts_by_task(trials: Sequence[Rescored], people: bool) -> dict[Key, dict[str, Part]]:
    """What each task adds to each measure, over its samples as `aggregate` combines them."""
    scores: list[TrialScore] = []
    for one in trials:
        wanted = CORRECTABLE[one.trial.family]
        measures = one.people if people else one.judge
        shown = tuple(measure for measure in measures if measure.name in wanted)
        scores.append(TrialScore(one.trial.task_id, one.trial.sample, shown))
    return {key: parts for key, parts in by_task(scores).items() if measured_as(key[0]) == key[0]}


def mean_over(name: str, values: Mapping[str, float | None], tasks: Sequence[str]) -> Coefficient:
    """The mean over those of the tasks that have a value, a row for each task."""
    parts = {task: NOTHING if v is None else Part(v, 1.0) for task, v in values.items()}
    return figure_over((name, Taken.AVG), parts, tasks)


def figure_over(key: Key, parts: Parts, tasks: Sequence[str]) -> Coefficient:
    """A measure as a `Coefficient` with a row for each task: a mean over tasks, or a pooled ratio, in which tasks that
    add nothing to the denominator are resampled too.
    """
    import numpy as np

    found = chain.from_iterable(parts.get(task, NOTHING) for task in tasks)
    terms = np.fromiter(found, np.float64, 2 * len(tasks)).reshape(-1, 2)
    return figure_of(key, terms, [task in parts for task in tasks])


def figure_of(
    key: Key, terms: NDArray[np.float64], counted: Sequence[bool] | None = None
) -> Coefficient:
    """`figure_over` of what each task adds, numerator and denominator. `counted`: tasks that have the measure; None: all."""
    import numpy as np

    name, statistic = key
    pooled = statistic is Taken.POOLED
    above, below = terms[terms[:, 1] > 0].T
    known = above / below
    within = name not in COUNTS and bool(((known >= 0) & (known <= 1)).all())
    if pooled:
        told = np.ones(len(terms)) if counted is None else np.array(counted, dtype=np.float64)
        terms = np.column_stack([terms, told])
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
    trials: Sequence[Rescored], scores: Sequence[TrialScores], corrections: Corrections
) -> tuple[MeasureEffect, ...]:
    """Every measure of one agent and family with its difference, and corrected where labels were drawn. `scores`: the
    same trials as judged.
    """
    judge, people = parts_by_task(trials, people=False), parts_by_task(trials, people=True)
    tasks = sorted({one.trial.task_id for one in trials})
    several = len(trials) > len(tasks)
    statuses = any(item.item.kind is ItemKind.STATUS for one in trials for item in one.settled)
    keys = [
        key
        for key in judge
        # Of a single sample, all ways to take them together are the same.
        if (several or not key[1].of_several) and (statuses or key[0] not in OF_STATUSES)
    ]
    figures = [
        (left, right, replace(difference(right, left), name=key[0]))
        for key in keys
        for left, right in [[figure_over(key, side[key], tasks) for side in (judge, people)]]
    ]
    found = iter(with_intervals([one for three in figures for one in three]))
    effects: list[MeasureEffect] = []
    for key in keys:
        three = {name: next(found) for name in ("judge", "people", "difference")}
        told = corrections.figure(scores, key)
        effects.append(MeasureEffect(name=key[0], taken=key[1], **three, corrected=told))
    return tuple(effects)


MAIN = CORE.each(lambda family: family.main)
_LEVEL = 1e-9
"""Means closer than this are equal."""


def ranking(
    family: Family,
    agents: Mapping[str, Sequence[Rescored]],
    corrected: Mapping[str, float | None] | None = None,
) -> Ranking:
    """Agents ranked by the mean over tasks of the family's main measure, and by it `corrected`, as far as it is known. Every resample draws the same tasks for all
    agents and for judge and people, so that orders can be compared within it.
    """
    name = MAIN[family]
    tasks = sorted({one.trial.task_id for trials in agents.values() for one in trials})
    names = sorted(agents)
    judge = [_mean(name, agents[agent], tasks, people=False) for agent in names]
    people = [_mean(name, agents[agent], tasks, people=True) for agent in names]
    values = [[c.statistic.value for c in side] for side in (judge, people)]
    values.append([(corrected or {}).get(agent) for agent in names])
    ranks = [_ranks(side) for side in values]
    ranked = [
        RankedAgent(
            agent=agent,
            judge=values[0][i],
            people=values[1][i],
            judge_rank=ranks[0][i],
            people_rank=ranks[1][i],
            corrected=values[2][i],
            corrected_rank=ranks[2][i],
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
