"""What several samples of the same tasks tell: success of k samples (pass@k, pass^k), and the interval of a mean on these tasks
alone, beside that on tasks of this kind (NIST AI 800-3 asks for both).
"""

from collections.abc import Sequence
from math import comb, floor, fsum, sqrt
from statistics import fmean, variance

from cuecard.annotate.agreement.intervals import t_quantile
from cuecard.core.i18n import _
from cuecard.core.tables.table import Statistic


def all_of(passed: int, samples: int, k: int) -> float | None:
    """pass^k of one task: the chance that k of its samples, drawn without replacement, have all passed. None if it has fewer."""
    return comb(passed, k) / comb(samples, k) if samples >= k else None


def any_of(passed: int, samples: int, k: int) -> float | None:
    """pass@k of one task: the chance that of k of its samples at least one has passed. None if it has fewer."""
    return 1 - comb(samples - passed, k) / comb(samples, k) if samples >= k else None


def on_these_tasks(name: str, tasks: Sequence[Sequence[float]]) -> Statistic:
    """The mean over tasks of the mean over samples, with the 95% interval that other samples of the same tasks would give:
    SE^2 = sum s_t^2 / n_t / T^2, with Satterthwaite's degrees of freedom. No interval where a task has one sample, or where
    samples never differed.
    """
    known = [values for values in tasks if values]
    if not known:
        return Statistic(name=name, value=None, n=0, reason=_("no sample has a value"))
    value = fmean(fmean(values) for values in known)
    found = Statistic(name=name, value=value, n=len(known))
    if any(len(values) < 2 for values in known):
        why = _("a task has one sample only")
        return found.model_copy(update={"no_interval": why})
    parts = [(variance(values) / len(values), len(values) - 1) for values in known]
    whole = fsum(part for part, _free in parts)
    if whole <= _DUST:
        why = _("samples never differed, which does not say that they never will")
        return found.model_copy(update={"no_interval": why})
    free = whole**2 / fsum(part**2 / free for part, free in parts)
    half = _quantile(free) * sqrt(whole) / len(known)
    return found.model_copy(update={"low": value - half, "high": value + half})


_DUST = 1e-18


def _quantile(freedom: float) -> float:
    """The 97.5% point of Student's t, between whole degrees of freedom straight in 1 / freedom."""
    low = max(1, floor(freedom + 1e-9))
    ends = t_quantile(0.975, low), t_quantile(0.975, low + 1)
    share = (1 / low - 1 / max(freedom, low)) / (1 / low - 1 / (low + 1))
    return ends[0] + share * (ends[1] - ends[0])
