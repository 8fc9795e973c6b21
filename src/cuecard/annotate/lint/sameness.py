"""When two names are one name: in everything but case, width, accents, blanks and punctuation."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from cuecard.annotate.authoring.likeness import alike, squeezed
from cuecard.core.text import is_cjk

# What tells C from C++, 1.5 from 15 and 5 % from 5.
_TELLING = re.compile(r"[%‰+#°$€£¥&@]|(?<!\w)[-−](?=\d)|(?<=\d)[.:/,](?=\d)")
_WORDS = re.compile(r"[^\W_]+")
# World War I and II, type A and B: what counts like a number is no slip.
_COUNTER = re.compile(r"\b(?:[ivxlcdm]+|[a-z])\b")
_SHORTEST, _LONGEST = 5, 60


@lru_cache(maxsize=65536)
def same_name(name: str) -> str:
    """Equal for names that differ only in case, width, accents, blanks or punctuation; empty for
    what has neither letters nor digits.
    """
    tight = squeezed(name)
    if not tight:
        return ""
    signs = _TELLING.findall(unicodedata.normalize("NFKC", name))
    return f"{tight}\0{''.join(signs)}" if signs else tight


def pairs_alike(names: Iterable[str]) -> Iterator[tuple[str, str, bool]]:
    """Pairs of different names that are one name, or (`False`) that look like a slip of the fingers
    or a word cut short: the earlier, the later. Each later name occurs once.
    """
    first: dict[str, str] = {}
    near: dict[str, str] = {}
    for name in names:
        key = same_name(name)
        if not key:
            continue
        if key in first:
            yield first[key], name, True
            continue
        first[key] = name
        marks = _marks(name)
        for mark in marks:
            # Of several names with one mark the first will do: they are alike among themselves.
            other = near.get(mark)
            if other is not None and _counters(other) == _counters(name) and alike(other, name):
                yield other, name, False
                break
        for mark in marks:
            near.setdefault(mark, name)


def _counters(name: str) -> list[str]:
    return _COUNTER.findall(name.casefold())


@lru_cache(maxsize=65536)
def _marks(name: str) -> tuple[str, ...]:
    """Two names with a slip between them share a mark: either without one letter, or the beginnings
    of the words. Numbers are no slips, and Chinese names differ by a character and mean another.
    """
    tight = squeezed(name)
    if is_cjk(name) or not any(char.isalpha() for char in tight):
        return ()
    words = _WORDS.findall(name.casefold())
    marks: dict[str, None] = {}
    if 1 < len(words) <= _LONGEST:
        starts = (word if any(c.isdigit() for c in word) else word[:3] for word in words)
        marks.setdefault("\1".join(starts))
    if _SHORTEST <= len(tight) <= _LONGEST:
        marks.setdefault(tight)
        for at, char in enumerate(tight):
            if not char.isdigit():
                marks.setdefault(tight[:at] + tight[at + 1 :])
    return tuple(marks)
