"""Matching the items of two lists, one order from two, names that probably mean the same, and the words that changed."""

import json
import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import is_not
from typing import Any

from rapidfuzz.distance import OSA

from cuecard.core.text import is_cjk, normalise

Key = Callable[[Any], Hashable | None]
"""Gives the value by which an item is recognised; None if the item is too incomplete for it."""

_MOST_PAIRS = 20_000
_MOST_IN_GROUP = 2_500


@dataclass(frozen=True)
class FuzzyKey:
    """Items with equal `key` are the same if the similarity of their `text` is at least `least` (0 to 100), or, with
    `lone`, if they are the only ones left with that key.
    """

    key: Key
    text: Callable[[Any], str]
    least: float
    lone: bool = False


@dataclass(frozen=True)
class MatchRule:
    """How items of one kind are recognised in another version: first by each of `keys`, then by each of `loose`, then
    the rest by similar `text` (at least `least`, 0 to 100).
    """

    keys: tuple[Key, ...] = ()
    loose: tuple[FuzzyKey, ...] = ()
    text: Callable[[Any], str] = str
    least: float = 70


def match(old: Sequence[Any], new: Sequence[Any], match_rule: MatchRule) -> dict[int, int]:
    """Which item of `new` each item of `old` is, as indices; items without a counterpart are left out."""
    matching = _Matching(old, new)
    matching.by(_content)
    for key in match_rule.keys:
        matching.by(key)
    for loose in match_rule.loose:
        matching.loosely(loose)
    matching.alike(match_rule.text, match_rule.least)
    matching.in_place()
    return matching.pairs


def match_by_key(old: Sequence[Any], new: Sequence[Any], match_rule: MatchRule) -> dict[int, int]:
    """As `match`, but by equal content and keys only: for items that two people added independently."""
    matching = _Matching(old, new)
    matching.by(_content)
    for key in match_rule.keys:
        matching.by(key)
    return matching.pairs


def moved(order: Sequence[int]) -> set[int]:
    """The smallest set of members of `order` (all different) that must move to make it ascending."""
    tops: list[int] = []
    top_at: list[int] = []
    before: list[int] = []
    for at, value in enumerate(order):
        place = bisect_left(tops, value)
        before.append(top_at[place - 1] if place else -1)
        if place == len(tops):
            tops.append(value)
            top_at.append(at)
        else:
            tops[place], top_at[place] = value, at
    kept: set[int] = set()
    at = top_at[-1] if top_at else -1
    while at >= 0:
        kept.add(order[at])
        at = before[at]
    return set(order) - kept


