"""What no file, database or hash can hold is refused when a task is made, not when it is saved."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, cast

from cuecard.core.i18n import _

_MAX_DEPTH = 60


def check_storable(data: dict[str, Any]) -> None:
    """Raises `ValueError` (`place: reason`) for the first value that cannot be stored exactly: half
    of a surrogate pair, a NUL character, a number that is not finite, nesting without end.
    """
    for place, reason in _unstorable(data, "", 0):
        raise ValueError(f"{place}: {reason}")


def _unstorable(value: object, place: str, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        if reason := _bad_text(value):
            yield place, reason
    elif isinstance(value, float):
        if not math.isfinite(value):
            yield place, _("must be a finite number")
    elif depth > _MAX_DEPTH and isinstance(value, dict | list | tuple):
        yield place, _("is nested too deeply")
    elif isinstance(value, dict):
        for key, inner in cast(dict[str, Any], value).items():
            if reason := _bad_text(key):
                yield place, reason
            yield from _unstorable(inner, f"{place}.{key}" if place else key, depth + 1)
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(cast(Sequence[Any], value)):
            yield from _unstorable(inner, f"{place}[{index}]", depth + 1)


def _bad_text(value: str) -> str:
    if value.isascii():
        return _("holds a NUL character; remove it") if "\0" in value else ""
    try:
        value.encode()
    except UnicodeEncodeError:
        return _("holds half of a character (a lone surrogate); type it again")
    return _("holds a NUL character; remove it") if "\0" in value else ""
