"""The best way to pair things of two lists, each with one of the other at most."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Edges = Mapping[tuple[int, int], float]
"""Which pairs are possible, by index on the left and on the right, and how good each is (0 or more)."""


def best_assignment(edges: Edges) -> dict[int, int]:
    """As many pairs as possible, and of those the best in sum; left index -> right index.

    Kuhn (1955) and Munkres (1957), in the O(n³) form with potentials, by connected component. The answer
    follows from the edges alone, not from the order in which they are given.
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