class _Matching:
    def __init__(self, old: Sequence[Any], new: Sequence[Any]) -> None:
        self.old, self.new = old, new
        self.pairs: dict[int, int] = {}
        # Most of two versions is the same at both ends; only what lies between is looked at.
        start, least = 0, min(len(old), len(new))
        while start < least and _equal(old[start], new[start]):
            self.pairs[start] = start
            start += 1
        end = 0
        while end < least - start and _equal(old[-1 - end], new[-1 - end]):
            end += 1
            self.pairs[len(old) - end] = len(new) - end
        self.left_old = dict.fromkeys(range(start, len(old) - end))
        self.left_new = dict.fromkeys(range(start, len(new) - end))

    def take(self, i: int, j: int) -> None:
        self.pairs[i] = j
        del self.left_old[i]
        del self.left_new[j]

    def by(self, key: Key) -> None:
        """Pair items of equal keys, in their order."""
        if not self.left_old or not self.left_new:
            return
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for j in self.left_new:
            if (known := key(self.new[j])) is not None:
                waiting[known].append(j)
        for i in tuple(self.left_old):
            known = key(self.old[i])
            if known is not None and waiting.get(known):
                self.take(i, waiting[known].popleft())

    def loosely(self, loose: FuzzyKey) -> None:
        if not self.left_old or not self.left_new:
            return
        groups: dict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for side, left, items in ((0, self.left_old, self.old), (1, self.left_new, self.new)):
            for index in left:
                if (known := loose.key(items[index])) is not None:
                    groups[known][side].append(index)
        for ours, theirs in groups.values():
            if ours and theirs and len(ours) * len(theirs) <= _MOST_IN_GROUP:
                self._best(ours, theirs, loose.text, loose.least)
                left_ours = [i for i in ours if i in self.left_old]
                left_theirs = [j for j in theirs if j in self.left_new]
                if loose.lone and len(left_ours) == len(left_theirs) == 1:
                    self.take(left_ours[0], left_theirs[0])

    def alike(self, text: Callable[[Any], str], least: float) -> None:
        """Match what is left by similar text, the most similar first; in long lists only between matched neighbours."""
        if 0 < len(self.left_old) * len(self.left_new) <= _MOST_PAIRS:
            self._best(list(self.left_old), list(self.left_new), text, least)
            return
        for ours, theirs in self._gaps():
            if len(ours) * len(theirs) <= _MOST_IN_GROUP:
                self._best(ours, theirs, text, least)

    def in_place(self) -> None:
        """Match the rest by position between matched neighbours, for lists that were mostly rewritten."""
        left = len(self.left_old)
        if left < 2 or 2 * left <= len(self.old) or left != len(self.left_new):
            return
        for ours, theirs in self._gaps():
            if len(ours) == len(theirs):
                for i, j in zip(ours, theirs, strict=True):
                    self.take(i, j)

    def _best(
        self, ours: Sequence[int], theirs: Sequence[int], text: Callable[[Any], str], least: float
    ) -> None:
        from rapidfuzz import fuzz, process

        said = [normalise(text(self.new[j])) for j in theirs]
        found: list[tuple[float, int, int, int]] = []
        for i in ours:
            query = normalise(text(self.old[i]))
            for _text, score, at in process.extract_iter(
                query, said, scorer=fuzz.ratio, score_cutoff=least
            ):
                found.append((-score, abs(i - theirs[at]), i, theirs[at]))
        for _score, _distance, i, j in sorted(found):
            if i in self.left_old and j in self.left_new:
                self.take(i, j)

    def _gaps(self) -> list[tuple[list[int], list[int]]]:
        """What is left of both lists, grouped by the matched neighbours it lies between."""
        if not self.left_old or not self.left_new:
            return []
        turned = {j: i for i, j in self.pairs.items()}
        gaps: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        anchor = -1
        for i in range(len(self.old)):
            if i in self.pairs:
                anchor = i
            else:
                gaps[anchor][0].append(i)
        anchor = -1
        for j in range(len(self.new)):
            if j in turned:
                anchor = turned[j]
            else:
                gaps[anchor][1].append(j)
        return [gap for gap in gaps.values() if gap[0] and gap[1]]


def _content(item: Any) -> str:
    return json.dumps(item, sort_keys=True, ensure_ascii=False, default=repr)


def _equal(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and one == other)


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
    """How many edits (of letters) two names may differ by and still count as the same, from the length of one of them.

    Short names, and short Chinese ones, allow none: one letter makes another name of them.
    """
    length = len(text)
    if is_cjk(text):
        return 1 if length >= 5 else 0
    return 0 if length < 5 else 1 if length < 9 else MAX_DISTANCE


def alike(one: str, other: str) -> bool:
    """Whether two different names probably mean the same: they differ only in case, width, accents or punctuation, by a
    few mistyped letters, or one has the other's words abbreviated.

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
    """Whether the names have as many words and each word abbreviates the other's: `keio univ` and `keio university`."""
    ours, theirs = _WORDS.findall(one), _WORDS.findall(other)
    if len(ours) != len(theirs) or len(ours) < 2 or is_cjk(one):
        return False
    return all(map(_same_word, ours, theirs))


