"""When two names that are written differently probably mean the same."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from rapidfuzz.distance import OSA

from cuecard.core.text import is_cjk, normalise

_DIGITS = re.compile(r"\d+")
_WORDS = re.compile(r"[^\W_]+")
_ABBREVIATED = 3

MAX_DISTANCE = 2


@lru_cache(maxsize=65536)
def plain(text: str) -> str:
    """`normalise`, remembered: names come back often."""
    return normalise(text)


@lru_cache(maxsize=65536)
def squeezed(text: str) -> str:
    """A name without case, width, accents, blanks and punctuation."""
    folded = unicodedata.normalize("NFKD", plain(text))
    kept = (char for char in folded if char.isalnum())
    return "".join(kept)


def far_at_most(text: str) -> int:
    """How many letters of a squeezed name may be typed wrongly for it to mean the same.

    Short names and short Chinese ones differ by a letter and mean something else.
    """
    length = len(text)
    if is_cjk(text):
        return 1 if length >= 5 else 0
    return 0 if length < 5 else 1 if length < 9 else MAX_DISTANCE


def alike(one: str, other: str) -> bool:
    """Whether two different names probably mean the same: they differ only in case, width, accents
    or punctuation, by a slip of the fingers, or one is the other with words cut short.

    Names with different numbers never do.
    """
    left, right = squeezed(one), squeezed(other)
    if not left or not right:
        return False
    if left == right:
        return True
    if _DIGITS.findall(left) != _DIGITS.findall(right):
        return False
    allowed = min(far_at_most(left), far_at_most(right))
    if allowed and OSA.distance(left, right, score_cutoff=allowed) <= allowed:
        return True
    return _cut_short(plain(one), plain(other))


def _cut_short(one: str, other: str) -> bool:
    """`keio univ` and `keio university`: as many words, each the beginning of the other's."""
    ours, theirs = _WORDS.findall(one), _WORDS.findall(other)
    if len(ours) != len(theirs) or len(ours) < 2 or is_cjk(one):
        return False
    return all(map(_same_word, ours, theirs))


def _same_word(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return short == long or (len(short) >= _ABBREVIATED and long.startswith(short))
