"""A table of cells (`Table`), whatever it is about; a figure with n and interval (`Statistic`), the function of sums over
items behind it (`Coefficient`), and how figures stand in a cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from cuecard.core.i18n import _
from cuecard.core.tasks.base import Frozen


class Statistic(Frozen):
    """A value with n and interval. `n` counts the items that entered. `value` is None, never NaN, exactly if `reason`
    says why it is undefined. `low` and `high` are both given or neither; `no_interval` says why one that was asked for
    is missing. `name` is stable (`cohen_kappa`), reasons are translated.
    """

    name: str
    value: float | None
    n: int
    reason: str = ""
    low: float | None = None
    high: float | None = None
    no_interval: str = ""

    @property
    def defined(self) -> bool:
        return self.value is not None

    @property
    def remark(self) -> str:
        """Why there is no value, or no interval."""
        return self.reason or self.no_interval

    @property
    def interval(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Sums = NDArray[np.float64]
    Of = Callable[[Sums], Sums]

_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Coefficient:
    """A coefficient as a function of sums over items, so that resampling and weighting need only new sums. `terms`
    (items x terms): what each item adds; `of` maps sums (... x terms) to values (...), NaN where undefined. `n`: items
    that entered. `undefined`: the reason if there is no value. `share`: it is a share of items. `bounds`: where the
    ends of an analytic interval are cut. `entered`: how many groups have something to tell, if others count as drawn
    without adding anything; None: all that add anything.
    """

    name: str
    terms: NDArray[np.float64]
    of: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    n: int
    undefined: str
    share: bool = False
    bounds: tuple[float, float] = (-1.0, 1.0)
    entered: int | None = None

    def weighted(self, weights: NDArray[np.float64]) -> Coefficient:
        """The coefficient with a weight for each item, such as the inverse probability of having been drawn; `n` still
        counts items. Raises `ValueError` unless there is one weight for each item.
        """
        if len(weights) != len(self.terms):
            raise ValueError("not a weight for each item")
        return replace(self, terms=self.terms * weights[:, None])

    @property
    def statistic(self) -> Statistic:
        """Its value, without an interval."""
        value = float(self.of(self.terms.sum(axis=0))) if self.n else float("nan")
        if value != value:
            return Statistic(name=self.name, value=None, n=self.n, reason=self.undefined)
        return Statistic(name=self.name, value=value, n=self.n)


def pooled(parts: Sequence[Coefficient]) -> Coefficient:
    """One coefficient over the items of several, such as all dimensions of a review. They have the same name and
    labels, and equal rows are resampled together. Raises `ValueError` for none.
    """
    if not parts:
        raise ValueError("nothing to pool")
    defined = [part for part in parts if part.n]
    first = (defined or list(parts))[0]
    return Coefficient(
        name=first.name,
        terms=sum((part.terms for part in parts[1:]), parts[0].terms),
        of=first.of,
        n=sum(part.n for part in parts),
        undefined=first.undefined,
        share=first.share,
        bounds=first.bounds,
    )


def share(name: str, flags: Sequence[bool]) -> Coefficient:
    """The share of items that have the flag."""
    import numpy as np

    terms = np.array([[float(flag), 1.0] for flag in flags]).reshape(len(flags), 2)
    return Coefficient(
        name=name,
        terms=terms,
        of=lambda sums: ratio(sums[..., 0], sums[..., 1]),
        n=len(flags),
        undefined=_("nothing to count"),
        share=True,
        bounds=(0.0, 1.0),
    )


def ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """NaN where there is nothing to divide by."""
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > _TINY, above / below, np.nan)


def quotient(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first sum over the second."""
    return ratio(sums[..., 0], sums[..., 1])


def beyond_chance(
    observed: NDArray[np.float64], expected: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(p_o - p_e) / (1 - p_e), NaN where p_e is 1."""
    return ratio(observed - expected, 1 - expected)


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
    "workshop",
    "calibration",
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


_WORD = re.compile(r"\W*[^\W\d_]|[0-9a-f]{8,}$")
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

    def is_of_words(self, column: int) -> bool:
        """Whether a column names the lines, or something in it is neither a figure nor told by one, such as `3/6`. It is set
        to the left, others to the right.
        """
        cells = (line[column] for line in self.lines if column < len(line))
        return not column or any(not one.is_figure and _WORD.match(one.text) for one in cells)

    def noted(self, notes: Iterable[str]) -> Table:
        """With these notes below its own."""
        return replace(self, notes=(*self.notes, *notes))


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
        agreement = statistic.name == AGREEMENT
        ends = [_signed(end, percent or agreement) for end in statistic.interval or ()]
        text = _signed(statistic.value, percent or agreement) + "%" * agreement
        text = f"{text} [{', '.join(ends)}]" if ends else text
    found = Cell(text or "–", place, statistic, trials=tuple(trials), difference=True)
    return replace(found, text=f"{found.text}{STAR}") if found.apart else found


def _signed(value: float, percent: bool) -> str:
    text = f"{100 * value:+.1f}" if percent else f"{value:+.3f}"
    return text if text.strip("+-0.") else text[1:]


AGREEMENT = "percent"
"""The name of percent agreement, which is told in percent."""


def figure(statistic: Statistic | None) -> str:
    """A statistic for display: `0.912 [0.871, 0.947]`, percent agreement `91.2% [87.1, 94.7]`; without an interval the value
    alone, undefined a dash.
    """
    if statistic is None or statistic.value is None:
        return "–"
    if statistic.name == AGREEMENT:
        text, ends = f"{statistic.value:.1%}", list(map(percent, statistic.interval or ()))
    else:
        text, ends = f"{statistic.value:.3f}", [f"{end:.3f}" for end in statistic.interval or ()]
    return f"{text} [{', '.join(ends)}]" if ends else text


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


def percentage(statistic: Statistic | None) -> str:
    """The same as `in_percent` with its sign, for sentences: `61.3% [55.0, 67.2]`."""
    value, *interval = in_percent(statistic).partition(" ")
    return value if value == "–" else f"{value}%{''.join(interval)}"


def in_percent(statistic: Statistic | None) -> str:
    """A share with its interval in percent: `61.3 [55.0, 67.2]`."""
    if statistic is None or statistic.value is None:
        return "–"
    if statistic.interval is None:
        return percent(statistic.value)
    low, high = statistic.interval
    return f"{percent(statistic.value)} [{percent(low)}, {percent(high)}]"
