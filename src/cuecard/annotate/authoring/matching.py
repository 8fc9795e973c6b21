"""Which item of one list is which item of another: by content, then by key, then by likeness."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from cuecard.core.text import normalise

Key = Callable[[Any], Hashable | None]
"""What an item is known by; None for one that says too little to be known by it."""

_MOST_PAIRS = 20_000
_MOST_IN_GROUP = 2_500


@dataclass(frozen=True)
class Loose:
    """Items that share `key` are the same when their `text` is alike by `least` (0-100), or, with
    `lone`, when they are the only ones left that share it.
    """

    key: Key
    text: Callable[[Any], str]
    least: float
    lone: bool = False


@dataclass(frozen=True)
class Likeness:
    """How items of one kind are known again. `keys` are tried in order, then what is `loose`, then
    all that is left by its `text`.
    """

    keys: tuple[Key, ...] = ()
    loose: tuple[Loose, ...] = ()
    text: Callable[[Any], str] = str
    least: float = 70


def match(old: Sequence[Any], new: Sequence[Any], likeness: Likeness) -> dict[int, int]:
    """Indices of `old` with the index of the same item in `new`; each occurs once at most."""
    matching = _Matching(old, new)
    matching.by(_content)
    for key in likeness.keys:
        matching.by(key)
    for loose in likeness.loose:
        matching.loosely(loose)
    matching.alike(likeness.text, likeness.least)
    matching.in_place()
    return matching.pairs


def match_by_key(old: Sequence[Any], new: Sequence[Any], likeness: Likeness) -> dict[int, int]:
    """As `match`, by content and keys alone: for what two people added on their own."""
    matching = _Matching(old, new)
    matching.by(_content)
    for key in likeness.keys:
        matching.by(key)
    return matching.pairs


def moved(order: Sequence[int]) -> set[int]:
    """The fewest members of `order` (all different) that must move for it to be ascending."""
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

    def loosely(self, loose: Loose) -> None:
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
        """Pair what is left by its text, the most alike first; long lists only within their gaps."""
        if 0 < len(self.left_old) * len(self.left_new) <= _MOST_PAIRS:
            self._best(list(self.left_old), list(self.left_new), text, least)
            return
        for ours, theirs in self._gaps():
            if len(ours) * len(theirs) <= _MOST_IN_GROUP:
                self._best(ours, theirs, text, least)

    def in_place(self) -> None:
        """Where most was rewritten (a translation), things are known by where they stand."""
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
        """What is left, by what lies between the same two neighbours that were matched."""
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
