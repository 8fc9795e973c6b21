"""The elements of two aligned golds, optimal one-to-one matching, and precision, recall and F1 by level."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from cuecard.annotate.agreement.coefficients import set_agreement
from cuecard.annotate.agreement.intervals import with_intervals
from cuecard.core.i18n import _
from cuecard.core.tables.statistic import Statistic
from cuecard.core.tasks.base import Frozen

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


class LevelAgreement(Frozen):
    """`precision`: the share of the independent gold's things that the author's has, n: theirs; `recall`: the share of
    the author's that the independent gold has, n: the author's; `f1`: n: both together.
    """

    level: LevelName
    matched: int
    author: int
    second: int
    precision: Statistic
    recall: Statistic
    f1: Statistic


class GoldAgreement(Frozen):
    levels: tuple[LevelAgreement, ...]
    kappa: Statistic

    def of(self, level: LevelName) -> LevelAgreement | None:
        return next((found for found in self.levels if found.level == level), None)


def agreement_of(levels: Sequence[Level]) -> GoldAgreement:
    """The independent gold taken as predicted, the author's as reference; F1 = 2 matched / (both sizes) is the same the
    other way round.

    Kappa is undefined: chance agreement needs the things that both left out, and possible triples or rows cannot be
    counted. F1 takes its place: the more such things there are, the nearer kappa comes to it (Hripcsak and Rothschild
    2005, JAMIA 12(3): 296-298).
    """
    reason = _("what both left out cannot be counted; read F1")
    n = levels[0].matched if levels else 0
    kappa = Statistic(name="cohen_kappa", value=None, n=n, reason=reason)
    return GoldAgreement(levels=tuple(map(_of_level, levels)), kappa=kappa)


def pooled(levels: Iterable[Sequence[Level]]) -> GoldAgreement:
    """Agreement over several golds, counts summed by level, so that a large gold weighs more. 95% intervals by
    resampling golds.
    """
    sums: dict[LevelName, Level] = {}
    parts: dict[LevelName, list[tuple[int, int, int]]] = defaultdict(list)
    for level in (level for some in levels for level in some):
        known = sums.get(level.name, Level(level.name, 0, 0, 0, level.given))
        sums[level.name] = Level(
            level.name,
            known.matched + level.matched,
            known.author + level.author,
            known.second + level.second,
            level.given,
        )
        parts[level.name].append((level.matched, level.second, level.author))
    found = agreement_of(tuple(sums.values()))
    levels_ = tuple(_with_intervals(level, parts[level.level]) for level in found.levels)
    return found.model_copy(update={"levels": levels_})


def _with_intervals(
    level: LevelAgreement, counts: Sequence[tuple[int, int, int]]
) -> LevelAgreement:
    update: dict[str, Statistic] = {}
    for interval in with_intervals(set_agreement(counts)):
        own: Statistic = getattr(level, interval.name)
        if own.defined:
            ends = {"low": interval.low, "high": interval.high, "no_interval": interval.no_interval}
            update[interval.name] = own.model_copy(update=ends)
    return level.model_copy(update=update)


def _of_level(level: Level) -> LevelAgreement:
    empty = {
        "precision": "" if level.second else _("the independent gold has none"),
        "recall": "" if level.author else _("the author's gold has none"),
    }
    if level.given:
        empty = dict.fromkeys(empty, _("they are given with the brief"))
    either = empty["precision"] or empty["recall"]
    return LevelAgreement(
        level=level.name,
        matched=level.matched,
        author=level.author,
        second=level.second,
        precision=_share("precision", level.matched, level.second, empty["precision"]),
        recall=_share("recall", level.matched, level.author, empty["recall"]),
        f1=_share("f1", 2 * level.matched, level.author + level.second, either),
    )


def _share(name: str, part: int, whole: int, reason: str) -> Statistic:
    if reason:
        return Statistic(name=name, value=None, n=whole, reason=reason)
    return Statistic(name=name, value=part / whole, n=whole)
