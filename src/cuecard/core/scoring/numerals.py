"""Whole numbers written out: Chinese numerals and English number words."""

from __future__ import annotations

import re

_HAN_DIGITS = {char: value for value, char in enumerate("〇一二三四五六七八九")} | {
    "零": 0,
    "两": 2,
}
_HAN_TENS = {"十": 10, "百": 100, "千": 1000}
_HUNDRED_MILLION = 100_000_000
HAN_NUMERALS = frozenset((*_HAN_DIGITS, *_HAN_TENS, "万", "亿"))

_UNITS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORDS = {word: value for value, word in enumerate(_UNITS)} | {
    word: 20 + 10 * index for index, word in enumerate(_TENS)
}
_SCALES = {"thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000}
WORD_NUMERALS = frozenset((*_WORDS, "hundred", *_SCALES))


def parse_han(text: str) -> int | None:
    """A number in Chinese numerals, read by place (`一八八四`) or by unit (`一百二十`); else None."""
    if not text or any(char not in HAN_NUMERALS for char in text):
        return None
    if all(char in _HAN_DIGITS for char in text):
        return int("".join(str(_HAN_DIGITS[char]) for char in text))
    total = section = digit = 0
    for char in text:
        if char in _HAN_DIGITS:
            digit = _HAN_DIGITS[char]
        elif char in _HAN_TENS:
            # A bare ten at the front means one ten.
            section += (digit or 1) * _HAN_TENS[char]
            digit = 0
        else:
            # 亿 multiplies all before it (三万亿), 万 only its own section (三亿五千万).
            below = section + digit
            total = (total + below) * _HUNDRED_MILLION if char == "亿" else total + below * 10_000
            section = digit = 0
    return total + section + digit


def parse_words(text: str) -> int | None:
    """A number in English words (`thirty-six`, `two hundred and five`); else None."""
    words = [word for word in re.split(r"[\s-]+", text.strip().lower()) if word]
    if not words or words[0] == "and" or words[-1] == "and":
        return None
    total = section = 0
    for word in words:
        if word in _WORDS:
            section += _WORDS[word]
        elif word == "hundred":
            section = (section or 1) * 100
        elif word in _SCALES:
            total += (section or 1) * _SCALES[word]
            section = 0
        elif word != "and":
            return None
    return total + section
