"""What is counted and not estimated: how often each label was given, and which met which."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.annotate.agreement.kappa import contingency
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.core.tasks.base import Frozen


class ConfusionMatrix(Frozen):
    """`counts[i][j]`: items that `rows` labelled `labels[i]` and `columns` labelled `labels[j]`."""

    rows: str
    columns: str
    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def n(self) -> int:
        return sum(map(sum, self.counts))


class Prevalence(Frozen):
    """How often a label was given: `count` of all `n` ratings."""

    label: str
    count: int
    n: int
    share: float


def confusion_matrix(ratings: Ratings) -> ConfusionMatrix | None:
    """The two raters' labels against each other on the items both rated; None unless two raters."""
    if len(ratings.raters) != 2:
        return None
    size = len(ratings.labels)
    counts = contingency(ratings)[0].sum(axis=0).reshape(size, size).astype(int).tolist()
    return ConfusionMatrix(
        rows=ratings.raters[0],
        columns=ratings.raters[1],
        labels=ratings.labels,
        counts=tuple(map(tuple, counts)),
    )


def prevalence(ratings: Ratings, weights: Sequence[float] | None = None) -> tuple[Prevalence, ...]:
    """Each label's share of all ratings given, in label order; shares are 0 if there are none. `weights`,
    one for each item, weigh the shares; counts stay counts.
    """
    import numpy as np

    counts = ratings.counts
    weighed = counts if weights is None else counts * np.asarray(weights, dtype=float)[:, None]
    given, heavy = counts.sum(axis=0), weighed.sum(axis=0)
    n, total = int(given.sum()), float(heavy.sum())
    return tuple(
        Prevalence(
            label=label,
            count=int(given[code]),
            n=n,
            share=float(heavy[code]) / total if total else 0.0,
        )
        for code, label in enumerate(ratings.labels)
    )