def _same_word(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return short == long or (len(short) >= _ABBREVIATED and long.startswith(short))


_ALONE = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
# Blanks, one character of a script without blanks, or a word with what clings to it.
_TOKENS = re.compile(rf"\s+|[{_ALONE}]|[^\s{_ALONE}]+")
_MOST_WORK = 25_000_000
_LEAST_KEPT = 0.25


@dataclass(frozen=True)
class Span:
    """A run of text, and whether it differs from the other version."""

    text: str
    changed: bool


def spans(before: str, after: str) -> tuple[list[Span], list[Span]]:
    """Both texts as runs of words that both have and runs that only one has. Texts with little in
    common are one changed run each.
    """
    from rapidfuzz.distance import Indel

    old, new = _TOKENS.findall(before), _TOKENS.findall(after)
    kept_old, kept_new = [False] * len(old), [False] * len(new)
    if len(old) * len(new) <= _MOST_WORK:
        for code in Indel.opcodes(old, new):
            if code.tag == "equal":
                size = code.src_end - code.src_start
                kept_old[code.src_start : code.src_end] = [True] * size
                kept_new[code.dest_start : code.dest_end] = [True] * size
    else:
        start = 0
        while start < min(len(old), len(new)) and old[start] == new[start]:
            kept_old[start] = kept_new[start] = True
            start += 1
        end = 1
        while end <= min(len(old), len(new)) - start and old[-end] == new[-end]:
            kept_old[-end] = kept_new[-end] = True
            end += 1
    size = sum(len(token) for token, keep in zip(old, kept_old, strict=True) if keep)
    if size < _LEAST_KEPT * max(len(before), len(after)):
        kept_old, kept_new = [False] * len(old), [False] * len(new)
    return _runs(old, kept_old), _runs(new, kept_new)


def excerpt(runs: list[Span], around: int) -> list[Span]:
    """The changed runs with `around` characters about them, and an ellipsis for what is left out."""
    found: list[Span] = []
    last = len(runs) - 1
    for at, run in enumerate(runs):
        text = run.text
        head, tail = (0 if at == 0 else around), (0 if at == last else around)
        if not run.changed and len(text) > head + tail + 3:
            text = text[:head] + "…" + (text[-tail:] if tail else "")
        found.append(Span(text, run.changed))
    return found


def _runs(tokens: list[str], kept: list[bool]) -> list[Span]:
    """Runs of tokens; blanks between two changed words are changed too."""
    flags = list(kept)
    for at in range(1, len(tokens) - 1):
        if tokens[at].isspace() and not kept[at - 1] and not kept[at + 1]:
            flags[at] = False
    paired = zip(tokens, flags, strict=True)
    return [
        Span("".join(token for token, _keep in run), not keep)
        for keep, run in groupby(paired, key=lambda pair: pair[1])
    ]


def list_diff(old: Sequence[Any], new: Sequence[Any]) -> tuple[int, int, int] | None:
    """The one stretch in which two lists differ: `(start, old_end, new_end)` says that `old[start:old_end]` was
    replaced by `new[start:new_end]`. Items are compared by identity. None when nothing changed. 5,000 items: about 0.1
    ms.
    """
    if old is new:
        return None
    least = min(len(old), len(new))
    start = next((i for i, other in enumerate(map(is_not, old, new)) if other), least)
    if start == len(old) == len(new):
        return None
    most = least - start
    pairs = map(is_not, reversed(old), reversed(new))
    tail = next((i for i, other in enumerate(pairs) if other or i >= most), least)
    tail = min(tail, most)
    return start, len(old) - tail, len(new) - tail


def merged_order(skeleton: Sequence[int], other: Sequence[int], kept: Collection[int]) -> list[int]:
    """One order from two: the `kept` members of `skeleton` in its order, and those of `other` that it lacks, each
    inserted behind its predecessor in `other`. Two inserted at one place: the skeleton's comes first.
    """
    first = [known for known in skeleton if known in kept]
    placed, elsewhere = set(first), set(other)
    after: dict[int | None, int | None] = {}
    last: int | None = None
    for known in first:
        after[last] = known
        last = known
    after[last] = None
    before: int | None = None
    for known in other:
        if known not in kept:
            continue
        if known not in placed:
            while (next_one := after[before]) is not None and next_one not in elsewhere:
                before = next_one
            after[known], after[before] = after[before], known
            placed.add(known)
        before = known
    order: list[int] = []
    at = after[None]
    while at is not None:
        order.append(at)
        at = after[at]
    return order
