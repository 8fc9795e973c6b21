"""What a judging model is shown: other people's texts, as data that cannot leave its place."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

from cuecard.core.phrases import content_words
from cuecard.core.text import storable

# Within JSON these are only texts; outside they could close the block that holds the material.
_ESCAPED = str.maketrans(
    {char: f"\\u{ord(char):04x}" for char in "<>`&\u0085\u2028\u2029\u202e\u202d\u2066\u2067\u2068"}
)

Line = Sequence[object]
"""One item as JSON: its index first."""


def quoted(value: object) -> str:
    """`value` as JSON on one line, without any character that could end a block or a fence."""
    text = json.dumps(value, ensure_ascii=False)
    return storable(text).translate(_ESCAPED)


def block(parts: Mapping[str, object]) -> str:
    """One JSON object with the parts in their order; lists have an element a line."""
    return "{" + ",\n".join(f"{quoted(name)}: {_part(part)}" for name, part in parts.items()) + "}"


def _part(part: object) -> str:
    if not isinstance(part, list):
        return quoted(part)
    lines = [quoted(line) for line in cast(list[object], part)]
    return "[\n" + ",\n".join(lines) + "\n]" if lines else "[]"


def likely(items: Sequence[str], wanted: Sequence[str], limit: int) -> list[int]:
    """Indices, in order, of at most `limit` items: all of them, or those that have most in common with
    any of `wanted`, each of which has its share.
    """
    if len(items) <= limit:
        return list(range(len(items)))
    from rapidfuzz import fuzz, process

    words = [" ".join(content_words(item)) for item in items]
    ranked = [
        [
            index
            for _text, _score, index in process.extract(
                " ".join(content_words(text)), words, scorer=fuzz.token_set_ratio, limit=limit
            )
        ]
        for text in wanted
    ]
    chosen: set[int] = set()
    for rank in range(limit):
        for order in ranked:
            if rank < len(order) and len(chosen) < limit:
                chosen.add(order[rank])
    return sorted(chosen)
