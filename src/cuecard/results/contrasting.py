"""The figures of paired values: means, their difference with its interval, win, tie and loss, cost per point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import comb, fsum
from typing import TYPE_CHECKING

from cuecard.annotate.agreement import Coefficient, Statistic, with_intervals
from cuecard.annotate.agreement.coefficient import ratio
from cuecard.annotate.effect.figures import mean_over
from cuecard.core.i18n import _
from cuecard.core.scoring.labels import COUNTS
from cuecard.core.scoring.measures import mean
from cuecard.results.contrasts import Contrast, Spending, TaskDifference
from cuecard.results.pairing import Pair, Pairing
from cuecard.results.words import LOWER_IS_BETTER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TIE = 1e-9
"""Values of a task closer than this are a tie."""
_DUST = 1e-12


def contrast_of(base: str, arm: str, found: Pairing, measure: str, *, resamples: int) -> Contrast:
    """What the pairs (left: the base) say. Exchanging base and arm exchanges the means and turns the sign of the
    difference and its interval, to the last digit.
    """
    pairs = found.pairs
    turned = arm < base
    figures = _figures(pairs, measure, resamples, turned=turned)
    lower = measure in LOWER_IS_BETTER
    gains = [_apart(p.right, p.left) * (-1 if lower else 1) for p in pairs]
    wins = sum(gain > TIE for gain in gains)
    losses = sum(gain < -TIE for gain in gains)
    tasks = sorted(
        (_difference(pair) for pair in pairs),
        key=lambda one: (-round(abs(one.difference), 9), one.task, one.revision),
    )
    return Contrast(
        base=base,
        arm=arm,
        base_mean=figures[0],
        arm_mean=figures[1],
        difference=figures[2],
        wins=wins,
        ties=len(pairs) - wins - losses,
        losses=losses,
        sign_test=sign_test(wins, losses),
        tasks=tuple(tasks),
        spending=Spending(
            base_cost=figures[3],
            arm_cost=figures[4],
            base_tokens=figures[5],
            arm_tokens=figures[6],
            cost_per_point=_per_point(pairs, gains, measure, resamples),
        ),
        left_out=found.left_out,
        within=found.within,
        differs=found.differs,
    )


def sign_test(wins: int, losses: int) -> float | None:
    """The two-sided exact binomial probability of so uneven a split; None of nothing."""
    n = wins + losses
    if not n:
        return None
    tail = sum(comb(n, k) for k in range(min(wins, losses) + 1)) / 2**n
    return min(1.0, 2 * tail)


def _apart(one: float, other: float) -> float:
    """Their difference without the dust of floating point."""
    found = one - other
    return found if abs(found) > TIE else 0.0


def _difference(pair: Pair) -> TaskDifference:
    return TaskDifference(
        task=pair.unit[0],
        revision=pair.unit[1],
        title=pair.title,
        base=pair.left,
        arm=pair.right,
        difference=_apart(pair.right, pair.left),
        base_trials=pair.left_trials,
        arm_trials=pair.right_trials,
    )


def _figures(
    pairs: Sequence[Pair], measure: str, resamples: int, *, turned: bool
) -> tuple[Statistic, ...]:
    """Means of base and arm, their difference, costs and tokens of both. Each is drawn by itself, so that it has the
    interval that it has in every other table; the difference the same whichever is the base.
    """
    groups = [pair.unit[0] for pair in pairs]

    def of(name: str, value: Callable[[Pair], float | None], *, share: bool = True) -> Statistic:
        values = {_unit(pair): value(pair) for pair in pairs}
        exact = mean(name, [v for v in values.values() if v is not None]).value
        exact = exact if exact is None or abs(exact) > _DUST else 0.0
        whole = mean_over(name, values, list(values))
        whole = whole if share else replace(whole, share=False)
        (drawn,) = with_intervals([whole], groups, resamples=resamples)
        return drawn.model_copy(update={"value": exact})

    sign = -1 if turned else 1
    apart = of(measure, lambda pair: _apart(pair.right, pair.left) * sign, share=False)
    return (
        of(measure, lambda pair: pair.left),
        of(measure, lambda pair: pair.right),
        _negated(apart) if turned else apart,
        of("cost", lambda pair: pair.left_spent["cost"]),
        of("cost", lambda pair: pair.right_spent["cost"]),
        of("tokens", lambda pair: pair.left_spent["tokens"]),
        of("tokens", lambda pair: pair.right_spent["tokens"]),
    )


def _negated(one: Statistic) -> Statistic:
    return one.model_copy(
        update={
            "value": None if one.value is None else 0.0 - one.value,
            "low": None if one.high is None else 0.0 - one.high,
            "high": None if one.low is None else 0.0 - one.low,
        }
    )


def _per_point(
    pairs: Sequence[Pair], gains: Sequence[float], measure: str, resamples: int
) -> Statistic:
    """Extra cost of a trial for each percentage point gained: a ratio of means over the pairs."""
    import numpy as np

    extra: list[float] = []
    for pair in pairs:
        left, right = pair.left_spent["cost"], pair.right_spent["cost"]
        if left is not None and right is not None:
            extra.append(right - left)
    gain, more = fsum(gains), fsum(extra)
    most = fsum(abs(one) for one in extra)
    reason = ""
    if not pairs:
        reason = _("no shared task")
    elif measure in COUNTS:
        reason = _("the measure is no share")
    elif len(extra) < len(pairs):
        reason = _("no price for some of the calls")
    elif gain <= TIE:
        reason = _("nothing is gained")
    elif more <= TIE * most:
        reason = _("gained at no extra cost")
    if reason:
        return Statistic(name="cost_per_point", value=None, n=len(pairs), reason=reason)

    def of(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return ratio(sums[..., 0], 100 * sums[..., 1])

    terms = np.array([[cost, one, 1.0] for cost, one in zip(extra, gains, strict=True)])
    coefficient = Coefficient("cost_per_point", terms, of, len(pairs), _("nothing is gained"))
    groups = [pair.unit[0] for pair in pairs]
    (found,) = with_intervals([coefficient], groups, resamples=resamples)
    return found.model_copy(update={"value": more / (100 * gain)})


def _unit(pair: Pair) -> str:
    return f"{pair.unit[0]}@{pair.unit[1]}"
