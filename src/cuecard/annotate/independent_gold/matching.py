"""What a family whose gold can be built twice gives; the elements of two golds, matched one to one; what is decided of them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from cuecard.annotate.authoring.diff import merged_order
from cuecard.core.tasks.gold import G

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


ElementKind = Literal["triple", "node", "row", "cell", "step", "fact", "answer"]
Status = Literal["agreed", "differ", "author", "second"]
Take = Literal["author", "second", "both", "neither"]
LevelName = Literal["triple", "node", "row", "key", "cell", "step", "ambiguity", "fact", "answer"]


@dataclass(frozen=True)
class Element:
    """One thing of either gold, or a pair that belongs together. `author`, `second`: indices (of triples, `node_ids`,
    rows, steps or facts), None if that side lacks it; `column`: that of a cell. `status`: both agree, they differ, or
    only one has it. `why`: how they were paired, or what differs. `key` identifies the element by its content, not by
    its position.
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
        """The possible decisions. `both`, for an agreed element, keeps the sources and names of both."""
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
        """What `take` means for this element: choosing a side that lacks it removes it. None if it is impossible."""
        if take in self.takes:
            return take
        if self.status in ("author", "second"):
            return self.status if take == "both" else "neither"
        return None


@dataclass(frozen=True)
class Level:
    """Counts of one kind of thing: `matched` pairs among `author` and `second` things. `given`: they were part of the
    brief, so their agreement means nothing.
    """

    name: LevelName
    matched: int
    author: int
    second: int
    given: bool = False


@dataclass(frozen=True)
class Alignment:
    """Two golds aligned. `nodes`: for graphs, the author's node for each node of the second that is the same."""

    elements: tuple[Element, ...]
    levels: tuple[Level, ...]
    nodes: Mapping[str, str] = field(default_factory=dict[str, str])

    def by_status(self) -> Counter[Status]:
        return Counter(element.status for element in self.elements)


def named(elements: Iterable[tuple[Element, Any, Any]]) -> tuple[Element, ...]:
    """Elements with keys computed from the content of both sides."""
    seen: Counter[str] = Counter()
    found: list[Element] = []
    for element, author, second in elements:
        said = json.dumps([element.kind, element.column, author, second], sort_keys=True)
        digest = hashlib.sha256(said.encode()).hexdigest()[:16]
        seen[digest] += 1
        found.append(replace(element, key=f"{digest}.{seen[digest]}"))
    return tuple(found)


def canonical(items: Sequence[Any]) -> list[int]:
    """The indices of `items` in an order that depends on their content, not on their position."""
    return sorted(range(len(items)), key=lambda index: (json.dumps(items[index]), index))


Edges = Mapping[tuple[int, int], float]
"""The possible pairs, by index on the left and on the right, with their weights (0 or more)."""


def best_assignment(edges: Edges) -> dict[int, int]:
    """As many pairs as possible and, of such matchings, the one with the largest sum of weights; left index -> right
    index.

    Kuhn (1955) and Munkres (1957), in the O(n³) form with potentials, by connected component. The result does not
    depend on the order of the edges.
    """
    pairs: dict[int, int] = {}
    for lefts, rights in _components(edges):
        if len(lefts) == 1:
            left = lefts[0]
            pairs[left] = max(rights, key=lambda right: (edges[left, right], -right))
        elif len(rights) == 1:
            right = rights[0]
            pairs[max(lefts, key=lambda left: (edges[left, right], -left))] = right
        else:
            pairs.update(_solved(edges, lefts, rights))
    return dict(sorted(pairs.items()))


def _components(edges: Edges) -> list[tuple[list[int], list[int]]]:
    of_left: dict[int, list[int]] = defaultdict(list)
    of_right: dict[int, list[int]] = defaultdict(list)
    for left, right in edges:
        of_left[left].append(right)
        of_right[right].append(left)
    found: list[tuple[list[int], list[int]]] = []
    seen: set[int] = set()
    for start in sorted(of_left):
        if start in seen:
            continue
        lefts, rights, todo = {start}, set[int](), [start]
        while todo:
            for right in of_left[todo.pop()]:
                if right not in rights:
                    rights.add(right)
                    fresh = [left for left in of_right[right] if left not in lefts]
                    lefts.update(fresh)
                    todo += fresh
        seen |= lefts
        found.append((sorted(lefts), sorted(rights)))
    return found


def _solved(edges: Edges, lefts: list[int], rights: list[int]) -> dict[int, int]:
    import numpy as np

    turned = len(lefts) > len(rights)
    rows, columns = (rights, lefts) if turned else (lefts, rights)
    at_row = {index: n for n, index in enumerate(rows)}
    at_column = {index: n for n, index in enumerate(columns)}
    costs = np.zeros((len(rows), len(columns)))
    inside = [(pair, weight) for pair, weight in edges.items() if pair[0] in set(lefts)]
    # One pair more is worth more than all the others could gain.
    more = (max(weight for _pair, weight in inside) + 1) * (len(rows) + 1)
    for (left, right), weight in inside:
        row, column = (right, left) if turned else (left, right)
        costs[at_row[row], at_column[column]] = -(more + weight)
    pairs: dict[int, int] = {}
    for row, column in enumerate(_cheapest(costs)):
        pair = (columns[column], rows[row]) if turned else (rows[row], columns[column])
        if pair in edges:
            pairs[pair[0]] = pair[1]
    return pairs


