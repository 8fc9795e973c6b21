"""The tables of an agreement report: confusion matrix, prevalence, choice of coefficients, rows with intervals."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cuecard.annotate.agreement.coefficients import (
    ac1_coefficient,
    brennan_prediger_coefficient,
    cohen_coefficient,
    contingency,
    fleiss_coefficient,
    percent_coefficient,
    scott_coefficient,
)
from cuecard.annotate.agreement.intervals import RESAMPLES, Method, with_intervals
from cuecard.annotate.agreement.linearisation import linearised
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.annotate.agreement.scales import (
    Level,
    Weighting,
    ac2_coefficient,
    alpha_coefficient,
    weighted_kappa_coefficient,
)
from cuecard.core.i18n import _
from cuecard.core.tables.table import Coefficient, Statistic, ratio
from cuecard.core.tasks.base import Frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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


NoteCode = Literal["prevalence", "one_label", "ungrouped", "few_groups", "no_pairs"]


class Row(Frozen):
    """A statistic with two intervals: `statistic` has the one by resampling, `analytic` the one by linearisation (None
    if the value is undefined). `name` is stable (`cohen_kappa`, `recall:covered`).
    """

    name: str
    statistic: Statistic
    analytic: Statistic | None = None

    @property
    def value(self) -> float | None:
        return self.statistic.value


class LabelRow(Frozen):
    """Agreement on one label, or on all (`label` None, where all columns are the percent agreement).

    `first`: of what the first rater gave this label, the share that the reference did too. `reference`: of
    what the reference gave this label, the share that the first did too. Both None unless two raters.
    `either`: of the pairs of ratings of which one is this label, the share that both are (specific
    agreement, Cicchetti & Feinstein 1990; for two raters the F1 of the label).
    """

    label: str | None
    first: Statistic | None
    reference: Statistic | None
    either: Statistic


class Note(Frozen):
    """A warning on how to read the statistics of this table. `text` is translated."""

    code: NoteCode
    text: str


class AgreementTable(Frozen):
    """`items`: all; `paired`: with at least two ratings. `groups`: how many tasks (or other groups) the
    paired items belong to, None where each item was taken for itself. `weighted`: items had weights;
    then `prevalence` has weighted shares and raw counts, and `confusion` raw counts. `confusion` only
    for two raters, whose `rows` is the first and `columns` the reference.
    """

    raters: tuple[str, ...]
    labels: tuple[str, ...]
    level: Level
    items: int
    paired: int
    ratings: int
    groups: int | None
    weighted: bool
    method: Method
    resamples: int
    prevalence: tuple[Prevalence, ...]
    rows: tuple[Row, ...]
    label_rows: tuple[LabelRow, ...]
    confusion: ConfusionMatrix | None
    notes: tuple[Note, ...] = ()

    def row(self, name: str) -> Row | None:
        return next((row for row in self.rows if row.name == name), None)

    def value(self, name: str) -> float | None:
        row = self.row(name)
        return row.value if row else None


class ReferenceTable(Frozen):
    """One rater against another as the reference, on the `n` items that both labelled. `rows`: for each
    label `precision:L`, `recall:L`, `f1:L`; then `balanced_accuracy` and `mcc`.
    """

    judge: str
    reference: str
    labels: tuple[str, ...]
    n: int
    groups: int | None
    weighted: bool
    rows: tuple[Row, ...]
    confusion: ConfusionMatrix

    def row(self, name: str) -> Row | None:
        return next((row for row in self.rows if row.name == name), None)


class JudgeDifference(Frozen):
    """`one` minus `other` against the same `reference`, on the `n` items that all three labelled, resampled
    together. `rows` are named as in the tables above (`percent`, `cohen_kappa`, ..., `mcc`); `ones` and
    `others` are the two values of each, with intervals, in the same order.
    """

    one: str
    other: str
    reference: str
    n: int
    groups: int | None
    rows: tuple[Row, ...]
    ones: tuple[Row, ...]
    others: tuple[Row, ...]


class CeilingTable(Frozen):
    """A judge beside what people reach among themselves, over items with the judge and two people at least.

    Each row is a mean over pairs of raters (`percent`, `cohen_kappa`; for people that mean is Light's 1971
    kappa): `judge_people` over judge and each person, `people` over each two people, `difference` the
    first minus the second. All with intervals from the same resamples.
    """

    judge: str
    people: tuple[str, ...]
    n: int
    groups: int | None
    judge_people: tuple[Row, ...]
    people_people: tuple[Row, ...]
    difference: tuple[Row, ...]


def overall_coefficients(ratings: Ratings, level: Level = "nominal") -> tuple[Coefficient, ...]:
    """`percent`, `cohen_kappa`, `scott_pi`, `fleiss_kappa`, `brennan_prediger`, `ac1`, `alpha`; on a scale
    also `kappa_linear`, `kappa_quadratic`, `ac2_ordinal` or `ac2_quadratic`, and `alpha_LEVEL`. Those for
    two raters are undefined, with the reason, for more.

    Raises `CuecardError` for labels that do not fit the level.
    """
    found = (
        percent_coefficient(ratings),
        cohen_coefficient(ratings),
        scott_coefficient(ratings),
        fleiss_coefficient(ratings),
        brennan_prediger_coefficient(ratings),
        ac1_coefficient(ratings),
        alpha_coefficient(ratings),
    )
    if level == "nominal":
        return found
    credit: Weighting = "ordinal" if level == "ordinal" else "quadratic"
    return (
        *found,
        weighted_kappa_coefficient(ratings, "linear"),
        weighted_kappa_coefficient(ratings, "quadratic"),
        ac2_coefficient(ratings, credit),
        alpha_coefficient(ratings, level),
    )


def short_coefficients(ratings: Ratings) -> tuple[Coefficient, Coefficient, Coefficient]:
    """`percent`, `cohen_kappa` and `ac1`: for places with little room."""
    return percent_coefficient(ratings), cohen_coefficient(ratings), ac1_coefficient(ratings)


def specific_coefficients(ratings: Ratings) -> tuple[Coefficient, ...]:
    """For each label `specific:L`: of the pairs of ratings of an item of which at least one is L, counted
    by their ratings, the share that agree (Cicchetti & Feinstein 1990; for more raters and gaps, each
    item's pairs are spread over its ratings). For two raters it is the F1 of the label.
    """
    counts = ratings.counts
    raters = counts.sum(axis=1)
    return tuple(
        _specific(counts[:, code], raters, label) for code, label in enumerate(ratings.labels)
    )


def _specific(given: NDArray[np.float64], raters: NDArray[np.float64], label: str) -> Coefficient:
    import numpy as np

    paired = raters >= 2
    same = given * (given - 1) / np.where(paired, raters - 1, 1)
    terms = np.where(paired[:, None], np.column_stack([same, given]), 0.0)
    return Coefficient(
        f"specific:{label}",
        terms,
        lambda sums: ratio(sums[..., 0], sums[..., 1]),
        int((terms[:, 1] > 0).sum()),
        _("nobody gave this label"),
        bounds=(0.0, 1.0),
    )


@dataclass(frozen=True)
class Frame:
    """What the rows of a table share: `groups` (the task of each item, None: each item is its own group), `weights`
    (inverse probability of having been drawn, None: equal), and how intervals are made.
    """

    groups: Sequence[Hashable] | None = None
    weights: Sequence[float] | None = None
    resamples: int = RESAMPLES
    method: Method = "percentile"

    def rows(self, coefficients: Sequence[Coefficient]) -> tuple[Row, ...]:
        """The coefficients as rows, all from the same resamples. Raises `ValueError` unless coefficients, groups and
        weights are over the same items, and for weights that are not above 0.
        """
        weights = self._scaled()
        if weights is not None:
            coefficients = [coefficient.weighted(weights) for coefficient in coefficients]
        found = with_intervals(
            coefficients, self.groups, resamples=self.resamples, method=self.method
        )
        return tuple(
            Row(
                name=coefficient.name,
                statistic=statistic,
                analytic=linearised(coefficient, self.groups) if statistic.defined else None,
            )
            for coefficient, statistic in zip(coefficients, found, strict=True)
        )

    def groups_of(self, used: NDArray[np.bool_]) -> int | None:
        """How many groups the used items belong to."""
        if self.groups is None:
            return None
        return len({group for group, is_used in zip(self.groups, used, strict=True) if is_used})

    def _scaled(self) -> NDArray[np.float64] | None:
        """Weights with mean 1: alpha corrects for the number of ratings, so their sum matters."""
        import numpy as np

        if self.weights is None:
            return None
        weights = np.asarray(self.weights, dtype=np.float64)
        if not np.isfinite(weights).all() or (weights <= 0).any():
            raise ValueError("weights are finite and above 0")
        return weights / weights.mean() if len(weights) else weights
