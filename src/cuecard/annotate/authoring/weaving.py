"""One order made of two."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def woven(skeleton: Sequence[int], other: Sequence[int], kept: Collection[int]) -> list[int]:
    """The `kept` ones of `skeleton` in its order, and among them those that only `other` has, each
    behind what it stands behind there. Of two that were put in one place, the skeleton's comes first.
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
