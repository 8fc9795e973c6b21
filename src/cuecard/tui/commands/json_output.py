"""JSON on standard output and in files, piece by piece, so that long lists are never whole in memory."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, islice, zip_longest
from typing import cast

# What JSON allows but a terminal may act on: C1 controls, bidirectional marks.
_ACTING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def as_json(data: object) -> None:
    """Print one JSON document on stdout, without NaN."""
    ascii_only = "utf" not in sys.stdout.encoding.lower()
    pieces = json_pieces(data, ascii_only=ascii_only)
    while text := "".join(islice(pieces, _AT_ONCE)):
        sys.stdout.write(_ACTING.sub(lambda found: f"\\u{ord(found[0]):04x}", text))
    sys.stdout.write("\n")


def json_pieces(data: object, margin: str = "\n", *, ascii_only: bool = False) -> Iterator[str]:
    """As `json.dumps` with two spaces of indent, piece by piece and several times as fast: what holds no other
    lists is left to the encoder in C, which knows no indent. An iterator is a list that is never whole in memory.
    """
    inner = f"{margin}  "
    flat = _encoder(inner, ascii_only)
    pairs = cast("dict[object, object]", data) if isinstance(data, dict) else None
    if pairs is None and not isinstance(data, list | tuple | Iterator):
        yield flat.encode(data)
        return
    ends, many = ("{}", True) if pairs is not None else ("[]", False)
    items = pairs.items() if pairs is not None else enumerate(cast("Iterable[object]", data))
    run: dict[object, object] = {}
    begun = False

    def told() -> Iterator[str]:
        nonlocal begun
        if run:
            text = flat.encode(run if many else list(run.values()))
            yield f"{f',{inner}' if begun else f'{ends[0]}{inner}'}{text[1:-1]}"
            begun = True
            run.clear()

    for key, value in items:
        if type(value) in _SIMPLE or not isinstance(value, dict | list | tuple | Iterator):
            run[key] = value
            if len(run) >= _RUN:
                yield from told()
            continue
        yield from told()
        name = f"{flat.encode({key: 0})[1:-4]}: " if many else ""
        yield f"{f',{inner}' if begun else f'{ends[0]}{inner}'}{name}"
        begun = True
        text = ""
        if isinstance(value, dict):
            text = _record(cast("_Record", value), inner, ascii_only)
        if text:
            yield text
        else:
            yield from json_pieces(cast("object", value), inner, ascii_only=ascii_only)
    yield from told()
    yield f"{margin}{ends[1]}" if begun else ends


def _record(record: _Record, margin: str, ascii_only: bool) -> str:
    """An object of numbers, texts and objects of these, as one of many of its shape: its values are encoded together
    and put between what stands between them. "" if it is none.
    """
    keys, whole = [*record], [*record.values()]
    names: list[object] = [*keys]
    shape: list[str | tuple[str, ...]] = []
    values: list[object] = []
    start = 0
    for at in [at for at, value in enumerate(whole) if type(value) not in _SIMPLE]:
        inner = cast("_Record", whole[at])
        if type(inner) is not dict or not _SIMPLE.issuperset(map(type, inner.values())):
            return ""
        shape += keys[start:at]
        shape.append((keys[at], *inner))
        values += whole[start:at]
        values += inner.values()
        names += inner
        start = at + 1
    shape += keys[start:]
    values += whole[start:]
    if not values or not _TEXT.issuperset(map(type, names)):
        return ""
    # No encoded text holds a line break.
    told = _encoder("\n", ascii_only).encode(values)[1:-1].split(",\n")
    between = _between(tuple(shape), margin, ascii_only)
    return "".join(chain.from_iterable(zip_longest(between, told, fillvalue="")))


@lru_cache(maxsize=256)
def _between(
    shape: tuple[str | tuple[str, ...], ...], margin: str, ascii_only: bool
) -> tuple[str, ...]:
    """What stands before each value of a record of this shape, and after the last."""
    told = _encoder("\n", ascii_only).encode
    inner = f"{margin}  "
    found: list[str] = []
    text = ""
    for at, own in enumerate(shape):
        key, *names = (own,) if isinstance(own, str) else own
        text += f"{',' if at else '{'}{inner}{told(key)}: "
        if isinstance(own, str):
            found.append(text)
            text = ""
            continue
        for place, name in enumerate(names):
            found.append(f"{text}{',' if place else '{'}{inner}  {told(name)}: ")
            text = ""
        text += f"{inner}}}" if names else "{}"
    return *found, f"{text}{margin}}}"


_Record = dict[str, object]
_SIMPLE: frozenset[type] = frozenset((str, int, float, bool, type(None)))
_TEXT: frozenset[type] = frozenset((str,))
_AT_ONCE = 64
_RUN = 1000


@lru_cache(maxsize=64)
def _encoder(inner: str, ascii_only: bool) -> json.JSONEncoder:
    return json.JSONEncoder(
        ensure_ascii=ascii_only, allow_nan=False, separators=(f",{inner}", ": ")
    )