def _cheapest(costs: NDArray[np.float64]) -> list[int]:
    """The column of each row, of the cheapest pairing of all rows; no more rows than columns."""
    import numpy as np

    n, m = costs.shape
    rows, columns = np.zeros(n + 1), np.zeros(m + 1)
    row_of, way = np.zeros(m + 1, dtype=int), np.zeros(m + 1, dtype=int)
    for row in range(1, n + 1):
        row_of[0] = row
        least = np.full(m + 1, np.inf)
        used = np.zeros(m + 1, dtype=bool)
        at = 0
        while row_of[at]:
            used[at] = True
            reduced = costs[row_of[at] - 1] - rows[row_of[at]] - columns[1:]
            better = ~used[1:] & (reduced < least[1:])
            least[1:][better] = reduced[better]
            way[1:][better] = at
            at = int(np.argmin(np.where(used, np.inf, least)))
            step = least[at]
            rows[row_of[used]] += step
            columns[used] -= step
            least[~used] -= step
        while at:
            before = int(way[at])
            row_of[at] = row_of[before]
            at = before
    answer = [0] * n
    for column in range(1, m + 1):
        if row_of[column]:
            answer[int(row_of[column]) - 1] = column - 1
    return answer


Takes = Mapping[str, Take]
"""Which side's version is taken, by `Element.key`."""
ItemT = TypeVar("ItemT")


def _as_built(gold: Mapping[str, Any], _given: Mapping[str, Any]) -> dict[str, Any]:
    return dict(gold)


@dataclass(frozen=True, kw_only=True)
class GoldComparer(Generic[G]):
    """What a family gives so that its gold can be built a second time, by somebody who has not seen it.

    `blank` is the gold to begin with, the author's words covered by the function; `given` are the fields of it that the
    brief gives, `secret` the things that it must not name, each with all its names. `fitted` is what was built where what
    is given has changed. `align` lays two golds beside each other, alike whatever the order of their items and whichever
    comes first; `adjudicated` is the author's, as JSON, changed as decided.
    """

    blank: Callable[[G, Callable[[str], str]], dict[str, Any]]
    given: tuple[str, ...] = ()
    secret: Callable[[G], Iterable[tuple[str, ...]]]
    fitted: Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]] = _as_built
    align: Callable[[G, G], Alignment]
    adjudicated: Callable[[G, G, Decided], dict[str, Any]]


def take_of(element: Element, takes: Takes) -> Take | None:
    """The side taken for an element; by default the author's where both agree, else None until somebody decides."""
    take = takes.get(element.key)
    if take is not None and take in element.takes:
        return take
    return "author" if element.status == "agreed" else None


def undecided(alignment: Alignment, takes: Takes) -> list[Element]:
    return [element for element in alignment.elements if take_of(element, takes) is None]


@dataclass(frozen=True)
class Decided:
    alignment: Alignment
    takes: Takes

    def of(self, kind: ElementKind) -> list[tuple[Element, Take]]:
        return [
            (element, take_of(element, self.takes) or "author")
            for element in self.alignment.elements
            if element.kind == kind
        ]

    def answer(self) -> Take:
        answers = self.of("answer")
        return answers[0][1] if answers else "author"


def composed(
    mine: Sequence[ItemT],
    theirs: Sequence[ItemT],
    decided: Iterable[tuple[Element, Take]],
    joined: Callable[[ItemT, ItemT], ItemT],
    filled: Callable[[ItemT, ItemT], ItemT],
) -> list[ItemT]:
    """The resulting list. `joined` makes one item of an agreed pair if both are taken; `filled` completes the second's
    item with what only the author's has.
    """
    made: dict[int, ItemT] = {}
    behind: dict[int, list[int]] = {}
    for element, take in decided:
        i, j = element.author, element.second
        if j is None and i is not None:
            if take in ("author", "both"):
                made[i] = mine[i]
        elif i is None and j is not None:
            behind[j] = [len(mine) + j]
            if take in ("second", "both"):
                made[len(mine) + j] = theirs[j]
        elif i is not None and j is not None:
            apart = take == "both" and element.status == "differ"
            behind[j] = [i, len(mine) + j] if apart else [i]
            if take == "author":
                made[i] = mine[i]
            elif take == "second":
                made[i] = filled(mine[i], theirs[j])
            elif apart:
                made[i], made[len(mine) + j] = mine[i], theirs[j]
            elif take == "both":
                made[i] = joined(mine[i], theirs[j])
    other = [known for j in range(len(theirs)) for known in behind.get(j, ())]
    return [made[known] for known in merged_order(range(len(mine)), other, made.keys())]


def union(one: Sequence[str], other: Sequence[str]) -> list[str]:
    return list(dict.fromkeys((*one, *other)))
