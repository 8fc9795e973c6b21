"""How far simulators and people decide alike: overall and by what the turns are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from cuecard.annotate.agreement import (
    Ratings,
    ac1_coefficient,
    ceiling_table,
    cohen_coefficient,
    confusion_matrix,
    mean_of,
    percent_coefficient,
    short_coefficients,
    with_intervals,
)
from cuecard.annotate.agreement.bootstrap import RESAMPLES
from cuecard.annotate.fidelity.material import GROUPINGS, Case, Material, Subject, domain_of
from cuecard.annotate.fidelity.model import Agreement, Ceiling, PeopleAgreement
from cuecard.core.parts import PlayerRef

SUBJECTS: tuple[Subject, ...] = ("cue", "status")
SIMULATOR, REFERENCE = "simulator", "reference"


def agreements(material: Material, *, resamples: int = RESAMPLES) -> Iterator[Agreement]:
    """Every simulator against the reference, of each subject: all turns that both decided, then parts of
    them by each grouping in which they differ, in the order of the stages, else the largest part first.
    """
    for player in material.simulators:
        for subject in SUBJECTS:
            cases = _decided(material, subject, player)
            if not cases:
                continue
            yield _agreement(cases, subject, player, resamples)
            for by in GROUPINGS:
                parts: dict[str, list[Case]] = defaultdict(list)
                for case in cases:
                    parts[case.group(by, player)].append(case)
                if len(parts) < 2:
                    continue
                for value, part in sorted(parts.items(), key=_order):
                    found = _agreement(part, subject, player, resamples)
                    yield found.model_copy(update={"by": by, "value": value, "confusion": None})


def among_people(material: Material, *, resamples: int = RESAMPLES) -> Iterator[PeopleAgreement]:
    """How far people agree with each other, of each subject, where two or more decided on the same turn."""
    for subject in SUBJECTS:
        cases = [c for c in material.cases if c.subject == subject and len(c.people) >= 2]
        people = sorted({name for case in cases for name in case.people})
        if not cases:
            continue
        ratings = _ratings(cases, subject, people)
        pairs = [ratings.of_raters(pair) for pair in combinations(ratings.raters, 2)]
        percent, kappa, ac1 = with_intervals(
            [
                percent_coefficient(ratings),
                mean_of([cohen_coefficient(pair) for pair in pairs]),
                ac1_coefficient(ratings),
            ],
            [case.task.id for case in cases],
            resamples=resamples,
        )
        yield PeopleAgreement(
            subject=subject,
            people=tuple(people),
            n=len(cases),
            tasks=_tasks(cases),
            percent=percent,
            cohen_kappa=kappa,
            ac1=ac1,
        )


def ceilings(material: Material, *, resamples: int = RESAMPLES) -> Iterator[Ceiling]:
    """Each simulator beside people, on the turns that it and two people or more decided."""
    for player in material.simulators:
        for subject in SUBJECTS:
            cases = [
                case
                for case in material.cases
                if case.subject == subject and len(case.people) >= 2 and case.said(player)
            ]
            people = sorted({name for case in cases for name in case.people})
            if not cases:
                continue
            ratings = _ratings(cases, subject, people, player)
            table = ceiling_table(
                ratings,
                SIMULATOR,
                [_person(name) for name in people],
                [case.task.id for case in cases],
                resamples=resamples,
            )
            if table:
                yield Ceiling(simulator=player, subject=subject, table=table)


def _decided(material: Material, subject: Subject, player: PlayerRef) -> list[Case]:
    return [
        case
        for case in material.cases
        if case.subject == subject and case.reference and case.said(player)
    ]


def _agreement(
    cases: Sequence[Case], subject: Subject, player: PlayerRef, resamples: int
) -> Agreement:
    rows = (
        row
        for case in cases
        for row in (
            (case.name, SIMULATOR, case.said(player)),
            (case.name, REFERENCE, case.reference),
        )
    )
    ratings = Ratings.from_rows(rows, domain=domain_of(subject))
    percent, kappa, ac1 = with_intervals(
        short_coefficients(ratings), [case.task.id for case in cases], resamples=resamples
    )
    return Agreement(
        simulator=player,
        subject=subject,
        by=None,
        value="",
        n=len(cases),
        tasks=_tasks(cases),
        percent=percent,
        cohen_kappa=kappa,
        ac1=ac1,
        confusion=confusion_matrix(ratings),
    )


def _ratings(
    cases: Sequence[Case], subject: Subject, people: Sequence[str], player: PlayerRef | None = None
) -> Ratings:
    """A column for each of the people, after one of the simulator if there is one."""
    rows: list[tuple[str, str, str | None]] = []
    for case in cases:
        if player is not None:
            rows.append((case.name, SIMULATOR, case.said(player)))
        rows += [(case.name, _person(name), case.people.get(name)) for name in people]
    return Ratings.from_rows(rows, domain=domain_of(subject))


def _person(name: str) -> str:
    return f"person:{name}"


def _tasks(cases: Sequence[Case]) -> int:
    return len({case.task.id for case in cases})


def _order(part: tuple[str, list[Case]]) -> tuple[int, int, str]:
    value, cases = part
    return (int(value), 0, "") if value.isdigit() else (0, -len(cases), value)
