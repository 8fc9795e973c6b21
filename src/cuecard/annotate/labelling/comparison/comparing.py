"""The comparison itself: pure, from what was gathered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations

from cuecard.annotate.agreement import (
    AgreementTable,
    CeilingTable,
    JudgeDifference,
    Ratings,
    agreement_table,
    ceiling_table,
    compare_judges,
    reference_table,
)
from cuecard.annotate.agreement.bootstrap import RESAMPLES
from cuecard.annotate.labelling.comparison.anchoring import anchoring_of
from cuecard.annotate.labelling.comparison.groups import groups_of
from cuecard.annotate.labelling.comparison.material import Material
from cuecard.annotate.labelling.comparison.model import Comparison, Group, Pair
from cuecard.annotate.labelling.comparison.raters import (
    Rater,
    columns_of,
    judges_of,
    pairs_of,
    people_of,
    references_of,
)

Tell = Callable[[int, int], None]


def compare(
    material: Material,
    *,
    resamples: int = RESAMPLES,
    tell: Tell | None = None,
) -> Comparison:
    """Every figure of the material, with intervals by resampling tasks. `tell` hears
    how many of how many pairs are done. The same material gives the same figures.
    """
    judges, references = judges_of(material), references_of(material)
    wanted = list(pairs_of(material))
    pairs: list[Pair] = []
    for done, (left, right) in enumerate(wanted, 1):
        pairs.append(_pair(material, left, right, resamples))
        if tell:
            tell(done, len(wanted))
    return Comparison(
        subject=material.subject,
        subjects=tuple(material.subjects.items()),
        domain=material.domain,
        population=material.population,
        labelled=len(material.cases),
        tasks=len({case.task for case in material.cases}),
        unsure=material.unsure,
        unjudged=material.unjudged,
        from_set=material.from_set,
        weighted=material.weighted or any(pair.table.weighted for pair in pairs),
        bare=tuple(material.bare.items()) if material.cases else (),
        judges=material.judges,
        baselines=material.baselines,
        people=material.people,
        references=references,
        pairs=tuple(pairs),
        humans=_humans(material, resamples),
        ceilings=_ceilings(material, resamples),
        differences=_differences(material, references, resamples),
        groups=_groups(material, judges, references, resamples),
        anchoring=anchoring_of(material),
        adjudicated=sum(bool(case.adjudicated) for case in material.cases),
        causes=tuple(Counter(case.cause for case in material.cases if case.cause).most_common()),
    )


def ratings_of(material: Material) -> Ratings:
    """Everybody's labels, judges called `judge:NAME` and people `person:NAME`."""
    return columns_of(material, (*judges_of(material), *people_of(material)), gaps=True).ratings


def _pair(material: Material, left: Rater, right: Rater, resamples: int) -> Pair:
    columns = columns_of(material, (left, right))
    table = agreement_table(columns.ratings, columns.groups, columns.weights, resamples=resamples)
    reference = None
    if left.role == "judge":
        reference = reference_table(
            columns.ratings,
            left.key,
            right.key,
            columns.groups,
            columns.weights,
            resamples=resamples,
        )
    return Pair(left=left, right=right, table=table, reference=reference)


def _humans(material: Material, resamples: int) -> AgreementTable | None:
    people = people_of(material)
    if len(people) < 2:
        return None
    columns = columns_of(material, people, gaps=True)
    return agreement_table(columns.ratings, columns.groups, columns.weights, resamples=resamples)


def _ceilings(material: Material, resamples: int) -> tuple[CeilingTable, ...]:
    people = people_of(material)
    found: list[CeilingTable] = []
    for judge in judges_of(material):
        columns = columns_of(material, (judge, *people), gaps=True, least=2)
        table = ceiling_table(
            columns.ratings,
            judge.key,
            [person.key for person in people],
            columns.groups,
            columns.weights,
            resamples=resamples,
        )
        if table is not None and table.n:
            found.append(table)
    return tuple(found)


def _differences(
    material: Material, references: tuple[Rater, ...], resamples: int
) -> tuple[JudgeDifference, ...]:
    found: list[JudgeDifference] = []
    for one, other in combinations(judges_of(material), 2):
        if not references:
            break
        columns = columns_of(material, (one, other, references[0]))
        found += compare_judges(
            columns.ratings,
            (one.key, other.key),
            references[0].key,
            columns.groups,
            columns.weights,
            resamples=resamples,
        )
    return tuple(found)


def _groups(
    material: Material,
    judges: tuple[Rater, ...],
    references: tuple[Rater, ...],
    resamples: int,
) -> tuple[Group, ...]:
    return tuple(
        group
        for reference in references[:1]
        for judge in judges
        for group in groups_of(material, judge, reference, resamples=resamples)
    )
