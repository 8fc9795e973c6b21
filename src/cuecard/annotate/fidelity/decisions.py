"""Simulators compared with people turn by turn: agreement of decisions, rates of findings, similarity of words."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from cuecard.annotate.agreement.coefficients import (
    ac1_coefficient,
    cohen_coefficient,
    mean_of,
    percent_coefficient,
)
from cuecard.annotate.agreement.intervals import RESAMPLES, with_intervals
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.annotate.agreement.report import ceiling_table
from cuecard.annotate.agreement.tables import confusion_matrix, short_coefficients
from cuecard.annotate.fidelity.findings import SEVERITY, findings_of_person, gives_more
from cuecard.annotate.fidelity.inputs import GROUPINGS, Case, FidelityInputs, Subject
from cuecard.annotate.fidelity.model import (
    Agreement,
    Ceiling,
    FindingCount,
    FindingKind,
    Met,
    PeopleAgreement,
    Similarity,
    SimulatorFindings,
    TurnFindings,
)
from cuecard.annotate.labelling.comparison_inputs import domain_of
from cuecard.core.engine.messages import PlayerRef, UserReply
from cuecard.core.families.registry import chain_of
from cuecard.core.i18n import _
from cuecard.core.tables.table import Coefficient, quotient, share
from cuecard.core.text import normalise

ORDER = 6
BETA = 2.0


def chrf(text: str, reference: str) -> float | None:
    """The character n-gram F-score of `text` against `reference`, 0 to 1 (Popović 2015, "chrF: character
    n-gram F-score for automatic MT evaluation", WMT, 392-395; beta 2 as in Popović 2016): precision and
    recall of the n-grams of 1 to `ORDER` characters, each the plain mean over the lengths that both texts
    have, put together as F with recall weighing `BETA` times as much. Blanks are left out, case counts.

    None where one of the texts has no characters.
    """
    said, wanted = "".join(text.split()), "".join(reference.split())
    if not said or not wanted:
        return None
    lengths = range(1, min(ORDER, len(said), len(wanted)) + 1)
    precision = recall = 0.0
    for n in lengths:
        ours, theirs = _grams(said, n), _grams(wanted, n)
        shared = (ours & theirs).total()
        precision += shared / ours.total()
        recall += shared / theirs.total()
    if not precision + recall:
        return 0.0
    precision, recall = precision / len(lengths), recall / len(lengths)
    return (1 + BETA**2) * precision * recall / (BETA**2 * precision + recall)


def _grams(text: str, n: int) -> Counter[str]:
    return Counter(text[at : at + n] for at in range(len(text) - n + 1))


OF_PEOPLE = tuple(kind for kind in SEVERITY if kind is not FindingKind.UNUSABLE)
"""Findings that people's turns can have too."""

Kinds = dict[tuple[int, int], frozenset[FindingKind]]


def counted(
    inputs: FidelityInputs, turns: Sequence[TurnFindings], *, resamples: int = RESAMPLES
) -> Iterator[SimulatorFindings]:
    """The rates of findings for each simulator, then for the people who played."""
    for player in inputs.simulators:
        cases = [case for case in inputs.cases if case.voice(player)]
        kinds = {
            (turn.trial_id, turn.turn): frozenset(finding.kind for finding in turn.findings)
            for turn in turns
            if turn.simulator == player
        }
        yield _of_one(player, cases, kinds, resamples)
    played = [case for case in inputs.cases if case.person]
    if played:
        faults: Kinds = {
            (case.trial_id, case.turn): frozenset(f.kind for f in findings_of_person(case))
            for case in played
        }
        could = _of_reference([case for case in played if case.reference and case.decides])
        # Nobody is late, or reads a turn otherwise, by their own decision.
        for kind in (FindingKind.LATE, FindingKind.STATUS):
            could[kind] = [case for case in could[kind] if case.adjudicated]
        counts = [_count(kind, could.get(kind, played), faults, resamples) for kind in OF_PEOPLE]
        yield SimulatorFindings(
            simulator=None,
            turns=len(played),
            tasks=_tasks(played),
            decided=sum(bool(case.played) for case in played),
            with_any=_any(played, faults, resamples),
            counts=tuple(count for count in counts if count.turns),
        )


def _of_one(
    player: PlayerRef, cases: list[Case], kinds: Kinds, resamples: int
) -> SimulatorFindings:
    compared = [case for case in cases if case.decides and case.reference]
    could = _of_reference(compared)
    could[FindingKind.STATUS] = [case for case in could[FindingKind.STATUS] if case.said(player)]
    counts = [_count(kind, could.get(kind, cases), kinds, resamples) for kind in SEVERITY]
    return SimulatorFindings(
        simulator=player,
        turns=len(cases),
        tasks=_tasks(cases),
        decided=sum(bool(case.said(player)) for case in compared),
        with_any=_any(cases, kinds, resamples),
        counts=tuple(count for count in counts if count.turns),
        similarity=tuple(_similarities(player, cases, resamples)),
    )


def _of_reference(cases: Sequence[Case]) -> dict[FindingKind, list[Case]]:
    """For each finding that depends on the reference, the turns that could have it."""
    return {
        FindingKind.EARLY: [case for case in cases if not gives_more(case.reference)],
        FindingKind.LATE: [case for case in cases if gives_more(case.reference)],
        FindingKind.STATUS: [case for case in cases if case.subject == "status"],
    }


def _count(kind: FindingKind, cases: Sequence[Case], kinds: Kinds, resamples: int) -> FindingCount:
    flags = [kind in kinds.get((case.trial_id, case.turn), frozenset()) for case in cases]
    return _rate(kind, flags, cases, resamples)


def _any(cases: Sequence[Case], kinds: Kinds, resamples: int) -> FindingCount:
    flags = [bool(kinds.get((case.trial_id, case.turn))) for case in cases]
    return _rate(None, flags, cases, resamples)


def _rate(
    kind: FindingKind | None, flags: Sequence[bool], cases: Sequence[Case], resamples: int
) -> FindingCount:
    name = kind.value if kind else "any"
    groups = [case.task.id for case in cases]
    (rate,) = with_intervals([share(name, flags)], groups, resamples=resamples)
    return FindingCount(kind=kind, n=sum(flags), turns=len(cases), tasks=_tasks(cases), rate=rate)


def _similarities(player: PlayerRef, cases: Sequence[Case], resamples: int) -> Iterator[Similarity]:
    """Similarity on all freely worded turns, then on those that the reference holds for met and for not met."""
    pairs: list[tuple[Case, float, int, int]] = []
    for case in cases:
        voice = case.voice(player)
        if voice is None or case.person is None or _as_written(case, voice.reply, case.person):
            continue
        ours, theirs = voice.reply.text, case.person.text
        similarity = chrf(ours, theirs)
        if similarity is not None:
            pairs.append((case, similarity, _characters(ours), _characters(theirs)))
    kinds: tuple[Met, ...] = ("", "met", "not_met")
    for met in kinds:
        chosen = [pair for pair in pairs if not met or _met(pair[0]) == met]
        if not chosen:
            continue
        similarity, length = with_intervals(
            [_mean([pair[1] for pair in chosen]), _length([pair[2:] for pair in chosen])],
            [pair[0].task.id for pair in chosen],
            resamples=resamples,
        )
        yield Similarity(
            met=met,
            n=len(chosen),
            tasks=_tasks([pair[0] for pair in chosen]),
            chrf=similarity,
            length=length,
        )


def _met(case: Case) -> Met:
    if not case.decides or not case.reference:
        return ""
    return "met" if gives_more(case.reference) else "not_met"


def _as_written(case: Case, one: UserReply, other: UserReply) -> bool:
    """Whether both use the task's own words here: the stage's line, the step's clue."""
    line = ""
    if (chain := chain_of(case.task)) is not None and case.checkpoint is not None:
        about = chain.steps[case.checkpoint].ambiguity
        line = about.clue if about else ""
    elif case.task.persona is not None and case.stage is not None:
        line = case.task.persona.stages[case.stage - 1].line
    line = normalise(line)
    return bool(line) and all(line in normalise(reply.text) for reply in (one, other))


def _mean(values: Sequence[float]) -> Coefficient:
    import numpy as np

    return Coefficient(
        name="chrf",
        terms=np.array([[value, 1.0] for value in values]).reshape(len(values), 2),
        of=quotient,
        n=len(values),
        undefined=_("nothing to compare"),
        bounds=(0.0, 1.0),
    )


def _length(lengths: Sequence[tuple[int, int]]) -> Coefficient:
    import numpy as np

    return Coefficient(
        name="length",
        terms=np.array(lengths, dtype=np.float64).reshape(len(lengths), 2),
        of=quotient,
        n=len(lengths),
        undefined=_("nothing to compare"),
        bounds=(0.0, float("inf")),
    )


def _characters(text: str) -> int:
    return len("".join(text.split()))


def _tasks(cases: Sequence[Case]) -> int:
    return len({case.task.id for case in cases})


SUBJECTS: tuple[Subject, ...] = ("cue", "status")
SIMULATOR, REFERENCE = "simulator", "reference"


def agreements(inputs: FidelityInputs, *, resamples: int = RESAMPLES) -> Iterator[Agreement]:
    """Every simulator against the reference, for each subject: over all turns that both decided, then by each grouping
    that has several values, in the order of the stages, else the largest group first.
    """
    for player in inputs.simulators:
        for subject in SUBJECTS:
            cases = _decided(inputs, subject, player)
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


def among_people(
    inputs: FidelityInputs, *, resamples: int = RESAMPLES
) -> Iterator[PeopleAgreement]:
    """Agreement of people with each other, for each subject with turns that two or more decided."""
    for subject in SUBJECTS:
        cases = [c for c in inputs.cases if c.subject == subject and len(c.people) >= 2]
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


def ceilings(inputs: FidelityInputs, *, resamples: int = RESAMPLES) -> Iterator[Ceiling]:
    """Each simulator compared with the agreement among people, on the turns that it and at least two people decided."""
    for player in inputs.simulators:
        for subject in SUBJECTS:
            cases = [
                case
                for case in inputs.cases
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


def _decided(inputs: FidelityInputs, subject: Subject, player: PlayerRef) -> list[Case]:
    return [
        case
        for case in inputs.cases
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
    """Ratings with a column for each person, after one for the simulator if there is one."""
    rows: list[tuple[str, str, str | None]] = []
    for case in cases:
        if player is not None:
            rows.append((case.name, SIMULATOR, case.said(player)))
        rows += [(case.name, _person(name), case.people.get(name)) for name in people]
    return Ratings.from_rows(rows, domain=domain_of(subject))


def _person(name: str) -> str:
    return f"person:{name}"


def _order(part: tuple[str, list[Case]]) -> tuple[int, int, str]:
    value, cases = part
    return (int(value), 0, "") if value.isdigit() else (0, -len(cases), value)
