"""What an alignment of two golds is made of: elements that people decide on, and counts by level."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

ElementKind = Literal["triple", "node", "row", "cell", "step", "fact", "answer"]
Status = Literal["agreed", "differ", "author", "second"]
Take = Literal["author", "second", "both", "neither"]
LevelName = Literal["triple", "node", "row", "key", "cell", "step", "ambiguity", "fact", "answer"]


@dataclass(frozen=True)
class Element:
    """One thing of either gold, or one of each that belong together. `author` and `second` are indices
    (of triples, `node_ids`, rows, steps or facts), None where that side has nothing; `column` is that of a
    cell. `status`: both say the same, they differ, or only one has it. `why`: what made a pair of them,
    or what differs. `key` names the element by what both sides say, not by where it stands.
    """

    key: str
    kind: ElementKind
    status: Status
    author: int | None
    second: int | None
    column: int | None = None
    why: str = ""

    @property
    def takes(self) -> tuple[Take, ...]:
        """What may be decided. `both` of what is agreed is one thing with the sources and names of both."""
        if self.kind == "cell":
            return "author", "second"
        if self.kind in ("node", "answer"):
            return "author", "second", "both"
        match self.status:
            case "author":
                return "author", "neither"
            case "second":
                return "second", "neither"
            case _:
                return "author", "second", "both", "neither"

    def settled(self, take: Take) -> Take | None:
        """`take` as this element can have it: a side that has nothing takes the other's away. None for
        what cannot be.
        """
        if take in self.takes:
            return take
        if self.status in ("author", "second"):
            return self.status if take == "both" else "neither"
        return None


@dataclass(frozen=True)
class Level:
    """`matched` pairs among `author` and `second` things. `given`: the second annotator had them
    from the brief, so that their agreement says nothing.
    """

    name: LevelName
    matched: int
    author: int
    second: int
    given: bool = False


@dataclass(frozen=True)
class Alignment:
    """`nodes`: of a graph, the author's node of each node of the second that is the same."""

    elements: tuple[Element, ...]
    levels: tuple[Level, ...]
    nodes: Mapping[str, str] = field(default_factory=dict[str, str])

    def by_status(self) -> Counter[Status]:
        return Counter(element.status for element in self.elements)


def named(elements: Iterable[tuple[Element, Any, Any]]) -> tuple[Element, ...]:
    """The elements with keys made of what the author's and the second's side say."""
    seen: Counter[str] = Counter()
    found: list[Element] = []
    for element, author, second in elements:
        said = json.dumps([element.kind, element.column, author, second], sort_keys=True)
        digest = hashlib.sha256(said.encode()).hexdigest()[:16]
        seen[digest] += 1
        found.append(replace(element, key=f"{digest}.{seen[digest]}"))
    return tuple(found)


def canonical(items: Sequence[Any]) -> list[int]:
    """The indices of `items` in an order that follows from what they say, not from where they stand."""
    return sorted(range(len(items)), key=lambda index: (json.dumps(items[index]), index))
