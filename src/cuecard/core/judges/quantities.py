"""Parses amounts and dates as people write them (English and Chinese), and compares them as values."""

from __future__ import annotations

import re
import unicodedata
import warnings
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import NamedTuple

from cuecard.core.text import HAN_NUMERALS, parse_han, parse_words, spell_numbers

_UNIT_WORDS = {
    "year": "年 年份 year years yr yrs ad ce",
    "month": "个月 month months",
    "week": "周 星期 个星期 week weeks",
    "day": "日 天 day days",
    "hour": "小时 个小时 个钟头 h hr hrs hour hours",
    "minute": "分钟 min mins minute minutes",
    "second": "秒 秒钟 s sec secs second seconds",
    "km": "公里 千米 km kilometre kilometres kilometer kilometers",
    "m": "米 m metre metres meter meters",
    "cm": "厘米 cm centimetre centimetres centimeter centimeters",
    "mm": "毫米 mm millimetre millimetres millimeter millimeters",
    "kg": "千克 公斤 kg kilogram kilograms",
    "g": "克 g gram grams",
    "t": "吨 t ton tons tonne tonnes",
    "l": "升 l litre litres liter liters",
    "ml": "毫升 ml millilitre millilitres milliliter milliliters",
    "°c": "°c 摄氏度 degreescelsius celsius",
    "°": "° 度 degree degrees",
    "bar": "bar bars 巴",
    "%": "% percent percentage 个百分点",
    "eur": "€ eur euro euros 欧元",
    "usd": "$ us$ usd dollar dollars usdollars 美元",
    "cny": "¥ 元 人民币 人民币元 cny rmb yuan",
    "gbp": "£ gbp pound pounds 英镑",
    "jpy": "jpy yen 日元",
    "person": "人 名 位 people person persons inhabitants",
    "": "个 座 部 种 件 次 条 岁",
    "cent": "cent cents ct eurocent eurocents 欧分 美分",
    "penny": "penny pence 便士",
    "fen": "分",
    "jiao": "角 毛",
    "chf": "chf franc francs 法郎",
    "krona": "sek nok dkk krona kronor krone kroner 克朗",
    "rupee": "inr rupee rupees 卢比",
    "rouble": "rub rouble roubles ruble rubles 卢布",
    "mile": "mi mile miles 英里",
    "ft": "ft foot feet 英尺",
    "inch": "inch inches 英寸",
    "nmi": "nmi 海里",
    "li": "里",
    "lb": "lb lbs 磅",
    "oz": "oz ounce ounces 盎司",
    "jin": "斤",
    "mg": "mg milligram milligrams 毫克",
    "m2": "m2 sqm squaremetre squaremetres squaremeter squaremeters 平方米",
    "km2": "km2 squarekilometre squarekilometres squarekilometer squarekilometers 平方公里 平方千米",
    "m3": "m3 cubicmetre cubicmetres cubicmeter cubicmeters 立方米",
    "ha": "ha hectare hectares 公顷",
    "°f": "°f 华氏度 fahrenheit degreesfahrenheit",
    "k": "kelvin kelvins",
    "psi": "psi",
    "pa": "pa pascal pascals",
    "‰": "‰ permille",
    "century": "century centuries 世纪",
    "decade": "decade decades 年代",
}
_UNITS = {word: unit for unit, words in _UNIT_WORDS.items() for word in words.split()}
# Units that convert exactly, with their size in the smallest unit of their kind.
_EXACT: dict[str, tuple[str, Decimal]] = {
    unit: (kind, Decimal(factor))
    for kind, units in {
        "length": {"mm": 1, "cm": 10, "m": 1000, "km": 1_000_000},
        "mass": {"mg": 1, "g": 1000, "kg": 1_000_000, "t": 1_000_000_000},
        "volume": {"ml": 1, "l": 1000, "m3": 1_000_000},
        "area": {"m2": 1, "ha": 10_000, "km2": 1_000_000},
        "time": {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800},
        "months": {"month": 1, "year": 12},
        "yuan": {"fen": 1, "jiao": 10, "cny": 100},
        "euro": {"cent": 1, "eur": 100},
        "share": {"‰": 1, "%": 10},
    }.items()
    for unit, factor in units.items()
}
_PER_ONE = {"%": Decimal("0.01"), "‰": Decimal("0.001")}
_SCALES = {
    "千": 1000,
    "万": 10_000,
    "百万": 1_000_000,
    "千万": 10_000_000,
    "亿": 100_000_000,
    "thousand": 1000,
    "million": 1_000_000,
    "billion": 1_000_000_000,
    "trillion": 1_000_000_000_000,
}
_ABOUT = re.compile(
    r"(?:大约|约|将近|接近|公元(?!前)|about|approximately|approx\.?|around|circa|ca?\.|nearly|~|≈)\s*"
)
_BEFORE_CHRIST = re.compile(r"公元前\s*(.+)|(.+?)\s*b\.?c\.?(?:e\.?)?")
_SCALE = "|".join(sorted(_SCALES, key=len, reverse=True))
_AMOUNT = re.compile(
    r"(?P<before>us\$|[$€£¥]|eur|usd|cny|rmb|gbp|jpy|人民币|百分之)?\s*"
    rf"(?P<number>[-+]?(?:\d[\d,]*(?:\.\d*)?|\.\d+)(?:e[-+]?\d{{1,3}})?|[{''.join(sorted(HAN_NUMERALS))}]+)\s*"
    rf"(?P<scale>{_SCALE})?\s*(?P<unit>\D*|\D*[a-z][23])"
)
_IN_TEXT = re.compile(
    r"(?:us\$|[$€£¥]|\b(?:eur|usd|cny|rmb|gbp|jpy)\b)?\s*"
    rf"(?:(?<![\w.])[-+])?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d{{1,3}}(?![0-9a-z]))?\s*(?:{_SCALE})?\s*"
    r"(?:[a-z$€£¥%‰°]+[23]?|[\u4e00-\u9fff]{1,4})?"
)
_AREA = re.compile("(?<=[A-Za-z])[²³]")
_WORD = re.compile("[a-z]+")
# Words that may follow a number and are not its unit.
_SMALL_WORDS = (
    "a an the and or but of in on at to for from by with as per than is are was were be been because "
    "since so if when that which who after before until while then therefore thus hence not no more less "
    "left altogether in all only exactly total each every must should will would can could may might has "
    "have had he she it they this these"
)
_NO_UNITS = frozenset(_SMALL_WORDS.split())


