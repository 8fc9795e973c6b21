"""Variance components of scores: agents x tasks x samples, with a third facet (users or judges), by unweighted means of
cells (Burdick & Graybill 1992), and what follows from them: dependability and the intraclass correlation of samples.
Success of k samples (pass@k, pass^k), and the interval of a mean on these tasks alone (NIST AI 800-3 asks for both).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb, floor, fsum, prod, sqrt
from statistics import fmean
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.linearisation import t_quantile
from cuecard.core.i18n import _
from cuecard.core.tables.table import Statistic
from cuecard.core.tasks.base import Frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Cells = Mapping[tuple[str, ...], Sequence[float]]
"""The values of the samples in each cell, by its level of every facet: `("alpha", "espresso")`."""


class Component(Frozen):
    """A variance. `raw` is its unbiased estimate, which may be negative, and None where `reason` says why there is none."""

    raw: float | None
    reason: str = ""

    @property
    def value(self) -> float | None:
        """A negative estimate is 0; the others are not pooled again."""
        return None if self.raw is None else max(0.0, self.raw)


class Components(Frozen):
    """Variances in the square of the measure's unit: `parts` by facet and by facets joined by `_` for their interaction
    (`agent_task`), and `sample`, between samples in one cell. Where every cell has one sample, `rest` is both sample and the
    highest interaction. `levels`: how many of each facet; `samples`: in a cell, the harmonic mean; `left_out`: tasks with an
    empty cell. `reason`: why nothing is known.
    """

    levels: dict[str, int]
    samples: float
    left_out: int
    parts: dict[str, Component] = {}
    reason: str = ""

    def part(self, name: str) -> Component:
        found = self.parts.get(name)
        return found or Component(raw=None, reason=self.reason or _("one of a facet only"))

    def value(self, name: str) -> float | None:
        return self.part(name).value

    def difference_variance(self, tasks: int, samples: int) -> Component:
        """Of agents x tasks: the variance of the difference of two agents on the same tasks, V = 2 (s2_at / t + s2_e / (t n))."""
        both, sample, rest = (self.value(name) for name in ("agent_task", "sample", "rest"))
        if both is not None and sample is not None:
            return Component(raw=2 * (both + sample / samples) / tasks)
        if samples == 1 and rest is not None and self.levels["agent"] > 1:
            return Component(raw=2 * rest / tasks)
        return Component(raw=None, reason=self.part("agent_task").reason)

    def dependability(self, tasks: int, samples: int) -> Component:
        """E rho^2 = s2_a / (s2_a + s2_at / t + s2_e / (t n)): how much of what sets agents' means apart is the agents
        (Brennan 2001), between 0 and 1.
        """
        agent, noise = self.part("agent"), self.difference_variance(tasks, samples)
        if agent.value is None or noise.raw is None:
            return Component(raw=None, reason=agent.reason or noise.reason)
        return _share(agent.value, noise.raw / 2)


def components(cells: Cells, facets: Sequence[str] = ("agent", "task")) -> Components:
    """The components of crossed facets, of which the second is the task. Tasks with an empty cell are left out; if they are more
    than half of the tasks, nothing is estimated. Judges as a facet take the mean over samples in each cell; then `agent_task`
    holds s2_e / n.
    """
    full = {key: list(values) for key, values in cells.items() if values}
    names = [sorted({key[at] for key in full}) for at in range(len(facets))]
    tasks = names[1]
    filled = Counter(key[1] for key in full)
    whole = prod(map(len, names)) / len(tasks) if tasks else 0
    names[1] = [task for task in tasks if filled[task] == whole]
    left_out = len(tasks) - len(names[1])
    levels = dict(zip(facets, map(len, names), strict=True))
    reason = ""
    if 2 * left_out > len(tasks):
        reason = _("more than half of the tasks have an empty cell")
    elif len(names[1]) < 2:
        reason = _("fewer than {n} tasks").format(n=2)
    if reason:
        return Components(levels=levels, samples=0, left_out=left_out, reason=reason)
    import numpy as np

    kept = set(names[1])
    places = [{name: at for at, name in enumerate(own)} for own in names]
    means = np.empty([len(own) for own in names])
    groups = [values for key, values in full.items() if key[1] in kept]
    for key, values in full.items():
        if key[1] in kept:
            means[tuple(place[name] for place, name in zip(places, key, strict=True))] = fmean(
                values
            )
    mean_n = len(groups) / fsum(1 / len(values) for values in groups)
    free = sum(len(values) - 1 for values in groups)
    squares = fsum((value - fmean(values)) ** 2 for values in groups for value in values)
    within = squares / free if free else None
    effects = _mean_squares(means)
    top = max(effects, key=len)
    parts: dict[str, Component] = {}
    for of in effects:
        above = fsum((-1) ** (len(e) - len(of)) * m for e, m in effects.items() if {*of} <= {*e})
        raw = above / prod(means.shape[axis] for axis in top if axis not in of)
        name = "_".join(facets[axis] for axis in of)
        parts[name] = Component(raw=raw - within / mean_n if of == top and within else raw)
        if of == top and within is None:
            parts["rest"] = parts[name]
            untold = Component(
                raw=None, reason=_("one sample of each task: samples are not told apart")
            )
            parts[name] = parts["sample"] = untold
    if within is not None:
        parts["sample"] = Component(raw=within)
    return Components(levels=levels, samples=mean_n, left_out=left_out, parts=parts)


def correlation_of_samples(values: Mapping[str, Sequence[float]]) -> Component:
    """The intraclass correlation of one agent's samples, by task: s2_t / (s2_t + s2_e)."""
    found = components({("", task): own for task, own in values.items()})
    task, sample = found.value("task"), found.value("sample")
    if task is None or sample is None:
        return found.part("task")
    return _share(task, sample)


