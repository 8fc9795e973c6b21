"""From a figure back to the items that it is about."""

from __future__ import annotations

from collections.abc import Collection

from cuecard.annotate.labelling.comparison.material import Case, GroupBy, Material
from cuecard.annotate.labelling.comparison.raters import Rater, said_by
from cuecard.core.tasks.base import Frozen


class Place(Frozen):
    """What of a comparison: the items that `left` and `right` both decided; of them those in the confusion
    matrix's cell (`row`, `column`: what the two said, "" for anything), that are given `either` by one of
    them at least, and in the group (`by`, `value`).
    """

    left: Rater
    right: Rater
    row: str = ""
    column: str = ""
    either: str = ""
    by: GroupBy | None = None
    value: str = ""


def cases_at(material: Material, place: Place) -> tuple[Case, ...]:
    """Those on which the two differ first, else in the material's order."""
    chosen: list[tuple[bool, Case]] = []
    for case in material.cases:
        left, right = said_by(place.left, case), said_by(place.right, case)
        if not (left and right) or (place.by and case.group(place.by) != place.value):
            continue
        if (
            place.row in ("", left)
            and place.column in ("", right)
            and place.either in ("", left, right)
        ):
            chosen.append((left == right, case))
    return tuple(case for _same, case in sorted(chosen, key=lambda pair: pair[0]))


def seen_by(cases: Collection[Case], person: str) -> tuple[Case, ...]:
    """The cases that the person has labelled: what was decided on the others is not for them to see yet."""
    return tuple(case for case in cases if person in case.people)
