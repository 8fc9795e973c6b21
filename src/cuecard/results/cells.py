"""Cells of tables of results: they know the trials that they were counted from, and where the JSON has the figure."""

from __future__ import annotations

from dataclasses import dataclass

from cuecard.annotate.agreement import Statistic
from cuecard.annotate.labelling.comparison.sheets import Cell


@dataclass(frozen=True)
class ResultCell(Cell):
    """`value`: the number that the text shows, where that is no `statistic`. `trials`: ids of those behind it, to
    be opened. `key`: the path of the figure in `cuecard score --json`, parts joined by slashes, "" where it
    is none of its figures.
    """

    value: float | None = None
    trials: tuple[int, ...] = ()
    key: str = ""

    @property
    def number(self) -> float | None:
        """What the cell shows, unrounded."""
        return self.statistic.value if self.statistic else self.value

    @property
    def shows_percent(self) -> bool:
        """The text tells its statistic in percent."""
        statistic = self.statistic
        if statistic is None or statistic.value is None:
            return False
        return f"{statistic.value:.3f}" not in self.text and percent(statistic.value) in self.text


def percent(value: float | None) -> str:
    """`61.3`: as the papers print shares; a dash where there is none."""
    return "–" if value is None else f"{100 * value:.1f}"


def in_percent(statistic: Statistic | None) -> str:
    """`61.3 [55.0, 67.2]`: a share with its interval, in percent."""
    if statistic is None or statistic.value is None:
        return "–"
    if statistic.interval is None:
        return percent(statistic.value)
    low, high = statistic.interval
    return f"{percent(statistic.value)} [{percent(low)}, {percent(high)}]"
