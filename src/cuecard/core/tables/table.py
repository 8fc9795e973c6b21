"""A table of cells (`Table`), whatever it is about, and how figures stand in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from cuecard.core.tables.statistic import Statistic

View = Literal[
    "table",
    "matrix",
    "groups",
    "judges",
    "effect",
    "cues",
    "findings",
    "worst",
    "outcome",
    "meaning",
    "results",
]

STAR = "*"
"""Behind a difference whose interval does not hold zero."""


@dataclass(frozen=True)
class Cell:
    """A cell of a table. `text`: as shown; `statistic`, else `value`: the number that it shows, unrounded. `place`: what
    it leads to, of which its screen knows more; `trials`: ids of those behind it; `key`: the path of the number in
    `cuecard score --json`, joined by slashes, "" if it is not there; `difference`: it is held against zero.
    """

    text: str
    place: object = None
    statistic: Statistic | None = None
    value: float | None = None
    trials: tuple[int, ...] = ()
    key: str = ""
    difference: bool = False

    @property
    def number(self) -> float | None:
        """The number shown, unrounded."""
        return self.statistic.value if self.statistic else self.value

    @property
    def is_figure(self) -> bool:
        """Whether the cell is meant for a number, known or not."""
        return self.statistic is not None or self.value is not None

    @property
    def apart(self) -> bool:
        """Whether it is a difference whose interval does not hold zero."""
        interval = self.statistic.interval if self.difference and self.statistic else None
        return interval is not None and not interval[0] <= 0 <= interval[1]

    @property
    def remark(self) -> str:
        """Why there is no value, or no interval."""
        return self.statistic.remark if self.statistic else ""

    @property
    def shows_percent(self) -> bool:
        """Whether the text shows its statistic in percent."""
        statistic = self.statistic
        if statistic is None or statistic.value is None:
            return False
        return f"{statistic.value:.3f}" not in self.text and percent(statistic.value) in self.text


Row = tuple[Cell, ...]
Shown = str | int | Statistic | Cell | None
"""What may stand in a cell: words, a count, a statistic, a cell of its own, or nothing, which is told by a dash."""


@dataclass(frozen=True)
class Table:
    """A table with its title; the first column names the line, `notes` stand below."""

    view: View
    title: str
    headings: tuple[str, ...]
    lines: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        title: str,
        headings: Iterable[str],
        lines: Iterable[Iterable[Shown]],
        notes: Iterable[str] = (),
        *,
        view: View = "results",
    ) -> Table:
        """A table of what stands in its cells."""
        rows = ((each if isinstance(each, Cell) else cell(each) for each in line) for line in lines)
        return cls(view, title, tuple(headings), tuple(map(tuple, rows)), tuple(notes))


def cell(
    shown: str | int | Statistic | None, place: object = None, trials: Iterable[int] = ()
) -> Cell:
    """A cell of what it shows, with what lies behind it."""
    if isinstance(shown, str):
        return Cell(shown, place, trials=tuple(trials))
    if isinstance(shown, int):
        return Cell(f"{shown:,}", place, value=shown, trials=tuple(trials))
    return Cell(figure(shown), place, shown, trials=tuple(trials))


def difference(
    statistic: Statistic | None,
    text: str = "",
    *,
    percent: bool = False,
    place: object = None,
    trials: Iterable[int] = (),
) -> Cell:
    """A statistic that is held against zero: with its sign, and a star where its interval does not hold zero. `text`: how
    it is told, if not with three decimals or in `percent`.
    """
    if not text and statistic is not None and statistic.value is not None:
        told = [_signed(value, percent) for value in (statistic.value, *(statistic.interval or ()))]
        text = told[0] if len(told) == 1 else f"{told[0]} [{told[1]}, {told[2]}]"
    found = Cell(text or "–", place, statistic, trials=tuple(trials), difference=True)
    return replace(found, text=f"{found.text}{STAR}") if found.apart else found


def _signed(value: float, percent: bool) -> str:
    text = f"{100 * value:+.1f}" if percent else f"{value:+.3f}"
    return text if text.strip("+-0.") else text[1:]


def figure(statistic: Statistic | None) -> str:
    """A statistic for display: `0.912 [0.871, 0.947]`; without an interval the value alone, undefined a dash."""
    if statistic is None or statistic.value is None:
        return "–"
    if statistic.interval is None:
        return f"{statistic.value:.3f}"
    low, high = statistic.interval
    return f"{statistic.value:.3f} [{low:.3f}, {high:.3f}]"


def compact(statistic: Statistic, digits: int = 3) -> str:
    """As `figure` with less room: `0.912 [.871 .947]`; the ends have `digits` digits."""
    if statistic.value is None or statistic.interval is None:
        return figure(statistic)
    low, high = (_short(end, digits) for end in statistic.interval)
    return f"{statistic.value:.3f} [{low} {high}]"


def _short(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def percent(value: float | None) -> str:
    """A share in percent: `61.3`; a dash for none."""
    return "–" if value is None else f"{100 * value:.1f}"


def in_percent(statistic: Statistic | None) -> str:
    """A share with its interval in percent: `61.3 [55.0, 67.2]`."""
    if statistic is None or statistic.value is None:
        return "–"
    if statistic.interval is None:
        return percent(statistic.value)
    low, high = statistic.interval
    return f"{percent(statistic.value)} [{percent(low)}, {percent(high)}]"
