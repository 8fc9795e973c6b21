"""All agreement statistics for one set of ratings, and judges measured against people as the reference."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.coefficients import (
    cohen_coefficient,
    contingency,
    difference,
    mean_of,
    percent_coefficient,
)
from cuecard.annotate.agreement.intervals import RESAMPLES, Method
from cuecard.annotate.agreement.ratings import MISSING, Ratings
from cuecard.annotate.agreement.scales import Level
from cuecard.annotate.agreement.tables import (
    AgreementTable,
    CeilingTable,
    Frame,
    JudgeDifference,
    LabelRow,
    Note,
    ReferenceTable,
    Row,
    confusion_matrix,
    overall_coefficients,
    prevalence,
    specific_coefficients,
)
from cuecard.core.i18n import _, joined, ngettext
from cuecard.core.tables.table import Coefficient, quotient, ratio

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cuecard.core.tables.table import Of


def against_reference(ratings: Ratings) -> tuple[Coefficient, ...]:
    """The first rater against the second as the reference, over items that both labelled. For each label
    `precision:L` (of what the first labelled L, the share that the reference did too), `recall:L` (the
    other way round), `f1:L` (their harmonic mean, 2 tp / (2 tp + fp + fn)); then `balanced_accuracy` (the
    mean recall over the labels that the reference used; Brodersen et al. 2010) and `mcc` (Matthews 1975;
    for more than two labels the R_K of Gorodkin 2004). Empty unless there are exactly two raters.
    """
    terms, two = contingency(ratings)
    if not two:
        return ()
    n = int(terms.sum())
    found: list[Coefficient] = []
    for code, label in enumerate(ratings.labels):
        found += _of_label(terms, len(ratings.labels), code, label, n)
    nothing = _("no item has two ratings")
    balanced, mcc = _balanced(len(ratings.labels)), _matthews(len(ratings.labels))
    return (
        *found,
        Coefficient("balanced_accuracy", terms, balanced, n, nothing, bounds=(0.0, 1.0)),
        Coefficient("mcc", terms, mcc, n, _("only one category used") if n else nothing),
    )


def _of_label(
    terms: NDArray[np.float64], size: int, code: int, label: str, n: int
) -> list[Coefficient]:
    """Terms are reduced to what the label needs: both, given by the first, given by the reference."""
    import numpy as np

    cells = terms.reshape(len(terms), size, size)
    both = cells[:, code, code]
    given, wanted = cells[:, code, :].sum(axis=1), cells[:, :, code].sum(axis=1)
    never_given = _("the first rater never gave this label")
    never_wanted = _("the reference never has this label")
    neither = _("neither rater gave this label")
    return [
        Coefficient(
            f"precision:{label}",
            np.column_stack([both, given]),
            quotient,
            int(given.sum()),
            never_given,
            share=True,
            bounds=(0.0, 1.0),
        ),
        Coefficient(
            f"recall:{label}",
            np.column_stack([both, wanted]),
            quotient,
            int(wanted.sum()),
            never_wanted,
            share=True,
            bounds=(0.0, 1.0),
        ),
        Coefficient(
            f"f1:{label}",
            np.column_stack([2 * both, given + wanted]),
            quotient,
            n,
            neither,
            bounds=(0.0, 1.0),
        ),
    ]


def _balanced(size: int) -> Of:
    import numpy as np

    def accuracy(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        cells = sums.reshape(*sums.shape[:-1], size, size)
        wanted = cells.sum(axis=-2)
        hits = np.diagonal(cells, axis1=-2, axis2=-1)
        used = wanted > 0
        recalls = np.where(used, hits / np.where(used, wanted, 1), 0)
        return ratio(recalls.sum(axis=-1), used.sum(axis=-1).astype(float))

    return accuracy


def _matthews(size: int) -> Of:
    import numpy as np

    def mcc(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        cells = sums.reshape(*sums.shape[:-1], size, size)
        n = sums.sum(axis=-1)
        hits = np.trace(cells, axis1=-2, axis2=-1)
        given, wanted = cells.sum(axis=-1), cells.sum(axis=-2)
        above = hits * n - (given * wanted).sum(axis=-1)
        below = (n * n - (given**2).sum(axis=-1)) * (n * n - (wanted**2).sum(axis=-1))
        return ratio(above, np.sqrt(np.maximum(below, 0)))

    return mcc


PARTED = 0.1
"""The note on prevalence stands where chance-corrected agreement with equal shares of all labels is further
than this from kappa. Feinstein & Cicchetti (1990) describe the paradox; Byrt, Bishop & Carlin (1993) give the
indices; the threshold is ours.
"""
FEW_GROUPS = 30
"""Below it coverage was seen to fall (docs/agreement.md)."""


def _notes(table: AgreementTable) -> Iterator[Note]:
    if not table.paired:
        yield Note(code="no_pairs", text=_("No item has two ratings."))
        return
    yield from _on_prevalence(table)
    if table.groups is None:
        yield Note(
            code="ungrouped",
            text=_("Each item counts as independent: the items' tasks are not known."),
        )
    elif table.groups < FEW_GROUPS:
        yield Note(
            code="few_groups",
            text=ngettext(
                "The items belong to {n} task. In simulations with fewer than {few} the 95% intervals "
                "held the true value 91 to 96 times of 100.",
                "The items belong to {n} tasks. In simulations with fewer than {few} the 95% intervals "
                "held the true value 91 to 96 times of 100.",
                table.groups,
            ).format(n=table.groups, few=FEW_GROUPS),
        )


def _on_prevalence(table: AgreementTable) -> Iterator[Note]:
    two = len(table.raters) == 2
    kappa = table.value("cohen_kappa" if two else "fleiss_kappa")
    percent, even = table.value("percent"), table.value("brennan_prediger")
    most = max(table.prevalence, key=lambda one: one.share)
    if kappa is None:
        if percent is not None and most.share == 1:
            yield Note(
                code="one_label",
                text=_(
                    "Every rating is {label}: percent agreement is {percent:.1%}, and kappa is undefined, "
                    "because chance alone would give the same."
                ).format(label=most.label, percent=percent),
            )
        return
    if percent is None or even is None or abs(even - kappa) < PARTED:
        return
    text = _(
        "Percent agreement is {percent:.1%} and kappa {kappa:.3f}; {share:.0%} of the ratings are "
        "{label}. With the same percent and equal shares of all labels kappa would be {even:.3f}."
    ).format(percent=percent, kappa=kappa, share=most.share, label=most.label, even=even)
    yield Note(code="prevalence", text=joined([text, *_indices(table)]))


def _indices(table: AgreementTable) -> Iterator[str]:
    """Byrt, Bishop & Carlin (1993), for two raters and two labels: kappa is
    (PABAK - PI^2 + BI^2) / (1 - PI^2 + BI^2).
    """
    matrix = table.confusion
    if matrix is None or len(matrix.labels) != 2 or not matrix.n or table.weighted:
        return
    (both, first), (second, neither) = matrix.counts
    yield _("Prevalence index {prevalence:.3f}, bias index {bias:.3f}.").format(
        prevalence=abs(both - neither) / matrix.n, bias=abs(first - second) / matrix.n
    )


def agreement_table(
    ratings: Ratings,
    groups: Sequence[Hashable] | None = None,
    weights: Sequence[float] | None = None,
    level: Level = "nominal",
    *,
    resamples: int = RESAMPLES,
    method: Method = "percentile",
) -> AgreementTable:
    """Every coefficient that the ratings allow, overall and by label, with 95% intervals.

    `groups` names the task (or whatever varies independently) of each item, `weights` are the inverse
    chances with which the items were drawn; both one for each item. With two raters the second is the
    reference. The same ratings give the same table.

    Raises `CuecardError` for labels that do not fit the level, `ValueError` for groups or weights that are
    not one for each item.
    """
    frame = Frame(groups, weights, resamples, method)
    overall = overall_coefficients(ratings, level)
    specific = specific_coefficients(ratings)
    directed = tuple(
        coefficient
        for coefficient in against_reference(ratings)
        if coefficient.name.startswith(("precision:", "recall:"))
    )
    rows = frame.rows((*overall, *specific, *directed))
    by_name = {row.name: row for row in rows}
    own = rows[: len(overall)]
    paired = (ratings.table != MISSING).sum(axis=1) >= 2
    table = AgreementTable(
        raters=ratings.raters,
        labels=ratings.labels,
        level=level,
        items=len(ratings.items),
        paired=int(paired.sum()),
        ratings=int((ratings.table != MISSING).sum()),
        groups=frame.groups_of(paired),
        weighted=weights is not None,
        method=method,
        resamples=resamples,
        prevalence=prevalence(ratings, weights),
        rows=own,
        label_rows=_by_label(ratings, by_name),
        confusion=confusion_matrix(ratings),
    )
    return table.model_copy(update={"notes": tuple(_notes(table))})


def _by_label(ratings: Ratings, rows: dict[str, Row]) -> tuple[LabelRow, ...]:
    # By another name it is told as the shares below it are.
    overall = rows["percent"].statistic.model_copy(update={"name": "accuracy"})
    two = len(ratings.raters) == 2
    found = [
        LabelRow(
            label=None,
            first=overall if two else None,
            reference=overall if two else None,
            either=overall,
        )
    ]
    for label in ratings.labels:
        found.append(
            LabelRow(
                label=label,
                first=rows[f"precision:{label}"].statistic if two else None,
                reference=rows[f"recall:{label}"].statistic if two else None,
                either=rows[f"specific:{label}"].statistic,
            )
        )
    return tuple(found)


def reference_table(
    ratings: Ratings,
    judge: str,
    reference: str,
    groups: Sequence[Hashable] | None = None,
    weights: Sequence[float] | None = None,
    *,
    resamples: int = RESAMPLES,
) -> ReferenceTable:
    """Precision, recall and F1 of `judge` for each label, balanced accuracy and MCC, with `reference` as the truth.
    Raises `KeyError` for an unknown rater, `ValueError` as `agreement_table` does.
    """
    pair = ratings.of_raters([judge, reference])
    frame = Frame(groups, weights, resamples)
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
) -> tuple[JudgeDifference, ...]:
    """Each two judges against the same reference by a paired bootstrap: on the items that all three rated,
    the first judge's figure minus the second's. Raises as `reference_table` does.
    """
    frame = Frame(groups, weights, resamples)
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
) -> CeilingTable | None:
    """Agreement of the judge with people beside that of people with each other, on items that the judge and at least
    two of `people` rated; None with fewer than two people. Raises as `reference_table` does.
    """
    if len(people) < 2:
        return None
    frame = Frame(groups, weights, resamples)
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
