"""What several samples of the same tasks tell: success of k samples (pass@k, pass^k), and the interval of a mean on these tasks
alone, beside that on tasks of this kind (NIST AI 800-3 asks for both).
"""

from __future__ import annotations

from math import comb, floor, sqrt
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.linearisation import t_quantile
from cuecard.core.i18n import _
from cuecard.core.tables.table import Statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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
