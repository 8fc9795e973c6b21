"""Whether people's decisions change who stands above whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.bootstrap import FEWEST_GROUPS, resampled_values
from cuecard.annotate.agreement.coefficient import Coefficient
from cuecard.annotate.agreement.statistic import Statistic
from cuecard.annotate.effect.figures import figure_over, parts_by_task
from cuecard.annotate.effect.models import Order, PairOrder, RankedAgent, Ranking
from cuecard.annotate.effect.rescoring import Rescored
from cuecard.core.i18n import _
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.tasks import Family

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAIN: dict[Family, str] = {
    "graph": "triplet_f1",
    "table": "row_f1",
    "checkpoints": "acc",
    "facts": "pass_at_1",
}
_LEVEL = 1e-9
"""Means closer than this are level."""


def ranking(family: Family, agents: Mapping[str, Sequence[Rescored]]) -> Ranking:
    """Agents by the mean over tasks of the family's main measure. Every resample draws the same tasks for all
    agents and for judge and people, so that a pair's order in it is one and the same choice of tasks.
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