class Quantity(NamedTuple):
    """An amount. `unit`: its canonical name (`eur`, `m`), empty for a bare number; where `known` is false, the unit is
    a word that is not in our list.
    """

    value: Decimal
    unit: str
    known: bool = True


@lru_cache(maxsize=8192)
def parse_quantity(text: str) -> Quantity | None:
    """The amount that the whole text gives, such as `约12米`, `€36`, `1.2 million`, `thirty-six euros`; else None.

    Years before Christ are negative. After a number in Chinese numerals or English words only known units are
    accepted: `三国` and `four seasons` are names.

    >>> parse_quantity("thirty-six euros")
    Quantity(value=Decimal('36'), unit='eur', known=True)
    """
    if len(text) > 60:
        return None
    plain = spelled(text).strip(" .。")
    if not plain:
        return None
    plain = _ABOUT.sub("", plain, count=1) if _ABOUT.match(plain) else plain
    if before := _BEFORE_CHRIST.fullmatch(plain):
        inner = parse_quantity(before[1] or before[2])
        return Quantity(-inner.value, "year") if inner and inner.unit in ("", "year") else None
    found = _AMOUNT.fullmatch(plain)
    return _amount(found) if found else _from_words(plain)


def amounts_in(plain: str) -> list[tuple[Quantity, int, int]]:
    """The amounts in a text that `spelled` gave, each with its start and end (exclusive) in it."""
    found: list[tuple[Quantity, int, int]] = []
    for match in _IN_TEXT.finditer(plain):
        written = match.group()
        start = match.start() + len(written) - len(written.lstrip())
        if amount := _longest_amount(written.strip()):
            found.append((amount[0], start, start + amount[1]))
    return found


def spelled(text: str) -> str:
    """The text as `amounts_in` needs it: numbers in one spelling, casefolded."""
    text = _AREA.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    return spell_numbers(text).casefold()


def _longest_amount(written: str) -> tuple[Quantity, int] | None:
    """The longest beginning of the text that is an amount, and its length. Latin words are kept or dropped whole."""
    whole = parse_quantity(written)
    if whole and not whole.known and whole.unit not in _NO_UNITS and _WORD.fullmatch(whole.unit):
        return whole, len(written)
    while written:
        candidate = parse_quantity(written)
        if candidate and candidate.known:
            return candidate, len(written)
        shorter = re.sub(r"[a-z]+[23]?$", "", written)
        written = (shorter if shorter != written else written[:-1]).rstrip()
    return None


