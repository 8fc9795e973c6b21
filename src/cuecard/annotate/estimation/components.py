"""Variance components of scores: agents x tasks x samples, with a third facet (users or judges), by unweighted means of
cells (Burdick & Graybill 1992), and what follows from them: dependability and the intraclass correlation of samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from statistics import fmean
from typing import TYPE_CHECKING

from cuecard.core.i18n import _
from cuecard.core.tasks.base import Frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Cells = Mapping[str, Mapping[str, Sequence[float]]]
"""Of each agent, of each task: the values of its samples."""
Crossed = Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]
"""Of each agent, of each task, of each user (or judge): the values of the samples."""


class Component(Frozen):
    """A variance. `raw` is its unbiased estimate, which may be negative, and None where `reason` says why there is none."""

    raw: float | None
    reason: str = ""

    @property
    def value(self) -> float | None:
        """A negative estimate is 0; the others are not pooled again."""
        return None if self.raw is None else max(0.0, self.raw)


class Components(Frozen):
    """Of `agents` x `tasks`, with `samples` of each (the harmonic mean), in the square of the measure's unit. `agent`,
    `task` and `agent_task` are between what they name, `sample` between samples of one task by one agent. `rest`: sample
    and agent_task (of one agent: sample and task) together, where one sample of each tells no more. `left_out`: tasks that
    not all agents have. `reason`: why nothing is known.
    """

    agents: int
    tasks: int
    samples: float
    left_out: int
    agent: Component
    task: Component
    agent_task: Component
    sample: Component
    rest: Component
    reason: str = ""

    def difference_variance(self, tasks: int, samples: int) -> Component:
        """The variance of the difference of two agents on the same tasks: V = 2 (s2_at / t + s2_e / (t n))."""
        if self.agent_task.value is not None and self.sample.value is not None:
            return Component(raw=2 * (self.agent_task.value + self.sample.value / samples) / tasks)
        if samples == 1 and self.rest.value is not None and self.agents > 1:
            return Component(raw=2 * self.rest.value / tasks)
        return Component(raw=None, reason=self.agent_task.reason or self.reason)

    def dependability(self, tasks: int, samples: int) -> Component:
        """E rho^2 = s2_a / (s2_a + s2_at / t + s2_e / (t n)): how much of what sets agents' means apart is the agents
        (Brennan 2001), between 0 and 1.
        """
        agent = self.agent.value
        noise = self.difference_variance(tasks, samples)
        if agent is None or noise.raw is None:
            return Component(raw=None, reason=self.agent.reason or noise.reason)
        if agent + noise.raw / 2 <= 0:
            return Component(raw=None, reason=_("nothing varies"))
        return Component(raw=agent / (agent + noise.raw / 2))


def components(cells: Cells) -> Components:
    """The components of these values. Tasks that not all agents have are left out; if that would be more than half of
    them, nothing is estimated.
    """
    every = sorted({task for own in cells.values() for task, values in own.items() if values})
    kept = [task for task in every if all(own.get(task) for own in cells.values())]
    agents, tasks, left_out = len(cells), len(kept), len(every) - len(kept)
    if 2 * left_out > len(every):
        return _unknown(
            agents, tasks, left_out, _("more than half of the tasks are not of all agents")
        )
    if tasks < 2 or not agents:
        return _unknown(agents, tasks, left_out, _("fewer than {n} tasks").format(n=2))
    groups = [[list(own[task]) for task in kept] for own in cells.values()]
    within, mean_n, single = _within([values for row in groups for values in row])
    error = within.raw or 0.0
    import numpy as np

    means = np.array([[fmean(values) for values in row] for row in groups])
    squares = _mean_squares(means)
    one_sample = Component(
        raw=None, reason=_("one sample of each task: samples are not told apart")
    )
    one_agent = Component(raw=None, reason=_("one agent"))
    agent = agent_task = one_agent
    rest = Component(raw=None, reason=_("its parts are known"))
    if agents == 1:
        spread = squares[1,]
        task = one_sample if single else Component(raw=spread - error / mean_n)
        rest = Component(raw=spread) if single else rest
    else:
        both = squares[0, 1]
        agent = Component(raw=(squares[0,] - both) / tasks)
        task = Component(raw=(squares[1,] - both) / agents)
        agent_task = one_sample if single else Component(raw=both - error / mean_n)
        rest = Component(raw=both) if single else rest
    return Components(
        agents=agents,
        tasks=tasks,
        samples=mean_n,
        left_out=left_out,
        agent=agent,
        task=task,
        agent_task=agent_task,
        sample=within,
        rest=rest,
    )


def correlation_of_samples(values: Mapping[str, Sequence[float]]) -> Component:
    """The intraclass correlation of one agent's samples, by task: s2_t / (s2_t + s2_e)."""
    found = components({"": values})
    task, sample = found.task.value, found.sample.value
    if task is None or sample is None:
        return Component(raw=None, reason=found.reason or found.task.reason)
    if task + sample <= 0:
        return Component(raw=None, reason=_("nothing varies"))
    return Component(raw=task / (task + sample))


