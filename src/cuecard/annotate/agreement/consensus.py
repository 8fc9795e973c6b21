"""What most people say, as a rater among the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.ratings import MISSING, Ratings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAJORITY = "majority"


def most_said(labels: Iterable[str]) -> str:
    """The label that is given more often than any other; "" of none, and where two are level."""
    ranked = Counter(labels).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return ""
    return ranked[0][0]


def with_majority(ratings: Ratings, people: Sequence[str], name: str = MAJORITY) -> Ratings:
    """The ratings with one more rater, who says what most of `people` say on the item; missing where two
    labels have equally many, or nobody rated. Raises `KeyError` for unknown people, `ValueError` where
    the name is taken.
    """
    if name in ratings.raters:
        raise ValueError(f"there is a rater {name!r} already")
    counts = ratings.of_raters(people).counts
    codes = tuple(
        (*row, code) for row, code in zip(ratings.codes, _most(counts).tolist(), strict=True)
    )
    return Ratings(ratings.items, (*ratings.raters, name), ratings.labels, codes)


def _most(counts: NDArray[np.float64]) -> NDArray[np.int64]:
    """By item, the label that was given most often, MISSING where there is no single one."""
    import numpy as np

    if not counts.shape[1]:
        return np.full(len(counts), MISSING)
    best = counts.max(axis=1)
    alone = (counts == best[:, None]).sum(axis=1) == 1
    return np.where(alone & (best > 0), counts.argmax(axis=1), MISSING)
