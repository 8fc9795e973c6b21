"""All statistics of one set of ratings together."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.annotate.agreement.kappa import cohen_kappa, contingency, fleiss_kappa
from cuecard.annotate.agreement.percent import percent_agreement
from cuecard.annotate.agreement.ratings import MISSING, Ratings
from cuecard.annotate.agreement.statistic import Statistic
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


class AgreementReport(Frozen):
    items: int
    raters: tuple[str, ...]
    ratings: int
    statistics: tuple[Statistic, ...]
    prevalence: tuple[Prevalence, ...]
    confusion: ConfusionMatrix | None = None

    def value(self, name: str) -> float | None:
        return next((s.value for s in self.statistics if s.name == name), None)


def statistics_of(ratings: Ratings) -> tuple[Statistic, ...]:
    """`percent`, `cohen_kappa` and `fleiss_kappa`, in this order."""
    return percent_agreement(ratings), cohen_kappa(ratings), fleiss_kappa(ratings)


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


def report_of(ratings: Ratings) -> AgreementReport:
    return AgreementReport(
        items=len(ratings.items),
        raters=ratings.raters,
        ratings=sum(code != MISSING for row in ratings.codes for code in row),
        statistics=statistics_of(ratings),
        prevalence=prevalence(ratings),
        confusion=confusion_matrix(ratings),
    )
