"""What a report of agreement holds: figures with their intervals, never a word of praise."""

from __future__ import annotations

from typing import Literal

from cuecard.annotate.agreement.bootstrap import Method
from cuecard.annotate.agreement.counting import ConfusionMatrix, Prevalence
from cuecard.annotate.agreement.statistic import Statistic
from cuecard.annotate.agreement.weights import Level
from cuecard.core.tasks.base import Frozen

NoteCode = Literal["prevalence", "one_label", "ungrouped", "few_groups", "no_pairs"]


class Row(Frozen):
    """One figure. `statistic` has the interval by resampling; `analytic` the same value with that of its
    linearisation, None where there is no value. `name` is stable (`cohen_kappa`, `recall:covered`).
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
    """Something to read the figures by, in figures itself. `text` is translated."""

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