def _share(part: float, other: float) -> Component:
    if part + other <= 0:
        return Component(raw=None, reason=_("nothing varies"))
    return Component(raw=part / (part + other))


def _mean_squares(means: NDArray[np.float64]) -> dict[tuple[int, ...], float]:
    """Of every set of axes: the sum of squared effects, times the number of cells averaged over, by its degrees of
    freedom. An axis of one level has no effect and is left out.
    """
    every = range(means.ndim)
    axes = [axis for axis in every if means.shape[axis] > 1]
    found: dict[tuple[int, ...], float] = {}
    for size in range(1, len(axes) + 1):
        for of in combinations(axes, size):
            effect = means
            for axis in every:
                mean = effect.mean(axis=axis, keepdims=True)
                effect = effect - mean if axis in of else mean
            over = prod(means.shape[axis] for axis in every if axis not in of)
            free = prod(means.shape[axis] - 1 for axis in of)
            found[of] = float((effect**2).sum()) * over / free
    return found


def all_of(passed: int, samples: int, k: int) -> float | None:
    """pass^k of one task: the chance that k of its samples, drawn without replacement, have all passed. None if it has fewer."""
    return comb(passed, k) / comb(samples, k) if samples >= k else None


def any_of(passed: int, samples: int, k: int) -> float | None:
    """pass@k of one task: the chance that of k of its samples at least one has passed. None if it has fewer."""
    return 1 - comb(samples - passed, k) / comb(samples, k) if samples >= k else None


def on_these_tasks(
    name: str, values: NDArray[np.float64], counts: NDArray[np.int64], *, share: bool = False
) -> Statistic:
    """The mean over tasks of the mean over samples, with the 95% interval that other samples of the same tasks would give:
    SE^2 = sum s_t^2 / n_t / T^2, with Satterthwaite's degrees of freedom. `values`: of all samples that have one, task by
    task; `counts`: how many each task has, at least one. No interval where a task has one sample, or where samples never
    differed. `share`: it ends at 0 and 1.
    """
    import numpy as np

    if not len(counts):
        return Statistic(name=name, value=None, n=0, reason=_("no sample has a value"))
    starts = np.r_[0, np.cumsum(counts)[:-1]]
    means = np.add.reduceat(values, starts) / counts
    value = float(means.mean())
    found = Statistic(name=name, value=value, n=len(counts))
    if counts.min() < 2:
        return found.model_copy(update={"no_interval": _("a task has one sample only")})
    squares = np.add.reduceat((values - np.repeat(means, counts)) ** 2, starts)
    parts = squares / (counts - 1) / counts
    whole = float(parts.sum())
    if whole <= _DUST:
        why = _("samples never differed, which does not say that they never will")
        return found.model_copy(update={"no_interval": why})
    free = whole**2 / float((parts**2 / (counts - 1)).sum())
    half = _quantile(free) * sqrt(whole) / len(counts)
    low, high = value - half, value + half
    ends = (max(0.0, low), min(1.0, high)) if share else (low, high)
    return found.model_copy(update={"low": ends[0], "high": ends[1]})


_DUST = 1e-18


def _quantile(freedom: float) -> float:
    """The 97.5% point of Student's t, between whole degrees of freedom straight in 1 / freedom."""
    low = max(1, floor(freedom + 1e-9))
    ends = t_quantile(0.975, low), t_quantile(0.975, low + 1)
    share = (1 / low - 1 / max(freedom, low)) / (1 / low - 1 / (low + 1))
    return ends[0] + share * (ends[1] - ends[0])
