"""Cells of figures, and tables with agents across."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from cuecard.annotate.agreement import Statistic
from cuecard.annotate.effect.sheets import FAMILY_WORDS
from cuecard.annotate.labelling.comparison.sheets import Line, Sheet
from cuecard.core.i18n import _
from cuecard.core.tasks import Family
from cuecard.results.cells import ResultCell, in_percent
from cuecard.results.errors.groups import By
from cuecard.results.errors.rates import Rate
from cuecard.results.words import dimension_word

_Arm = TypeVar("_Arm")


def text(words: str, trials: Sequence[int] = ()) -> ResultCell:
    return ResultCell(words, trials=tuple(trials))


def number(value: float, trials: Sequence[int] = ()) -> ResultCell:
    return ResultCell(f"{value:,.0f}", value=float(value), trials=tuple(trials))


def share(rate: Rate | None) -> ResultCell:
    """`8.3 [2.1, 15.4]`: in percent."""
    if rate is None:
        return ResultCell("–")
    return ResultCell(in_percent(rate.statistic), statistic=rate.statistic, trials=rate.trials)


def share_of(rate: Rate | None) -> ResultCell:
    """`8.3 [2.1, 15.4] (24)`: in percent, with its n; a dash for nothing at all."""
    if rate is None or not rate.of:
        return ResultCell("–", statistic=rate.statistic if rate else None)
    return ResultCell(
        f"{in_percent(rate.statistic)} ({rate.statistic.n:,})",
        statistic=rate.statistic,
        trials=rate.trials,
    )


def level(rate: Rate | None, digits: int = 2) -> ResultCell:
    """`7.25 [6.10, 8.31]`: as it is."""
    if rate is None:
        return ResultCell("–")
    return figure_cell(rate.statistic, rate.trials, digits)


def figure_cell(
    statistic: Statistic | None, trials: Sequence[int] = (), digits: int = 2, key: str = ""
) -> ResultCell:
    return ResultCell(plain(statistic, digits), statistic=statistic, trials=tuple(trials), key=key)


def plain(statistic: Statistic | None, digits: int) -> str:
    """A figure that is no share, with its interval."""
    if statistic is None or statistic.value is None:
        return "–"
    if statistic.interval is None:
        return f"{statistic.value:,.{digits}f}"
    low, high = statistic.interval
    return f"{statistic.value:,.{digits}f} [{low:,.{digits}f}, {high:,.{digits}f}]"


def title(family: Family, words: str) -> str:
    """`Graph tasks: coverage by relation`."""
    return _("{family}: {table}").format(family=_(FAMILY_WORDS[family]), table=words)


def arm_heading(by: By) -> str:
    """What the first column is called where it names arms."""
    return " · ".join(dimension_word(dimension) for dimension in by) or _("Trials of")


def across(
    words: str,
    heading: str,
    arms: Sequence[tuple[str, _Arm]],
    rows: Sequence[tuple[str, Callable[[_Arm], ResultCell]]],
    notes: Sequence[str] = (),
) -> Sheet:
    """A table with an arm in each column: `rows` are what the lines are called and what each says of an arm."""
    lines: list[Line] = [(text(name), *(of(arm) for _name, arm in arms)) for name, of in rows]
    return Sheet(
        view="results",
        title=words,
        headings=(heading, *(name for name, _arm in arms)),
        lines=tuple(lines),
        notes=tuple(notes),
    )
