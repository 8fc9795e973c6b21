"""The whole report on one set of ratings."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from cuecard.annotate.agreement.bootstrap import RESAMPLES, Method
from cuecard.annotate.agreement.counting import confusion_matrix, prevalence
from cuecard.annotate.agreement.figures import Frame
from cuecard.annotate.agreement.notes import notes_on
from cuecard.annotate.agreement.ratings import MISSING, Ratings
from cuecard.annotate.agreement.reference import against_reference
from cuecard.annotate.agreement.selection import overall_coefficients, specific_coefficients
from cuecard.annotate.agreement.tables import AgreementTable, LabelRow, Row
from cuecard.annotate.agreement.weights import Level


def agreement_table(
    ratings: Ratings,
    groups: Sequence[Hashable] | None = None,
    weights: Sequence[float] | None = None,
    level: Level = "nominal",
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    method: Method = "percentile",
) -> AgreementTable:
    """Every coefficient that the ratings allow, overall and by label, with 95% intervals.

    `groups` names the task (or whatever varies independently) of each item, `weights` are the inverse
    chances with which the items were drawn; both one for each item. With two raters the second is the
    reference. The same ratings and seed give the same table.

    Raises `CuecardError` for labels that do not fit the level, `ValueError` for groups or weights that are
    not one for each item.
    """
    frame = Frame(groups, weights, resamples, seed, method)
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
    return table.model_copy(update={"notes": notes_on(table)})


def _by_label(ratings: Ratings, rows: dict[str, Row]) -> tuple[LabelRow, ...]:
    percent = rows["percent"].statistic
    two = len(ratings.raters) == 2
    found = [
        LabelRow(
            label=None,
            first=percent if two else None,
            reference=percent if two else None,
            either=percent,
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
