"""The answers that an examiner is asked for. Lenient in what cannot be misread; the reason stands before the
verdict, so that the verdict follows from it.
"""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, OnErrorOmit

from cuecard.core.text import storable

_YES = frozenset(("yes", "y", "true", "1", "是", "对"))
_NO = frozenset(("no", "n", "false", "0", "否", "不", "none", "null", ""))
_NOTHING = frozenset(("none", "no", "n/a", "no error", "nothing", "无", "没有", "没有错误", "空"))
_MOST = 50
_LONGEST = 2000


def _text(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        return value
    text = storable(value).strip()[:_LONGEST]
    # Weak models hand the form back as it was shown to them, or signs alone.
    return text if any(char.isalnum() for char in text) else ""


def _texts(value: object) -> object:
    if value is None or isinstance(value, str):
        value = [value or ""]
    if not isinstance(value, list):
        return value
    texts = (_text(item) for item in cast(list[object], value))
    return list(dict.fromkeys(text for text in texts if isinstance(text, str) and text))[:_MOST]


def _numbers(value: object) -> object:
    if value is None:
        return []
    items = cast(list[object], value) if isinstance(value, list) else [value]
    numbers = (int(i) if isinstance(i, str) and i.strip().isdecimal() else i for i in items)
    right = (n for n in numbers if isinstance(n, int) and not isinstance(n, bool) and n > 0)
    return list(dict.fromkeys(right))[:_MOST]


def _number(value: object) -> object:
    return next(iter(cast(list[object], _numbers(value))), None)


def _yes(value: object) -> object:
    word = str(value).strip().casefold()
    return True if word in _YES else False if word in _NO else value


def _all_required(schema: dict[str, Any]) -> None:
    """Servers that hold a model to the schema must not let it leave the reason out."""
    schema["required"] = list(schema["properties"])


def _error(value: object) -> object:
    text = _text(value)
    nothing = isinstance(text, str) and text.casefold().rstrip(".。!！") in _NOTHING
    return "" if nothing or text is False else text


def _at_most(count: int) -> Any:
    """Told to the server, so that a weak model that it holds to the schema comes to an end; not checked."""
    return Field(json_schema_extra={"maxItems": count})


Said = Annotated[str, BeforeValidator(_text)]
MaybeError = Annotated[str, BeforeValidator(_error)]
Texts = Annotated[list[str], BeforeValidator(_texts)]
Numbers = Annotated[list[int], BeforeValidator(_numbers)]
Number = Annotated[int, BeforeValidator(_number)]
Yes = Annotated[bool, BeforeValidator(_yes)]


class _Answer(BaseModel):
    model_config = ConfigDict(json_schema_extra=_all_required)


class UnseenStep(_Answer):
    """Before anything is told: what the question could mean, and what in it is wrong ("" for nothing)."""

    readings: Annotated[Texts, _at_most(8)]
    error: MaybeError = ""


class Matched(_Answer):
    """A candidate, and the reading that means it, both by their numbers from 1."""

    candidate: Number
    reading: Number


class KnownStep(_Answer):
    """With the candidates known. `matched`, `error_found`: what of it was said before."""

    reason: Said = ""
    matched: Annotated[list[OnErrorOmit[Matched]], _at_most(8)] = []
    enumerable: Yes
    error_recognisable: Yes = False
    error_found: Yes = False


class UnseenNeed(_Answer):
    """Before anything is told: what the user will turn out to want."""

    guesses: Annotated[Texts, _at_most(12)]


class Foreseen(_Answer):
    """A later request, and the guess that holds it, both by their numbers from 1."""

    request: Number
    guess: Number


class KnownNeed(_Answer):
    """Which of the later requests were guessed, and by what."""

    reason: Said = ""
    foreseen: Annotated[list[OnErrorOmit[Foreseen]], _at_most(30)]


class Contradiction(_Answer):
    facts: Numbers
    reason: Said


class Doubt(_Answer):
    fact: Number
    reason: Said


class ExaminedLaws(_Answer):
    """What is wrong with a world: facts that cannot hold together, and facts that cannot be."""

    contradictions: Annotated[list[OnErrorOmit[Contradiction]], _at_most(10)]
    implausible: Annotated[list[OnErrorOmit[Doubt]], _at_most(10)]
