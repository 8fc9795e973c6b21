"""JSON on standard output and in files, piece by piece, so that long lists are never whole in memory."""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import cast

from pydantic_core import to_json

# What JSON allows but a terminal may act on: C1 controls, bidirectional marks.
_ACTING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_FOREIGN = re.compile("[^\0-\x7e]+")
_AT_ONCE = 32


def as_json(data: object) -> None:
    """Print one JSON document on stdout. NaN, which JSON lacks, becomes null."""
    ascii_only = "utf" not in sys.stdout.encoding.lower()
    pieces = json_pieces(data, ascii_only=ascii_only)
    while text := "".join(islice(pieces, _AT_ONCE)):
        sys.stdout.write(_harmless(text))
    sys.stdout.write("\n")


def json_pieces(data: object, margin: str = "\n", *, ascii_only: bool = False) -> Iterator[str]:
    """As `json.dumps` with two spaces of indent, a few items of the outermost lists at once. An iterator is a list that
    is never whole in memory.
    """
    inner = f"{margin}  "
    if isinstance(data, dict):
        between = f"{{{inner}"
        for key, value in cast("dict[object, object]", data).items():
            # As an object of this key alone, since not all keys are texts.
            yield f"{between}{_text({key: 0}, '', ascii_only)[3:-2]}"
            yield from json_pieces(value, inner, ascii_only=ascii_only)
            between = f",{inner}"
        yield "{}" if between[0] == "{" else f"{margin}}}"
    elif isinstance(data, list | tuple | Iterator):
        between, items = f"[{inner}", iter(cast("Iterable[object]", data))
        while some := list(islice(items, _AT_ONCE)):
            yield f"{between}{_items(some, margin, ascii_only)}"
            between = f",{inner}"
        yield "[]" if between[0] == "[" else f"{margin}]"
    else:
        yield _text(data, margin, ascii_only)


def _harmless(text: str) -> str:
    if text.isascii() and "\x7f" not in text:
        return text
    return _ACTING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _items(items: list[object], margin: str, ascii_only: bool) -> str:
    """Without the brackets around them. Within as many lists as they are deep they come with the margin of their own, which
    takes less time than to move each.
    """
    deep = len(margin) // 2
    nested: object = items
    for _outer in range(deep):
        nested = [nested]
    told = _text(nested, "\n", ascii_only)
    return told[(deep + 1) * (deep + 4) : -(deep + 1) * (deep + 2)]


def _text(value: object, margin: str, ascii_only: bool) -> str:
    # No text in JSON holds a line break.
    told = to_json(value, indent=2, fallback=list, inf_nan_mode="null").decode()
    told = told.replace("\n", margin)
    return _FOREIGN.sub(lambda found: json.dumps(found[0])[1:-1], told) if ascii_only else told
