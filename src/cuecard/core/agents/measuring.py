"""How many tokens a text takes, roughly, and how long texts are cut to fit."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cuecard.core.agents.notes import Note, say
from cuecard.core.tasks import TaskLanguage

_CHARS_PER_TOKEN = 4
_WIDE_CHARS_PER_TOKEN = 1.5
_WIDE = re.compile("[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]+")


def estimate(text: str) -> int:
    """Tokens of `text`: four characters each, one and a half of Chinese, Japanese or Korean."""
    if text.isascii():
        return -(-len(text) // _CHARS_PER_TOKEN)
    wide = sum(map(len, _WIDE.findall(text)))
    return round(wide / _WIDE_CHARS_PER_TOKEN + (len(text) - wide) / _CHARS_PER_TOKEN + 0.5)


def shortened(texts: Sequence[str], budget: int, language: TaskLanguage) -> list[str]:
    """The texts, the longest of them cut to one length so that all take about `budget` tokens; each
    cut is told at its place.
    """
    sizes = [estimate(text) for text in texts]
    if sum(sizes) <= budget:
        return list(texts)
    level = _level(sizes, max(budget, 0))
    return [
        text if size <= level else _cut(text, len(text) * level // size, language)
        for text, size in zip(texts, sizes, strict=True)
    ]


def latest(texts: Sequence[str], budget: int) -> tuple[str, ...]:
    """The last of the texts, as many as take at most `budget` tokens, in their order; none twice."""
    kept: list[str] = []
    for text in reversed(texts):
        if text in kept:
            continue
        budget -= estimate(text)
        if budget < 0:
            break
        kept.append(text)
    return tuple(reversed(kept))


def _level(sizes: Sequence[int], budget: int) -> int:
    """The size to which the larger ones are brought down."""
    left = budget
    for i, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - i)
        if size > share:
            return share
        left -= size
    return budget


def _cut(text: str, chars: int, language: TaskLanguage) -> str:
    note = say(language, Note.CUT_HERE, shown=str(chars), all=str(len(text)))
    return f"{text[:chars]}\n{note}"
