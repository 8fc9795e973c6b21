"""Amounts as people write them: a number and its unit, compared as values."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import NamedTuple

from cuecard.core.scoring.numerals import HAN_NUMERALS, parse_han, parse_words

_UNIT_WORDS = {
    "year": "年 年份 year years yr yrs ad ce",
    "month": "个月 month months",
    "week": "周 星期 week weeks",
    "day": "日 天 day days",
    "hour": "小时 h hr hrs hour hours",
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
}
_UNITS = {word: unit for unit, words in _UNIT_WORDS.items() for word in words.split()}
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
    rf"(?P<number>[-+]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)|[{''.join(sorted(HAN_NUMERALS))}]+)\s*"
    rf"(?P<scale>{_SCALE})?\s*(?P<unit>[^\d]*)"
)
_IN_TEXT = re.compile(
    r"(?:us\$|[$€£¥]|\b(?:eur|usd|cny|rmb|gbp|jpy)\b)?\s*"
    rf"[-+]?\d[\d,]*(?:\.\d+)?\s*(?:{_SCALE})?\s*"
    r"(?:[a-z$€£¥%°]+|[\u4e00-\u9fff]{1,4})?"
)


class Quantity(NamedTuple):
    """`unit`: a canonical name, empty for a bare number. Not `known`: some other words follow."""

    value: Decimal
    unit: str
    known: bool = True


@lru_cache(maxsize=8192)
def parse_quantity(text: str) -> Quantity | None:
    """An amount such as `约12米`, `€36`, `1.2 million`, `thirty-six euros`; else None.

    Years before Christ are negative. What follows a number in Chinese numerals or English words must
    be a unit that is known here: `三国` and `four seasons` are names.
    """
    plain = unicodedata.normalize("NFKC", text).replace("−", "-").casefold().strip(" .。")
    if not plain or len(plain) > 60:
        return None
    plain = _ABOUT.sub("", plain, count=1) if _ABOUT.match(plain) else plain
    if before := _BEFORE_CHRIST.fullmatch(plain):
        inner = parse_quantity(before[1] or before[2])
        return Quantity(-inner.value, "year") if inner and inner.unit in ("", "year") else None
    found = _AMOUNT.fullmatch(plain)
    return _amount(found) if found else _from_words(plain)


def quantities_in(text: str) -> list[Quantity]:
    """The amounts that a longer text names, in order, with the unit right behind or before them."""
    plain = unicodedata.normalize("NFKC", text).replace("−", "-").casefold()
    found: list[Quantity] = []
    for match in _IN_TEXT.finditer(plain):
        quantity = _longest_amount(match.group().strip())
        if quantity:
            found.append(quantity)
    return found


def _longest_amount(written: str) -> Quantity | None:
    """The longest beginning that is an amount: Chinese runs on, other words are cut as a whole."""
    while written:
        candidate = parse_quantity(written)
        if candidate and candidate.known:
            return candidate
        shorter = re.sub(r"[a-z]+$", "", written)
        written = (shorter if shorter != written else written[:-1]).rstrip()
    return None


def same_quantity(gold: Quantity, predicted: Quantity) -> bool | None:
    """Whether two amounts are one; None if their words must decide.

    A missing unit is taken for granted, and a bare gold number is found in `44 chromosomes`.
    """
    if gold.value != predicted.value:
        return False
    if gold.known and predicted.known:
        return gold.unit == predicted.unit or not gold.unit or not predicted.unit
    if gold.known and not gold.unit:
        return True
    return None


def _amount(found: re.Match[str]) -> Quantity | None:
    han = parse_han(found["number"])
    try:
        value = Decimal(han) if han is not None else Decimal(found["number"].replace(",", ""))
    except InvalidOperation:
        return None
    value *= _SCALES.get(found["scale"] or "", 1)
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
