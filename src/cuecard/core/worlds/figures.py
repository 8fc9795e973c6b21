"""Amounts and dates in one spelling each, so that a value is found however it is written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from cuecard.core.judges.quantities import Quantity, parse_quantity
from cuecard.core.scoring.dates import MONTH_NAMES, parse_plain_date
from cuecard.core.scoring.numerals import HAN_NUMERALS, WORD_NUMERALS
from cuecard.core.text import normalise

_THIN_BLANKS = re.compile("(?<=\\d)[\u00a0\u2009\u202f](?=\\d{3}(?!\\d))")
_PER_CENT = re.compile(r"\bper\s+cent\b")
_BLANKS = re.compile(r"\s+")
_HAN = "".join(sorted(HAN_NUMERALS))
_WORD = "|".join(sorted(WORD_NUMERALS, key=len, reverse=True))
_IDEOGRAPH = "[\u4e00-\u9fff]"
_NUMBER = r"(?<![a-z\d])(?:(?<!\w)[-+])?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?"
_AMOUNT = re.compile(
    rf"百分之(?:{_NUMBER}|[{_HAN}]+)"
    rf"|(?:us\$|[$€£¥]|\b(?:eur|usd|cny|rmb|gbp|jpy)\b)?\s*{_NUMBER}"
    rf"(?:\s*(?:百万|千万|千|万|亿|thousand|million|billion|trillion)(?![a-z]))?"
    rf"(?:\s*(?:[a-z$€£¥%°]+|{_IDEOGRAPH}{{1,4}}))?"
    rf"|[{_HAN}]+{_IDEOGRAPH}{{1,4}}"
    rf"|\b(?:{_WORD})(?:[\s-]+(?:{_WORD}|and))*\s+[a-z]+\b"
)
_FIGURE = re.compile(r"(?<![\d.])(-?\d+(?:\.\d+)?)(?: (%|°c|°|[a-z]+))?")


class Figure(NamedTuple):
    """A number and, where one stands with it, its unit by a canonical name."""

    number: Decimal
    unit: str


@lru_cache(maxsize=2048)
def written(text: str) -> str:
    """The text, normalised, with every amount as a plain number and its canonical unit: `€1,200`,
    `1200 euros` and `一千二百欧元` all become `1200 eur`.
    """
    plain = _THIN_BLANKS.sub("", text).replace("\u2212", "-")
    plain = _PER_CENT.sub("percent", unicodedata.normalize("NFKC", plain).casefold())
    return normalise(_BLANKS.sub(" ", _AMOUNT.sub(lambda found: _canonical(found[0]), plain)))


def figures_in(text: str) -> Iterator[tuple[Figure, int, int]]:
    """The amounts in a `written` text, with the places of their numbers."""
    for found in _FIGURE.finditer(text):
        known = parse_quantity(found[0]) if found[2] else None
        figure = Figure(Decimal(found[1]), known.unit if known and known.known else "")
        yield figure, *found.span(1)


def figure_of(value: str, *, any_unit: bool = False) -> Figure | None:
    """The amount that a value is, if it is nothing but one. `any_unit`: also where its unit is not
    known here; the amount then has none.
    """
    quantity = parse_quantity(value)
    if quantity is None or not (quantity.known or any_unit):
        return None
    return Figure(quantity.value, quantity.unit if quantity.known else "")


def spellings(value: str) -> tuple[str, ...]:
    """A date in its usual spellings; of anything else only itself."""
    moment = parse_plain_date(value)
    if moment is None or moment.month is None:
        return (value,)
    year, month, day, name = moment.year, moment.month, moment.day, MONTH_NAMES[moment.month - 1]
    if day is None:
        others = (
            f"{name} {year}",
            f"{name[:3]} {year}",
            f"{year}年{month}月",
            f"{year}-{month:02}",
        )
    else:
        others = (
            *(f"{day} {n} {year}" for n in (name, name[:3])),
            *(f"{n} {day}, {year}" for n in (name, name[:3])),
            *(f"{year}年{month}月{day}日", f"{year}-{month:02}-{day:02}", f"{year}/{month}/{day}"),
        )
    return (value, *others)


def _canonical(found: str) -> str:
    """The longest beginning of `found` that is an amount, in its one spelling, and the rest."""
    leading = found[: len(found) - len(found.lstrip())]
    end = len(found)
    while end > 0:
        quantity = parse_quantity(found[:end])
        if quantity and quantity.known and (quantity.unit or _stands_alone(found, quantity)):
            return f"{leading} {_plain(quantity.value)} {quantity.unit} {found[end:]}"
        shorter = re.sub(r"[a-z]+$", "", found[:end])
        end = len(shorter) if len(shorter) < end else end - 1
    return found


def _stands_alone(found: str, quantity: Quantity) -> bool:
    """Whether a number counts without a unit: 一 and `one` are more often mere articles."""
    return any(char.isdigit() for char in found) or (found.isascii() and quantity.value > 1)


def _plain(number: Decimal) -> str:
    return format(number.normalize(), "f")
