"""What surrounds an entity: a tree of the triples that lead from it and to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST = 40
"""Branches of one entity that are shown; of the rest only how many there are."""


@dataclass(frozen=True)
class Branch:
    """The triple `index` leads from the entity above to `entity`; with `inward` the other way.
    `again`: `entity` stands further up or to the left in the tree, so it has no branches here.
    """

    entity: str
    relation: str
    inward: bool
    index: int
    branches: tuple[Branch, ...] = ()
    hidden: int = 0
    again: bool = False


@dataclass(frozen=True)
class Neighbourhood:
    """`hidden` branches are too many to show."""

    entity: str
    branches: tuple[Branch, ...]
    hidden: int = 0


class Surroundings:
    """The triples of a graph by the entities that they touch. Made once for a list of triples."""

    def __init__(self, triples: Sequence[Mapping[str, Any]]) -> None:
        self._triples = triples
        touching: defaultdict[str, list[int]] = defaultdict(list)
        for index, triple in enumerate(triples):
            head, tail = triple["head"], triple["tail"]
            touching[head].append(index)
            if tail != head:
                touching[tail].append(index)
        self._touching = touching

    def is_of(self, triples: Sequence[Mapping[str, Any]]) -> bool:
        return triples is self._triples

    def degree(self, entity: str) -> int:
        """How many triples name the entity."""
        return len(self._touching.get(entity, ()))

    def around(self, entity: str, depth: int = 2, most: int = MOST) -> Neighbourhood:
        """The tree from `entity`, triples from it before those to it, `depth` triples deep."""
        seen = {entity}
        branches, hidden = self._branches(entity, None, depth, most, seen)
        return Neighbourhood(entity, branches, hidden)

    def _branches(
        self, entity: str, via: int | None, depth: int, most: int, seen: set[str]
    ) -> tuple[tuple[Branch, ...], int]:
        if depth <= 0:
            return (), 0
        touching = [i for i in self._touching.get(entity, ()) if i != via]
        touching.sort(key=lambda index: self._triples[index]["head"] != entity)
        shown: list[tuple[int, str, bool, bool]] = []
        for index in touching[:most]:
            triple = self._triples[index]
            inward = triple["head"] != entity
            other = str(triple["head"] if inward else triple["tail"])
            if other:
                shown.append((index, other, inward, other in seen))
                seen.add(other)
        made: list[Branch] = []
        for index, other, inward, again in shown:
            below: tuple[Branch, ...] = ()
            hidden = 0
            if not again:
                below, hidden = self._branches(other, index, depth - 1, max(4, most // 4), seen)
            relation = str(self._triples[index]["relation"])
            made.append(Branch(other, relation, inward, index, below, hidden, again))
        return tuple(made), max(0, len(touching) - most)
