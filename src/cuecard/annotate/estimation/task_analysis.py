"""Tasks by what agents reach on them: difficulty, discrimination, and the fewest tasks that keep the order of agents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.annotate.estimation.item_analysis import LEAST_RESPONDENTS
from cuecard.core.i18n import _
from cuecard.core.tables.table import Statistic
from cuecard.core.verdicts import pearson

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class TaskFigures:
    """One task. `score`: mean of its agents' means, None without any; `trials` and `agents` that it rests on; `least` and
    `most` of its agents' means; `discrimination`: with the agents' means over the other tasks.
    """

    task: str
    trials: int
    agents: int
    score: float | None
    least: float
    most: float
    discrimination: Statistic

    @property
    def extreme(self) -> str:
        """`floor` or `ceiling`, where all agents have nothing or all of it."""
        if self.score is None or self.trials < 2:
            return ""
        return "floor" if self.most <= 0 else "ceiling" if self.least >= 1 else ""


Scores = Mapping[str, Mapping[str, Sequence[float]]]
"""By task and agent, the scores of its trials, from 0 to 1."""


def analyse_tasks(scores: Scores) -> list[TaskFigures]:
    """The figures of every task, in the order given."""
    means = {t: {a: sum(v) / len(v) for a, v in by.items() if v} for t, by in scores.items()}
    totals: dict[str, float] = {}
    for by in means.values():
        for agent, value in by.items():
            totals[agent] = totals.get(agent, 0.0) + value
    counts = Counter(agent for by in means.values() for agent in by)
    found: list[TaskFigures] = []
    for task, by in means.items():
        pairs = [
            (value, (totals[agent] - value) / (counts[agent] - 1))
            for agent, value in by.items()
            if counts[agent] > 1
        ]
        r = pearson("discrimination", pairs)
        few = len(pairs) < LEAST_RESPONDENTS
        found.append(
            TaskFigures(
                task=task,
                trials=sum(map(len, scores[task].values())),
                agents=len(by),
                score=sum(by.values()) / len(by) if by else None,
                least=min(by.values(), default=0),
                most=max(by.values(), default=0),
                discrimination=Statistic(
                    name=r.name,
                    value=None if few else r.value,
                    n=len(pairs),
                    reason=_("too few respondents to tell") if few else r.reason,
                ),
            )
        )
    return found


@dataclass(frozen=True)
class Subset:
    """The fewest `tasks`, found greedily, that put `agents` (best first) into the order of all `of` tasks. `kept`: the share of
    pairs of agents in the same order, on trials that took no part in the choice (split half: chosen on one half of each
    agent's trials of a task, counted on the other against all tasks); `random`: as many tasks by lot, on the same halves.
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    of: int
    kept: Statistic
    random: float | None = None


_SPLITS = 20


def smallest_subset(scores: Scores) -> Subset | None:
    """None with fewer than two agents or tasks that all agents played."""
    import numpy as np

    agents = sorted({agent for by in scores.values() for agent in by})
    tasks = [task for task, by in scores.items() if all(by.get(agent) for agent in agents)]
    if len(agents) < 2 or len(tasks) < 2:
        return None
    cells = [[np.asarray(scores[task][agent], float) for task in tasks] for agent in agents]
    means = np.array([[cell.mean() for cell in row] for row in cells])
    chosen = _greedy(means)
    order = [int(at) for at in np.argsort(-means.mean(axis=1), kind="stable")]
    kept, lot, reason = list[float](), list[float](), ""
    if min(len(cell) for row in cells for cell in row) < 2:
        reason = _("an agent played a task only once, so there are no halves")
    else:
        rng = np.random.default_rng(0)
        for _split in range(_SPLITS):
            halves = np.empty((2, *means.shape))
            for row, line in enumerate(cells):
                for column, cell in enumerate(line):
                    mixed = rng.permutation(cell)
                    middle = len(mixed) // 2
                    halves[:, row, column] = mixed[:middle].mean(), mixed[middle:].mean()
            mine = _greedy(halves[0])
            others = rng.choice(len(tasks), len(mine), replace=False)
            for picked, into in ((mine, kept), (others, lot)):
                into.append(_kept(halves[1][:, picked].sum(axis=1), halves[1].mean(axis=1)))
    value = float(np.mean(kept)) if kept else None
    return Subset(
        agents=tuple(agents[at] for at in order),
        tasks=tuple(tasks[at] for at in chosen),
        of=len(tasks),
        kept=Statistic(name="order_kept", value=value, n=len(kept), reason=reason),
        random=float(np.mean(lot)) if lot else None,
    )


def _greedy(means: NDArray[np.float64]) -> list[int]:
    """Columns of agents x tasks, in the order of choice, until sums over them order agents as all columns do."""
    import numpy as np

    whole, total = means.mean(axis=1), np.zeros(len(means))
    chosen: list[int] = []
    one, other = np.triu_indices(len(means), 1)
    apart = whole[one] - whole[other]
    while len(chosen) < means.shape[1]:
        free = [at for at in range(means.shape[1]) if at not in chosen]
        sums = total[:, None] + means[:, free]
        differences = sums[one] - sums[other]
        kept = (np.sign(differences) == np.sign(apart)[:, None])[apart != 0].sum(axis=0)
        # Of those that keep as many pairs, the one whose distances lie most as in the whole.
        near = (differences * apart[:, None]).sum(axis=0) / np.maximum(
            np.sqrt((differences**2).sum(axis=0)), 1e-12
        )
        best = max(range(len(free)), key=lambda at: (kept[at], near[at], -free[at]))
        chosen.append(free[best])
        total = sums[:, best]
        if kept[best] == (apart != 0).sum():
            break
    return chosen


def _kept(some: NDArray[np.float64], whole: NDArray[np.float64]) -> float:
    """The share of pairs that `whole` tells apart and `some` has in the same order; 1 where there is none."""
    import numpy as np

    one, other = np.triu_indices(len(whole), 1)
    apart = np.sign(whole[one] - whole[other])
    same = (np.sign(some[one] - some[other]) == apart)[apart != 0]
    return float(same.mean()) if same.size else 1.0