class FacetComponents(Frozen):
    """Of `agents` x `tasks` x `levels` (users or judges) with `samples` in each cell. Those named after several are
    interactions; `sample` is None where each cell has one, and then in `agent_task_level`. `left_out`: tasks with an empty
    cell. `reason`: why nothing is known.
    """

    agents: int
    tasks: int
    levels: int
    samples: float
    left_out: int
    agent: Component
    task: Component
    level: Component
    agent_task: Component
    agent_level: Component
    task_level: Component
    agent_task_level: Component
    sample: Component
    reason: str = ""


def facet_components(cells: Crossed) -> FacetComponents:
    """The components of crossed agents, tasks and users (or judges of the same trials, with the mean over samples in each
    cell: then `agent_task` holds s2_e / n). Tasks with an empty cell are left out; with more than half of them, or fewer
    than two agents, tasks or levels, nothing is estimated.
    """
    import numpy as np

    levels = sorted({level for own in cells.values() for by in own.values() for level in by})
    every = sorted({task for own in cells.values() for task in own})
    kept = [
        task
        for task in every
        if all(own.get(task, {}).get(level) for own in cells.values() for level in levels)
    ]
    a, t, u = len(cells), len(kept), len(levels)
    left_out = len(every) - t
    reason = ""
    if 2 * left_out > len(every):
        reason = _("more than half of the tasks have an empty cell")
    elif min(a, t, u) < 2:
        reason = _("fewer than two agents, tasks or levels")
    if reason:
        none = Component(raw=None, reason=reason)
        parts = dict.fromkeys(_FACETS, none)
        return FacetComponents(
            agents=a, tasks=t, levels=u, samples=0, left_out=left_out, reason=reason, **parts
        )
    groups = [
        [[list(own[task][each]) for each in levels] for task in kept] for own in cells.values()
    ]
    within, mean_n, _single = _within([c for rows in groups for row in rows for c in row])
    means = np.array([[[fmean(values) for values in row] for row in rows] for rows in groups])
    m = _mean_squares(means)
    three = m[0, 1, 2]
    found = {
        "agent": (m[0,] - m[0, 1] - m[0, 2] + three) / (t * u),
        "task": (m[1,] - m[0, 1] - m[1, 2] + three) / (a * u),
        "level": (m[2,] - m[0, 2] - m[1, 2] + three) / (a * t),
        "agent_task": (m[0, 1] - three) / u,
        "agent_level": (m[0, 2] - three) / t,
        "task_level": (m[1, 2] - three) / a,
        "agent_task_level": three - (within.raw or 0.0) / mean_n,
    }
    return FacetComponents(
        agents=a,
        tasks=t,
        levels=u,
        samples=mean_n,
        left_out=left_out,
        sample=within,
        **{name: Component(raw=raw) for name, raw in found.items()},
    )


_FACETS = (
    "agent",
    "task",
    "level",
    "agent_task",
    "agent_level",
    "task_level",
    "agent_task_level",
    "sample",
)


def _within(groups: Sequence[Sequence[float]]) -> tuple[Component, float, bool]:
    """The variance of samples within cells, the harmonic mean of their numbers, and whether all cells have one."""
    mean_n = len(groups) / fsum(1 / len(values) for values in groups)
    free = sum(len(values) - 1 for values in groups)
    if not free:
        reason = _("one sample of each task: samples are not told apart")
        return Component(raw=None, reason=reason), mean_n, True
    squares = fsum((value - fmean(values)) ** 2 for values in groups for value in values)
    return Component(raw=squares / free), mean_n, False


def _mean_squares(means: NDArray[np.float64]) -> dict[tuple[int, ...], float]:
    """Of every set of axes: the sum of squared effects, times the number of cells averaged over, by its degrees of
    freedom. An axis of one level has no effect and is left out.
    """
    import itertools

    axes = [axis for axis in range(means.ndim) if means.shape[axis] > 1]
    found: dict[tuple[int, ...], float] = {}
    for size in range(1, len(axes) + 1):
        for of in itertools.combinations(axes, size):
            effect = means
            for axis in range(means.ndim):
                mean = effect.mean(axis=axis, keepdims=True)
                effect = effect - mean if axis in of else mean
            over, free = 1, 1
            for axis in range(means.ndim):
                over *= 1 if axis in of else means.shape[axis]
                free *= means.shape[axis] - 1 if axis in of else 1
            found[of] = float((effect**2).sum()) * over / free
    return found


def _unknown(agents: int, tasks: int, left_out: int, reason: str) -> Components:
    none = Component(raw=None, reason=reason)
    return Components(
        agents=agents,
        tasks=tasks,
        samples=0,
        left_out=left_out,
        agent=none,
        task=none,
        agent_task=none,
        sample=none,
        rest=none,
        reason=reason,
    )
