"""A rate that a judge found, corrected by how often that judge errs on labels from elsewhere.

The point is Rogan & Gladen's (1978), the interval that of Lee et al. (arXiv 2511.21140), which counts what is not known of
the judge's sensitivity and specificity, too. One rate at a time: F1 and success cannot be corrected so.
"""

from math import sqrt

from cuecard.annotate.estimation.allocation import Z95
from cuecard.core.i18n import _
from cuecard.core.tables.table import Statistic
from cuecard.core.tasks.base import Frozen

_LEAST_SKILL = 0.1
"""By how much sensitivity and specificity together have to be above 1."""


class JudgeErrors(Frozen):
    """How a judge did on labels from elsewhere: of `true` items by people it accepted the share `sensitivity`, of `false`
    ones it refused the share `specificity`. Numbers of items are those that count as independent, so they may be broken.
    """

    sensitivity: float
    specificity: float
    true: float
    false: float


class CorrectedRate(Frozen):
    """A rate `judged` by the judge on `items` that count as independent, and corrected. `warning`: what makes the corrected
    one doubtful though it is there, "" for nothing.
    """

    name: str
    judged: float
    items: float
    errors: JudgeErrors
    corrected: Statistic
    warning: str = ""


def corrected_rate(
    name: str, judged: float, items: float, errors: JudgeErrors, *, n: int = 0
) -> CorrectedRate:
    """The rate that people would have found, if the judge errs here as often as there. `judged`: the share of `items` that
    the judge accepts; `items`, and those of `errors`, are divided by the design effect where items come in tasks. `n`: how
    many items there are before that.

    Undefined where one side of the calibration is empty, and where the judge hardly tells true from false.
    """
    n = n or round(items)
    why = _undefined(items, errors)
    if why:
        corrected = Statistic(name=name, value=None, n=n, reason=why)
        return CorrectedRate(
            name=name, judged=judged, items=items, errors=errors, corrected=corrected
        )
    q1, q0 = errors.sensitivity, errors.specificity
    point = _cut((judged + q0 - 1) / (q0 + q1 - 1))
    low, high = uncut_interval(judged, items, errors)
    warning = ""
    if judged in (0.0, 1.0):
        warning = _(
            "The judge decides alike on all of these: the corrected rate stands at its bound, and says next to nothing."
        )
    elif point in (0.0, 1.0):
        warning = _(
            "The judge accepts fewer or more of these than its errors there allow: it errs otherwise here, or by chance."
        )
    return CorrectedRate(
        name=name,
        judged=judged,
        items=items,
        errors=errors,
        corrected=Statistic(name=name, value=point, n=n, low=_cut(low), high=_cut(high)),
        warning=warning,
    )


def _undefined(items: float, errors: JudgeErrors) -> str:
    if not items:
        return _("the judge decided nothing here")
    if not errors.true:
        return _("no true items among the labels from elsewhere")
    if not errors.false:
        return _("no false items among the labels from elsewhere")
    raw = errors.sensitivity + errors.specificity - 1
    if raw <= _LEAST_SKILL + 1e-12 or _smoothed_skill(errors) <= 0:
        return _("the judge hardly tells true from false")
    return ""


def _smoothed(share: float, m: float) -> float:
    return (m * share + 1) / (m + 2)


def _smoothed_skill(errors: JudgeErrors) -> float:
    return (
        _smoothed(errors.sensitivity, errors.true) + _smoothed(errors.specificity, errors.false) - 1
    )


def uncut_interval(judged: float, items: float, errors: JudgeErrors) -> tuple[float, float]:
    """The 95% interval before it is cut to [0, 1]. The point need not be in its middle."""
    z2 = Z95**2
    p, n = (items * judged + z2 / 2) / (items + z2), items + z2
    q1, m1 = _smoothed(errors.sensitivity, errors.true), errors.true + 2
    q0, m0 = _smoothed(errors.specificity, errors.false), errors.false + 2
    skill = q0 + q1 - 1
    theta = (p + q0 - 1) / skill
    of_false, of_true = q0 * (1 - q0) / m0, q1 * (1 - q1) / m1
    centre = theta + 2 * z2 * (theta * of_true - (1 - theta) * of_false)
    se = sqrt(p * (1 - p) / n + (1 - theta) ** 2 * of_false + theta**2 * of_true) / skill
    return centre - Z95 * se, centre + Z95 * se


def true_items_to_label(judged: float, errors: JudgeErrors, n: float) -> float:
    """Of `n` items to label next elsewhere, how many true ones make the interval narrowest; the others are false ones."""
    if not judged:
        return 0.0
    misses = 1 - _smoothed(errors.sensitivity, errors.true)
    alarms = 1 - _smoothed(errors.specificity, errors.false)
    return n / (1 + (1 / judged - 1) * sqrt(alarms / misses))


def _cut(value: float) -> float:
    return min(1.0, max(0.0, value))
