"""Round numbers for axes, and how values on them read."""

from __future__ import annotations

from math import ceil, floor, log10

from cuecard.results.plots.model import Axis, Scale

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_SLACK = 1e-9


def nice_step(span: float, most: int, *, whole: bool = False) -> float:
    """The smallest of 1, 2, 2.5 and 5 times a power of ten that parts `span` into at most `most` steps."""
    if span <= 0 or most < 1:
        return 1.0
    power = 10.0 ** floor(log10(span / most))
    for times in (*_STEPS, 20.0):
        step = times * power
        if whole and (step < 1 or step != floor(step)):
            continue
        if span / step <= most + _SLACK:
            return step
    return max(1.0, ceil(span / most)) if whole else 20 * power


def bounds(
    values: list[float], *, scale: Scale = "number", zero: bool = True
) -> tuple[float, float]:
    """Ends at round numbers around all values; shares keep to 0 and 1, others begin at zero with `zero`."""
    if scale == "share":
        return 0.0, 1.0
    low, high = min(values, default=0.0), max(values, default=1.0)
    if zero:
        low, high = min(0.0, low), max(0.0, high)
    if high - low <= 0:
        high = low + (abs(low) or 1.0)
    step = nice_step(high - low, 5, whole=scale == "count")
    return _tidy(floor(low / step + _SLACK) * step), _tidy(ceil(high / step - _SLACK) * step)


def ticks(axis: Axis, most: int) -> tuple[float, ...]:
    """At most `most` + 1 round places on the axis, at its ends where these are round."""
    step = nice_step(axis.span, max(1, most), whole=axis.scale == "count")
    first, last = ceil(axis.low / step - _SLACK), floor(axis.high / step + _SLACK)
    return tuple(_tidy(n * step) for n in range(first, last + 1))


def tick_label(value: float, step: float) -> str:
    """With as many decimals as neighbours `step` apart need; thousands as `12k`, millions as `3M`."""
    for unit, mark in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= unit and step >= unit / 10:
            return f"{value / unit:g}{mark}"
    decimals = max(0, -floor(log10(step) + _SLACK)) if step > 0 else 0
    if decimals and abs(step * 10**decimals - round(step * 10**decimals)) > _SLACK * 10**decimals:
        decimals += 1
    return f"{value:.{min(decimals, 8)}f}"


def tick_labels(places: tuple[float, ...]) -> tuple[str, ...]:
    step = places[1] - places[0] if len(places) > 1 else abs(places[0]) if places else 1.0
    return tuple(tick_label(place, step or 1.0) for place in places)


def value_text(value: float | None, scale: Scale) -> str:
    """A value as it stands in tables and under the cursor: shares with three decimals, costs with four
    digits, whole numbers with their thousands parted; a dash where there is none.
    """
    if value is None:
        return "–"
    if scale == "share":
        return f"{value:.3f}"
    if scale == "cost":
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    if scale == "count" and value == floor(value):
        return f"{value:,.0f}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def interval_text(value: float | None, low: float | None, high: float | None, scale: Scale) -> str:
    """`0.812 [0.750, 0.861]`."""
    text = value_text(value, scale)
    if value is None or low is None or high is None:
        return text
    return f"{text} [{value_text(low, scale)}, {value_text(high, scale)}]"


def _tidy(value: float) -> float:
    return round(value, 10) + 0.0
