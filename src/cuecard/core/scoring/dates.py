"""Dates as people write them, read without regard to today's date.

The common spellings (ISO, Chinese, English) are read here; anything else goes to dateparser, which is
slow to import and slow to run and so is asked last.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from datetime import date, datetime
from functools import lru_cache
from typing import NamedTuple

from cuecard.core.scoring.numerals import parse_han

MONTH_NAMES = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_MONTHS = {"sept": 9} | {
    name[:length]: number
    for number, name in enumerate(MONTH_NAMES, start=1)
    for length in (3, len(name))
}
_MONTH = "(" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s*)?"
_ORDINAL = r"(\d{1,2})(?:st|nd|rd|th)?"
_HAN = "[〇零一二三四五六七八九十]"

_ISO = re.compile(r"(\d{4})([-/.])(\d{1,2})(?:\2(\d{1,2}))?(?:[t ]+\d{1,2}:\d{2}.*)?")
_CHINESE = re.compile(
    rf"(?:公元)?\s*(\d{{1,4}}|{_HAN}{{2,4}})\s*年"
    rf"(?:\s*(\d{{1,2}}|{_HAN}{{1,2}})\s*月份?(?:\s*(\d{{1,2}}|{_HAN}{{1,3}})\s*[日号])?)?"
)
_MONTH_FIRST = re.compile(rf"{_WEEKDAY}{_MONTH}\s*(?:{_ORDINAL}(?:\s*,\s*|\s+))?,?\s*(\d{{4}})")
_DAY_FIRST = re.compile(rf"{_WEEKDAY}{_ORDINAL}\s*(?:of\s*)?[-\s]?\s*{_MONTH}[-,\s]*(\d{{4}})")
_YEAR = re.compile(r"\d{4}")
_BARE_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?%?")
_LONGEST = 60
# All of dateparser's two hundred locales take 2 s to load and 10 ms a cell.
_LANGUAGES = ["en", "zh", "de", "es", "fr", "it", "ja", "ko", "nl", "pt", "ru"]


class Moment(NamedTuple):
    """A date with what is known of it: a year, a month of it, a day of that."""

    year: int
    month: int | None = None
    day: int | None = None

    @property
    def first_day(self) -> date:
        return date(self.year, self.month or 1, self.day or 1)

    def covers(self, other: Moment) -> bool:
        """Whether `other` says the same, or the same and more precisely."""
        return all(mine is None or mine == theirs for mine, theirs in zip(self, other, strict=True))


def parse_plain_date(text: str) -> Moment | None:
    """A date in one of the common spellings; else None. A bare number is no date."""
    text = unicodedata.normalize("NFKC", text).strip().casefold()
    if len(text) > _LONGEST:
        return None
    if found := _ISO.fullmatch(text):
        return _moment(int(found[1]), int(found[3]), _int(found[4]))
    if found := _CHINESE.fullmatch(text):
        return _moment(_int(found[1]), _int(found[2]), _int(found[3]))
    if found := _MONTH_FIRST.fullmatch(text):
        return _moment(int(found[3]), _MONTHS[found[1]], _int(found[2]))
    if found := _DAY_FIRST.fullmatch(text):
        return _moment(int(found[3]), _MONTHS[found[2]], int(found[1]))
    return None


@lru_cache(maxsize=4096)
def parse_date(text: str) -> date | None:
    """The day that `text` names, missing parts being the first (WideSearch, `norm_date`).

    A bare year is its first of January. A text that names no year is no date: to complete it from
    today's would let a score change overnight.
    """
    plain = unicodedata.normalize("NFKC", text).strip()
    moment = parse_plain_date(plain)
    if moment is None and _YEAR.fullmatch(plain):
        moment = _moment(int(plain), None, None)
    if moment is not None:
        return moment.first_day
    if len(plain) > _LONGEST or _BARE_NUMBER.fullmatch(plain):
        return None
    if not any(char.isdigit() for char in plain):
        return None
    return _parse_slowly(plain)


def _parse_slowly(text: str) -> date | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import dateparser

        found = dateparser.parse(
            text,
            languages=_LANGUAGES,
            settings={
                "PREFER_DAY_OF_MONTH": "first",
                "PREFER_MONTH_OF_YEAR": "first",
                "REQUIRE_PARTS": ["year"],
                "PARSERS": ["absolute-time"],
                "RELATIVE_BASE": datetime(2000, 1, 1),
            },
        )
    return found.date() if found else None


def _int(text: str | None) -> int | None:
    if text is None:
        return None
    return int(text) if text.isdecimal() else parse_han(text)


def _moment(year: int | None, month: int | None, day: int | None) -> Moment | None:
    if year is None:
        return None
    moment = Moment(year, month, day)
    try:
        _ = moment.first_day
    except ValueError:
        return None
    return moment
