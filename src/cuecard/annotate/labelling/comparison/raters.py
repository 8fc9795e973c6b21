"""Who is compared with whom, and the two columns of labels that this means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from cuecard.annotate.agreement import Ratings
from cuecard.annotate.agreement.ratings import MISSING
from cuecard.annotate.labelling.comparison.material import Case, Material
from cuecard.core.tasks.base import Frozen

Role = Literal["judge", "person", "majority", "adjudicated", "settled"]


class Rater(Frozen):
    """`majority`: what most people said, ties left out; `adjudicated`: what was decided on disputed items;
    `settled`: that where it was decided, else the majority. The last three have no name.
    """

    role: Role
    name: str = ""

    @property
    def key(self) -> str:
        """Unlike any other rater's: a judge and a person may bear the same name."""
        return f"{self.role}:{self.name}" if self.name else self.role

    @classmethod
    def of_key(cls, key: str) -> Rater:
        """The rater of this key."""
        role, _colon, name = key.partition(":")
        return cls.model_validate({"role": role, "name": name})


MAJORITY = Rater(role="majority")
ADJUDICATED = Rater(role="adjudicated")
SETTLED = Rater(role="settled")


@dataclass(frozen=True)
class Columns:
    """The labels of some raters on the `cases` that all of them decided."""

    cases: tuple[Case, ...]
    ratings: Ratings
    groups: tuple[str, ...]
    weights: tuple[float, ...] | None


def said_by(rater: Rater, case: Case) -> str:
    """What the rater said of the case, "" if nothing."""
    match rater.role:
        case "judge":
            return case.decisions.get(rater.name, "")
        case "person":
            return case.labels.get(rater.name, "")
        case "majority":
            return case.majority
        case "adjudicated":
            return case.adjudicated
        case "settled":
            return case.adjudicated or case.majority


def columns_of(
    material: Material,
    raters: Sequence[Rater],
    cases: Sequence[Case] | None = None,
    *,
    gaps: bool = False,
    least: int = 1,
) -> Columns:
    """The raters' labels on the cases (all of the material's by default) that all of them decided; with `gaps`
    on those that any of them did, which count as labelled where at least so many people did (`least`).
    """
    people = [rater for rater in raters if rater.role != "judge"]
    needed = least if gaps else len(people)
    code = {label: number for number, label in enumerate(material.domain)}
    chosen: list[Case] = []
    codes: list[tuple[int, ...]] = []
    for case in material.cases if cases is None else cases:
        row = tuple(code.get(said_by(rater, case), MISSING) for rater in raters)
        if (any if gaps else all)(label != MISSING for label in row):
            chosen.append(case)
            codes.append(row)
    keys = tuple(rater.key for rater in raters)
    names = tuple(case.name for case in chosen)
    return Columns(
        cases=tuple(chosen),
        ratings=Ratings(names, keys, material.domain, tuple(codes)),
        groups=tuple(case.task for case in chosen),
        weights=material.weights(
            chosen, lambda case: sum(said_by(each, case) in code for each in people) >= needed
        ),
    )


def references_of(material: Material) -> tuple[Rater, ...]:
    """What judges are held against, the first being what stands for all people: the majority of blind labels
    (with one person, that person). What was adjudicated comes after: an adjudicator has seen the decisions.
    """
    people = people_of(material)
    first = (MAJORITY,) if len(people) > 1 else people
    adjudicated = any(case.adjudicated for case in material.cases)
    others = people if len(people) > 1 else ()
    return (*first, *((SETTLED, ADJUDICATED) if adjudicated else ()), *others)


def judges_of(material: Material) -> tuple[Rater, ...]:
    return tuple(Rater(role="judge", name=name) for name in material.judges)


def people_of(material: Material) -> tuple[Rater, ...]:
    return tuple(Rater(role="person", name=name) for name in material.people)


def pairs_of(material: Material) -> Iterator[tuple[Rater, Rater]]:
    """Every judge against every reference, then every two people."""
    for judge in judges_of(material):
        for reference in references_of(material):
            yield judge, reference
    yield from combinations(people_of(material), 2)
