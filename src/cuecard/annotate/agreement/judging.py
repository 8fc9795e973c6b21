"""Judges measured against people: each against a reference, against each other, and beside a ceiling."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import combinations

from cuecard.annotate.agreement.bootstrap import RESAMPLES, Method
from cuecard.annotate.agreement.coefficient import Coefficient
from cuecard.annotate.agreement.counting import confusion_matrix
from cuecard.annotate.agreement.differences import difference, mean_of
from cuecard.annotate.agreement.figures import Frame
from cuecard.annotate.agreement.kappa import cohen_coefficient
from cuecard.annotate.agreement.percent import percent_coefficient
from cuecard.annotate.agreement.ratings import MISSING, Ratings
from cuecard.annotate.agreement.reference import against_reference
from cuecard.annotate.agreement.selection import overall_coefficients
from cuecard.annotate.agreement.tables import CeilingTable, JudgeDifference, ReferenceTable


def reference_table(
    ratings: Ratings,
    judge: str,
    reference: str,
    groups: Sequence[Hashable] | None = None,
    weights: Sequence[float] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    method: Method = "percentile",
) -> ReferenceTable:
    """Precision, recall and F1 of `judge` on each label, balanced accuracy and MCC, with `reference` taken
    for right. Raises `KeyError` for an unknown rater, `ValueError` as `agreement_table` does.
    """
    pair = ratings.of_raters([judge, reference])
    frame = Frame(groups, weights, resamples, seed, method)
    both = (pair.table != MISSING).all(axis=1)
    confusion = confusion_matrix(pair)
    assert confusion is not None
    return ReferenceTable(
        judge=judge,
        reference=reference,
        labels=pair.labels,
        n=int(both.sum()),
        groups=frame.groups_of(both),
        weighted=weights is not None,
        rows=frame.rows(against_reference(pair)),
        confusion=confusion,
    )


def compare_judges(
    ratings: Ratings,
    judges: Sequence[str],
    reference: str,
    groups: Sequence[Hashable] | None = None,
    weights: Sequence[float] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    method: Method = "percentile",
) -> tuple[JudgeDifference, ...]:
    """Each two judges against the same reference by a paired bootstrap: on the items that all three rated,
    the first judge's figure minus the second's. Raises as `reference_table` does.
    """
    frame = Frame(groups, weights, resamples, seed, method)
    return tuple(
        _compared(ratings, one, other, reference, frame) for one, other in combinations(judges, 2)
    )


def _compared(
    ratings: Ratings, one: str, other: str, reference: str, frame: Frame
) -> JudgeDifference:
    three = ratings.of_raters([one, other, reference]).complete()
    used = (three.table != MISSING).all(axis=1)
    ones = _against(three.of_raters([one, reference]))
    others = _against(three.of_raters([other, reference]))
    apart = [
        replace(difference(left, right), name=left.name)
        for left, right in zip(ones, others, strict=True)
    ]
    rows = frame.rows((*apart, *ones, *others))
    size = len(apart)
    return JudgeDifference(
        one=one,
        other=other,
        reference=reference,
        n=int(used.sum()),
        groups=frame.groups_of(used),
        rows=rows[:size],
        ones=rows[size : 2 * size],
        others=rows[2 * size :],
    )


def _against(pair: Ratings) -> tuple[Coefficient, ...]:
    return (*overall_coefficients(pair), *against_reference(pair))


def ceiling_table(
    ratings: Ratings,
    judge: str,
    people: Sequence[str],
    groups: Sequence[Hashable] | None = None,
    weights: Sequence[float] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    method: Method = "percentile",
) -> CeilingTable | None:
    """How near the judge comes to people, beside how near people come to each other, on the items that the
    judge and at least two of `people` rated; None with fewer than two people. Raises as
    `reference_table` does.
    """
    if len(people) < 2:
        return None
    frame = Frame(groups, weights, resamples, seed, method)
    table = ratings.of_raters([judge, *people])
    given = table.table != MISSING
    used = given[:, 0] & (given[:, 1:].sum(axis=1) >= 2)
    table = table.only(used.tolist())
    judged = _mean([(judge, person) for person in people], table)
    human = _mean(list(combinations(people, 2)), table)
    apart = [
        replace(difference(left, right), name=left.name)
        for left, right in zip(judged, human, strict=True)
    ]
    rows = frame.rows((*judged, *human, *apart))
    size = len(judged)
    return CeilingTable(
        judge=judge,
        people=tuple(people),
        n=int(used.sum()),
        groups=frame.groups_of(used),
        judge_people=rows[:size],
        people_people=rows[size : 2 * size],
        difference=rows[2 * size :],
    )


def _mean(pairs: Sequence[tuple[str, str]], table: Ratings) -> tuple[Coefficient, ...]:
    """Percent agreement and Cohen's kappa, each as a mean over the pairs."""
    tables = [table.of_raters(pair) for pair in pairs]
    return tuple(
        mean_of([coefficient(one) for one in tables])
        for coefficient in (percent_coefficient, cohen_coefficient)
    )
