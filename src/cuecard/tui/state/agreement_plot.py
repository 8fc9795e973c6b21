"""Intervals drawn in characters: position alone tells, so it reads in any colours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, log10

from cuecard.annotate.agreement import Statistic

LEAST = 12
_SMALL, _LARGE = 0.05, 10


@dataclass(frozen=True)
class Axis:
    """From `low` to `high` over `width` cells; shares told in `percent`."""

    low: float
    high: float
    width: int
    percent: bool = False

    def place(self, value: float) -> int:
        share = (value - self.low) / (self.high - self.low)
        return max(0, min(self.width - 1, round(share * (self.width - 1))))

    @property
    def head(self) -> str:
        """Both ends, and the middle where there is room."""
        left, right = self._told(self.low), self._told(self.high)
        middle = self._told(round((self.low + self.high) / 2, 3))
        line = ["─"] * self.width
        spots = [(0, left), (self.width - len(right), right)]
        if self.width > len(left) + len(right) + len(middle) + 6:
            spots.append((self.place((self.low + self.high) / 2) - len(middle) // 2, middle))
        for at, text in spots:
            line[at : at + len(text)] = text
        return "".join(line)

    def _told(self, value: float) -> str:
        return f"{100 * value:g}%" if self.percent else f"{value:g}"


def axis_for(statistics: Iterable[Statistic], width: int, *, percent: bool = False) -> Axis:
    """Wide enough for every value and interval; its ends at tenths, of figures that are no shares at round
    numbers.
    """
    ends: list[float] = []
    for statistic in statistics:
        ends += [x for x in (statistic.value, statistic.low, statistic.high) if x is not None]
    least, most = min(ends, default=0), max(ends, default=1)
    step = _step(most - least)
    low = floor(least / step + 1e-9) * step
    high = ceil(most / step - 1e-9) * step
    if high <= low:
        low, high = low - step, high + step
    digits = max(1, -floor(log10(step)))
    return Axis(round(low, digits), round(high, digits), max(LEAST, width), percent)


def _step(span: float) -> float:
    if span <= 0 or _SMALL <= span <= _LARGE:
        return 0.1
    return 10.0 ** floor(log10(span))


def drawn(statistic: Statistic, axis: Axis) -> str:
    """`├──●──┤`; the value alone where there is no interval, `·` at zero where the axis crosses it."""
    line = [" "] * axis.width
    if axis.low < 0 < axis.high:
        line[axis.place(0)] = "·"
    if statistic.value is None:
        return "".join(line)
    if statistic.interval is not None:
        low, high = (axis.place(end) for end in statistic.interval)
        line[low : high + 1] = "─" * (high + 1 - low)
        line[low], line[high] = "├", "┤"
    line[axis.place(statistic.value)] = "●"
    return "".join(line)
