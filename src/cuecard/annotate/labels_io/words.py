"""How files write a decision, and the way back."""

from __future__ import annotations

import unicodedata

from cuecard.core.parts import CheckpointStatus
from cuecard.core.verdicts import ItemKind
from cuecard.store.label_records import LabelValue

Value = LabelValue | CheckpointStatus

_WORDS: dict[LabelValue, tuple[str, ...]] = {
    LabelValue.YES: ("yes", "y", "true", "1", "covered", "valid", "是"),
    LabelValue.NO: ("no", "n", "false", "0", "not covered", "not valid", "否", "不是"),
    LabelValue.UNSURE: ("unsure", "u", "?", "cannot tell", "不确定", "无法判断"),
}
_VALUES = {word: value for value, words in _WORDS.items() for word in words}
_STATUSES = {status.value: status for status in CheckpointStatus}
CHINESE = {LabelValue.YES: "是", LabelValue.NO: "否", LabelValue.UNSURE: "不确定"}
# What spreadsheets take for a formula and would run.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def value_of(word: str, kind: ItemKind) -> Value | None:
    """The decision that a file's word means, None for a blank. Raises `ValueError` for any other."""
    plain = " ".join(unicodedata.normalize("NFKC", word).casefold().split())
    if not plain:
        return None
    if plain in _VALUES:
        return _VALUES[plain]
    if kind is ItemKind.STATUS and plain in _STATUSES:
        return _STATUSES[plain]
    raise ValueError(word)


def guarded(text: str) -> str:
    """`text` as a cell that no spreadsheet takes for a formula: with an apostrophe before it."""
    return f"'{text}" if text.lstrip("'").startswith(_FORMULA) else text


def unguarded(text: str) -> str:
    """The inverse of `guarded`."""
    guard = text.startswith("'") and text.lstrip("'").startswith(_FORMULA)
    return text[1:] if guard else text


def comparable(text: str) -> str:
    """What is left of a text that went through spreadsheets: one form of accents, single blanks."""
    return " ".join(unicodedata.normalize("NFC", unguarded(text)).split())