def same_quantity(gold: Quantity, predicted: Quantity) -> bool | None:
    """Whether two amounts are equal; None if an unknown unit leaves that to a comparison of the words.

    Units that convert exactly are converted (`2 km` is `2000 m`). An amount without a unit equals the same number with
    one (`36`, `36 euros`), except for per cent: 75 % is 0.75 and not 75. A bare gold number matches `44 chromosomes`.
    """
    if gold.known and predicted.known and gold.unit != predicted.unit:
        if gold.unit in _PER_ONE or predicted.unit in _PER_ONE:
            return _of_one(gold) == _of_one(predicted) if _of_one(gold) is not None else False
        if gold.unit and predicted.unit:
            (kind, factor), (other, its) = (
                _EXACT.get(q.unit, (q.unit, Decimal(1))) for q in (gold, predicted)
            )
            return kind == other and gold.value * factor == predicted.value * its
    if gold.value != predicted.value:
        return False
    if gold.known and (predicted.known or not gold.unit):
        return True
    return None


def kind_of(unit: str) -> str:
    """The kind of unit, such as length; units of one kind convert exactly into each other."""
    return _EXACT.get(unit, (unit,))[0]


def values_of(quantity: Quantity) -> tuple[Decimal, ...]:
    """The value in its own unit, in the smallest unit of its kind, and with per cent as a share. Equal amounts have one
    of these in common.
    """
    _kind, factor = _EXACT.get(quantity.unit, ("", Decimal(1)))
    share = quantity.value * _PER_ONE.get(quantity.unit, Decimal(1))
    return quantity.value, quantity.value * factor, share


def _of_one(quantity: Quantity) -> Decimal | None:
    """A bare number, or per cent and per mille as a share (75 % is 0.75); None for other units."""
    return (
        quantity.value * _PER_ONE.get(quantity.unit, 1)
        if quantity.unit in ("", *_PER_ONE)
        else None
    )


def _amount(found: re.Match[str]) -> Quantity | None:
    han = parse_han(found["number"])
    try:
        value = Decimal(han) if han is not None else Decimal(found["number"].replace(",", ""))
        value *= _SCALES.get(found["scale"] or "", 1)
    except InvalidOperation:
        return None
    before = found["before"] or ""
    words = found["unit"].strip()
    unit = re.sub(r"[\s.]+", "", words)
    if before == "百分之":
        return Quantity(value, "%") if not unit else None
    if before:
        spoken = _UNITS.get(unit) if unit else _UNITS[before]
        return Quantity(value, _UNITS[before]) if spoken == _UNITS[before] else None
    if not unit or unit in _UNITS:
        return Quantity(value, _UNITS.get(unit, ""))
    if han is not None or len(words.split()) > 2 or not unit.isalpha():
        return None
    return Quantity(value, unit, known=False)


def _from_words(plain: str) -> Quantity | None:
    words = plain.split()
    for end in range(len(words), 0, -1):
        value = parse_words(" ".join(words[:end]))
        if value is None:
            continue
        unit = "".join(words[end:])
        if not unit or unit in _UNITS:
            return Quantity(Decimal(value), _UNITS.get(unit, ""))
        return None
    return None


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
# With all of its two hundred locales dateparser takes 2 s to load and 10 ms per cell.
_LANGUAGES = ["en", "zh", "de", "es", "fr", "it", "ja", "ko", "nl", "pt", "ru"]


class Moment(NamedTuple):
    """A date that may be known only to the month or the year."""

    year: int
    month: int | None = None
    day: int | None = None

    @property
    def first_day(self) -> date:
        return date(self.year, self.month or 1, self.day or 1)

    def covers(self, other: Moment) -> bool:
        """Whether `other` is the same date, or a more precise one within it: May 1948 covers 7 May 1948."""
        return all(mine is None or mine == theirs for mine, theirs in zip(self, other, strict=True))


def parse_plain_date(text: str) -> Moment | None:
    """A date in a common English or Chinese spelling (`2020-05-01`, `1 May 2020`, `2020年5月`), else None. A bare number
    is no date.
    """
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
    """The day that `text` names, in several languages, or None. A missing month or day counts as the first (WideSearch,
    `norm_date`), so a bare year is its 1 January.

    A text without a year is no date: completing it with the current year would let scores change over time.
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
