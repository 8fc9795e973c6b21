"""Statistics of paired values: means, their difference with its interval, wins, ties and losses, cost per point."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import comb, fsum
from statistics import fmean
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.coefficients import difference
from cuecard.annotate.agreement.intervals import each_with_interval, with_intervals
from cuecard.annotate.labelling.effect_figures import figure_over, mean_over
from cuecard.annotate.results.pairing import Contrast, Pair, Pairing, Spending, TaskDifference
from cuecard.annotate.results.words import LOWER_IS_BETTER
from cuecard.core.i18n import _
from cuecard.core.scoring.aggregate import Key, Part, total_of
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.scoring.measures import COUNTS
from cuecard.core.tables.table import Coefficient, Statistic, ratio

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TIE = 1e-9
"""Values of a task closer than this are a tie."""
_DUST = 1e-12


def contrast_of(base: str, arm: str, found: Pairing, key: Key, *, resamples: int) -> Contrast:
    """The contrast of two arms (left: the base) in a measure. Exchanging base and arm exactly exchanges the means and
    the signs of the difference and its interval.
    """
    pairs, measure = found.pairs, key[0]
    turned = arm < base
    figures = _figures(pairs, key, resamples, turned=turned)
    lower = measure in LOWER_IS_BETTER
    tasks = sorted(
        (one for one in map(_difference, pairs) if one),
        key=lambda one: (-round(abs(one.difference), 9), one.task, one.revision),
    )
    gains = [one.difference * (-1 if lower else 1) for one in tasks]
    wins = sum(gain > TIE for gain in gains)
    losses = sum(gain < -TIE for gain in gains)
    return Contrast(
        base=base,
        arm=arm,
        base_mean=figures[0],
        arm_mean=figures[1],
        difference=figures[2],
        wins=wins,
        ties=len(tasks) - wins - losses,
        losses=losses,
        sign_test=sign_test(wins, losses),
        tasks=tuple(tasks),
        base_trials=_sorted(pair.left_trials for pair in pairs),
        arm_trials=_sorted(pair.right_trials for pair in pairs),
        spending=Spending(
            base_cost=figures[3],
            arm_cost=figures[4],
            base_tokens=figures[5],
            arm_tokens=figures[6],
            cost_per_point=_per_point(pairs, figures[2], key, resamples),
        ),
        left_out=found.left_out,
        within=found.within,
        differs=found.differs,
    )


def sign_test(wins: int, losses: int) -> float | None:
    """The two-sided exact binomial p-value of the sign test; None without wins and losses."""
    n = wins + losses
    if not n:
        return None
    tail = sum(comb(n, k) for k in range(min(wins, losses) + 1)) / 2**n
    return min(1.0, 2 * tail)


def _apart(one: float, other: float) -> float:
    """Their difference without rounding errors."""
    found = one - other
    return found if abs(found) > TIE else 0.0


def _sorted(trials: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(sorted({id for each in trials for id in each}))


def _difference(pair: Pair) -> TaskDifference | None:
    """None where a side has no value of its own."""
    base, arm = pair.left.value, pair.right.value
    if base is None or arm is None:
        return None
    return TaskDifference(
        task=pair.unit[0],
        revision=pair.unit[1],
        title=pair.title,
        base=base,
        arm=arm,
        difference=_apart(arm, base),
        base_trials=pair.left_trials,
        arm_trials=pair.right_trials,
    )


def _figures(
    pairs: Sequence[Pair], key: Key, resamples: int, *, turned: bool
) -> tuple[Statistic, ...]:
    """Means of base and arm, their difference, costs and tokens of both. Each is resampled by itself, so that it has
    the same interval as in every other table; the difference has the same whichever arm is the base.
    """
    units = [f"{pair.unit[0]}@{pair.unit[1]}" for pair in pairs]

    def side(parts: Sequence[Part]) -> _Exactly:
        whole = figure_over(key, dict(zip(units, parts, strict=True)), units)
        return whole, total_of(parts).value

    def spent(name: str, values: Sequence[float | None]) -> _Exactly:
        mean = mean_over(name, dict(zip(units, values, strict=True)), units)
        return mean, fmean(v for v in values if v is not None) if mean.n else None

    figures = (
        side([pair.left for pair in pairs]),
        side([pair.right for pair in pairs]),
        _gap(pairs, key, units, turned=turned),
        spent("cost", [pair.left_spent["cost"] for pair in pairs]),
        spent("cost", [pair.right_spent["cost"] for pair in pairs]),
        spent("tokens", [pair.left_spent["tokens"] for pair in pairs]),
        spent("tokens", [pair.right_spent["tokens"] for pair in pairs]),
    )
    drawn = each_with_interval(
        [coefficient for coefficient, _exact in figures],
        [pair.unit[0] for pair in pairs],
        resamples=resamples,
    )
    found = [
        one.model_copy(update={"value": None if v is None else v if abs(v) > _DUST else 0.0})
        for one, (_coefficient, v) in zip(drawn, figures, strict=True)
    ]
    if turned:
        found[2] = _negated(found[2])
    return tuple(found)


_Exactly = tuple[Coefficient, float | None]
"""A figure to be resampled, and its value to the last digit."""


def _gap(pairs: Sequence[Pair], key: Key, units: Sequence[str], *, turned: bool) -> _Exactly:
    """The arm's figure minus the base's; `turned`: the other way round."""
    sides = [(pair.left, pair.right) if turned else (pair.right, pair.left) for pair in pairs]
    if key[1] is Taken.POOLED:
        ones, others = ([side[at] for side in sides] for at in (0, 1))
        one, other = total_of(ones).value, total_of(others).value
        figures = (
            figure_over(key, dict(zip(units, p, strict=True)), units) for p in (ones, others)
        )
        whole = replace(difference(*figures), name=key[0])
        return whole, None if one is None or other is None else _apart(one, other)
    values = [_apart(one.value or 0.0, other.value or 0.0) for one, other in sides]
    mean = mean_over(key[0], dict(zip(units, values, strict=True)), units)
    return replace(mean, share=False), fmean(values) if values else None


def _negated(one: Statistic) -> Statistic:
    return one.model_copy(
        update={
            "value": None if one.value is None else 0.0 - one.value,
            "low": None if one.high is None else 0.0 - one.high,
            "high": None if one.low is None else 0.0 - one.low,
        }
    )


def _per_point(pairs: Sequence[Pair], gap: Statistic, key: Key, resamples: int) -> Statistic:
    """Extra cost of a trial for each percentage point gained: the mean extra cost over the gain."""
    import numpy as np

    sign = -1 if key[0] in LOWER_IS_BETTER else 1
    extra: list[float] = []
    for pair in pairs:
        left, right = pair.left_spent["cost"], pair.right_spent["cost"]
        if left is not None and right is not None:
            extra.append(right - left)
    more = fsum(extra)
    most = fsum(abs(one) for one in extra)
    reason = ""
    if not pairs:
        reason = _("no shared task")
    elif key[0] in COUNTS:
        reason = _("the measure is no share")
    elif len(extra) < len(pairs):
        reason = _("no price for some of the calls")
    elif gap.value is None or sign * gap.value <= TIE:
        reason = _("nothing is gained")
    elif more <= TIE * most:
        reason = _("gained at no extra cost")
    if reason or gap.value is None:
        return Statistic(name="cost_per_point", value=None, n=len(pairs), reason=reason)

    def of(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        gain = ratio(sums[..., 4], sums[..., 5]) - ratio(sums[..., 2], sums[..., 3])
        return ratio(ratio(sums[..., 0], sums[..., 1]), 100 * sign * gain)

    terms = np.array([[cost, 1.0, *p.left, *p.right] for cost, p in zip(extra, pairs, strict=True)])
    coefficient = Coefficient("cost_per_point", terms, of, len(pairs), _("nothing is gained"))
    groups = [pair.unit[0] for pair in pairs]
    (found,) = with_intervals([coefficient], groups, resamples=resamples)
    exact = more / len(pairs) / (100 * sign * gap.value)
    return found.model_copy(update={"value": exact})
