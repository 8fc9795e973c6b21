"""Agreement of a judge by what the items are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from cuecard.annotate.agreement import Ratings, short_coefficients, with_intervals
from cuecard.annotate.labelling.comparison.material import GROUPINGS, Case, GroupBy, Material
from cuecard.annotate.labelling.comparison.model import Group
from cuecard.annotate.labelling.comparison.raters import Columns, Rater, columns_of


def groups_of(
    material: Material, judge: Rater, reference: Rater, *, resamples: int
) -> Iterator[Group]:
    """By each property on which the items differ; the largest group first."""
    columns = columns_of(material, (judge, reference))
    for by in GROUPINGS:
        parts: dict[str, list[int]] = defaultdict(list)
        for at, case in enumerate(columns.cases):
            parts[case.group(by)].append(at)
        if len(parts) < 2:
            continue
        for value, places in sorted(parts.items(), key=lambda part: (-len(part[1]), part[0])):
            yield _group(by, value, _part(columns, places), judge, reference, resamples)


def _part(columns: Columns, places: list[int]) -> Columns:
    cases: tuple[Case, ...] = tuple(columns.cases[at] for at in places)
    ratings = columns.ratings
    return Columns(
        cases=cases,
        ratings=Ratings(
            tuple(ratings.items[at] for at in places),
            ratings.raters,
            ratings.labels,
            tuple(ratings.codes[at] for at in places),
        ),
        groups=tuple(columns.groups[at] for at in places),
        weights=tuple(columns.weights[at] for at in places) if columns.weights else None,
    )


def _group(
    by: GroupBy, value: str, part: Columns, judge: Rater, reference: Rater, resamples: int
) -> Group:
    import numpy as np

    found = list(short_coefficients(part.ratings))
    if part.weights is not None:
        weights = np.array(part.weights)
        found = [coefficient.weighted(weights / weights.mean()) for coefficient in found]
    return Group(
        by=by,
        value=value,
        judge=judge.name,
        reference=reference,
        n=len(part.cases),
        tasks=len(set(part.groups)),
        statistics=with_intervals(found, part.groups, resamples=resamples),
    )
