"""JSON as models write it: found between their other words, and mended where it is broken."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from math import isfinite
from typing import SupportsIndex, cast

from pydantic import JsonValue

from cuecard.core.text import storable

_MAX_MENDED = 100_000
_STEPS, _STEPS_A_CHARACTER = 50_000, 6
_MAX_OPENERS = 200
_MAX_FENCES = 3
_MAX_DEPTH = 60
_THOUGHT = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_STRAIGHT = {ord("“"): '"', ord("”"): '"'}
_OPENER = re.compile(r"[{\[]")
_DECODER = json.JSONDecoder()


def found_json(text: str) -> Iterator[JsonValue]:
    """The JSON objects and lists in a model's words, the most likely answer first. Reasoning is left
    out, what is broken is mended. Every value is fit to be stored.
    """
    words = without_thoughts(text)
    for region in (*reversed(_fences(words)[-_MAX_FENCES:]), words):
        for value in _values(region):
            cleaned = _cleaned(value)
            if cleaned is not None:
                yield cleaned


def _values(region: str) -> Iterator[object]:
    first = _OPENER.search(region)
    if first is None:
        return
    whole = _embedded(region)
    size = len(region.rstrip()) - first.start()
    covered = whole[0][0] / size if whole else 0.0
    # Whole values that are but a part may be pieces of a larger one that is broken.
    if covered < 0.5:
        yield mended_json(region)
    for _length, value in whole:
        yield value
    if 0.5 <= covered < 1:
        yield mended_json(region)


def without_thoughts(text: str) -> str:
    """`text` without its `<think>` blocks; one whose beginning a server swallowed counts too. A block
    that never ends stays.
    """
    kept: list[str] = []
    at, begun = 0, None
    for mark in _THOUGHT.finditer(text):
        if not mark[1]:
            begun = mark.start() if begun is None else begun
            continue
        if begun is None:
            kept.clear()
        else:
            kept.append(text[at:begun])
        at, begun = mark.end(), None
    return "".join((*kept, text[at:])).strip()


def mended_json(text: str) -> object:
    """What stands in broken JSON from its first bracket on; None where that is hopeless."""
    first = _OPENER.search(text)
    if first is None or len(text) - first.start() > _MAX_MENDED:
        return None
    from json_repair import repair_json

    broken = text[first.start() :]
    if '"' not in broken:
        broken = broken.translate(_STRAIGHT)
    try:
        value: object = repair_json(_Metered.of(broken), return_objects=True, skip_json_loads=True)
    except (ValueError, RecursionError, _UsedUp):
        return None
    return value if isinstance(value, (dict, list)) else None


class _UsedUp(Exception):
    """Mending looked at the text more often than is reasonable."""


class _Metered(str):
    """A text that may be looked at a limited number of times: on some messes, mending takes time that
    grows with the square of the length, and nothing else would stop it.
    """

    _meter: list[int]

    @classmethod
    def of(cls, text: str, meter: list[int] | None = None) -> _Metered:
        metered = cls(text)
        metered._meter = meter or [_STEPS + _STEPS_A_CHARACTER * len(text)]
        return metered

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        found = super().__getitem__(key)
        self._meter[0] -= 1 + len(found) // 64
        if self._meter[0] < 0:
            raise _UsedUp
        return self.of(found, self._meter) if isinstance(key, slice) else found

    def __add__(self, other: str) -> str:
        return self.of(super().__add__(other), self._meter)


def _fences(text: str) -> list[str]:
    """What stands between ``` marks. The last may have no end: the model ran out of tokens."""
    parts = text.split("```")
    return [part.removeprefix("json").removeprefix("JSON").strip() for part in parts[1::2]]


def _embedded(text: str) -> list[tuple[int, object]]:
    """Whole values anywhere in `text` with their lengths, the longest first."""
    spans: list[tuple[int, object]] = []
    at = 0
    for _try in range(_MAX_OPENERS):
        opener = _OPENER.search(text, at)
        if opener is None:
            break
        try:
            value, end = cast(tuple[object, int], _DECODER.raw_decode(text, opener.start()))
        except (ValueError, RecursionError):
            at = opener.start() + 1
            continue
        spans.append((end - opener.start(), value))
        at = end
    return sorted(spans, key=lambda span: -span[0])


def _cleaned(value: object) -> JsonValue:
    if not isinstance(value, (dict, list)):
        return None
    try:
        return cast(JsonValue, clean_json(cast(object, value)))
    except RecursionError:
        return None


def clean_json(value: object, depth: int = 0) -> object:
    """`value` with nothing in it that no file can hold. Raises `RecursionError` when it is nested too
    deeply.
    """
    if depth > _MAX_DEPTH:
        raise RecursionError
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        items = cast(dict[object, object], value).items()
        return {storable(str(key)): clean_json(item, depth + 1) for key, item in items}
    if isinstance(value, list):
        return [clean_json(item, depth + 1) for item in cast(list[object], value)]
    return str(value) if isinstance(value, float) and not isfinite(value) else value
