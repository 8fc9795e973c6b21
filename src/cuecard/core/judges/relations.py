"""Whether two relations say the same of a pair of entities, as far as their words can tell.

Relations are free text, so this is tolerant: one shared word that carries meaning is enough. It is strict
where words contradict: born and died, a negation on one side, a verb against its passive.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache

from cuecard.core.judges.relation_words import (
    BE,
    CJK_CONTRASTS,
    CONCEPTS,
    CONTRASTS,
    HAN,
    IDENTITY,
    INCLUSION,
    LATIN,
    NEGATION,
    PASSIVE,
    SUFFIX,
    SYMMETRIC,
    WEAK,
    WEAK_CJK,
    WORD_CONTRASTS,
)
from cuecard.core.judges.similarity import form
from cuecard.core.text import is_cjk

_LEAST_LIKENESS = 75.0
_LEAST_CJK_LIKENESS = 60.0


class RelationRule(StrEnum):
    """Why two relations were taken for one."""

    SAME = "same"
    WORD = "word"
    MEANING = "meaning"
    GENERAL = "general"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Relation:
    """A relation with the forms by which it is compared."""

    text: str

    @cached_property
    def plain(self) -> str:
        return form(self.text).plain.replace("_", " ").replace("-", " ")

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(LATIN.findall(self.plain))

    @cached_property
    def strong(self) -> frozenset[str]:
        """Stems of the words that carry meaning; of Chinese, pairs of characters."""
        stems = {_stem(word) for word in self.words - WEAK}
        for run in HAN.findall(WEAK_CJK.sub(" ", self.plain)):
            stems.update(run[i : i + 2] for i in range(max(len(run) - 1, 1)))
        return frozenset(stems)

    @cached_property
    def bare(self) -> tuple[str, ...]:
        """Words in order without articles, forms of `be` and the mark of the passive."""
        without = PASSIVE.sub(" ", self.plain)
        return tuple(word for word in re.findall(r"\w+", without) if word not in BE)

    @cached_property
    def concepts(self) -> frozenset[str]:
        stems = {_stem(word) for word in self.words} | self.words
        found: set[str] = set()
        for concept, (latin, han) in CONCEPTS.items():
            if stems & set(latin.split()) or any(word in self.plain for word in han.split()):
                found.add(concept)
        return frozenset(found)

    @cached_property
    def negated(self) -> bool:
        return NEGATION.search(self.plain) is not None

    @cached_property
    def passive(self) -> bool:
        return PASSIVE.search(self.plain) is not None

    @property
    def symmetric(self) -> bool:
        return SYMMETRIC.search(self.plain) is not None

    @property
    def identity(self) -> bool:
        """Whether it says that head and tail are two names of one thing."""
        return IDENTITY.fullmatch(self.plain) is not None

    @property
    def inclusion(self) -> bool:
        """Whether it says that the head lies in, or is part of, the tail."""
        return INCLUSION.fullmatch(self.plain) is not None


@lru_cache(maxsize=8192)
def relation(text: str) -> Relation:
    """The shared `Relation` of a text."""
    return Relation(text)


@lru_cache(maxsize=65536)
def same_relation(gold: str, predicted: str, *, swapped: bool = False) -> RelationRule | None:
    """Why the relations of two triples over the same entities are one, or None.

    `swapped`: the predicted triple has gold's tail as its head. Then the words must show the inverse: the
    same relation read backwards is another claim unless it is symmetric.
    """
    left, right = relation(gold), relation(predicted)
    if left.negated != right.negated or _contrast(left, right):
        return None
    same_words = left.bare == right.bare
    same_voice = left.passive == right.passive
    if same_words:
        fits = left.symmetric or same_voice != swapped or not left.strong
        return RelationRule.SAME if fits and (left.strong or not swapped) else None
    if not left.strong or not right.strong:
        return None if swapped else RelationRule.GENERAL
    if left.strong & right.strong:
        return RelationRule.WORD
    if left.concepts & right.concepts:
        return RelationRule.MEANING
    if is_cjk(gold) != is_cjk(predicted):
        # Two languages: only known concepts can speak against each other.
        known = left.concepts and right.concepts
        return None if swapped or known else RelationRule.UNREADABLE
    return RelationRule.WORD if _alike(left, right) else None


def _alike(left: Relation, right: Relation) -> bool:
    from rapidfuzz import fuzz

    if is_cjk(left.text):
        texts = (WEAK_CJK.sub("", left.plain), WEAK_CJK.sub("", right.plain))
        return fuzz.ratio(*texts) >= _LEAST_CJK_LIKENESS
    joined = (" ".join(sorted(left.strong)), " ".join(sorted(right.strong)))
    return fuzz.ratio(*joined) >= _LEAST_LIKENESS


def _contrast(left: Relation, right: Relation) -> bool:
    for one, other in CONTRASTS:
        if _opposed(left.concepts, right.concepts, {one}, {other}):
            return True
    for one, other in WORD_CONTRASTS:
        if _opposed(left.words, right.words, one, other):
            return True
    for one, other in CJK_CONTRASTS:
        sides = [
            {word for word in (one, other) if word in text} for text in (left.plain, right.plain)
        ]
        if all(len(side) == 1 for side in sides) and sides[0] != sides[1]:
            return True
    return False


def _opposed(
    left: frozenset[str],
    right: frozenset[str],
    one: set[str] | frozenset[str],
    other: set[str] | frozenset[str],
) -> bool:
    """Whether one side has only the one and the other only the other."""
    return bool(
        (left & one and right & other and not left & other and not right & one)
        or (left & other and right & one and not left & one and not right & other)
    )


def _stem(word: str) -> str:
    stem = word
    for _round in range(2):
        shorter = SUFFIX.sub("", stem)
        if len(shorter) < 3:
            break
        stem = shorter
    return stem
