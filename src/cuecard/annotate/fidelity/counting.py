"""How often each finding was made, and how like the simulator's words are the person's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cuecard.annotate.agreement import Coefficient, share, with_intervals
from cuecard.annotate.agreement.bootstrap import RESAMPLES
from cuecard.annotate.agreement.coefficient import ratio
from cuecard.annotate.fidelity.chrf import chrf
from cuecard.annotate.fidelity.findings import SEVERITY, findings_of_person, gives_more
from cuecard.annotate.fidelity.material import Case, Material
from cuecard.annotate.fidelity.model import (
    FindingCount,
    FindingKind,
    Met,
    Similarity,
    SimulatorFindings,
    TurnFindings,
)
from cuecard.core.i18n import _
from cuecard.core.parts import PlayerRef, UserReply
from cuecard.core.tasks import CheckpointChain
from cuecard.core.text import normalise

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OF_PEOPLE = tuple(kind for kind in SEVERITY if kind is not FindingKind.UNUSABLE)
"""What can be found in the words of people too."""

Kinds = dict[tuple[int, int], frozenset[FindingKind]]


def counted(
    material: Material, turns: Sequence[TurnFindings], *, resamples: int = RESAMPLES
) -> Iterator[SimulatorFindings]:
    """Each simulator's findings in numbers, then those in the words of the people who played."""
    for player in material.simulators:
        cases = [case for case in material.cases if case.voice(player)]
        kinds = {
            (turn.trial_id, turn.turn): frozenset(finding.kind for finding in turn.findings)
            for turn in turns
            if turn.simulator == player
        }
        yield _of_one(player, cases, kinds, resamples)
    played = [case for case in material.cases if case.person]
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
    """The turns that could have each of the findings that are told against what is held for right."""
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
    """Of all freely said turns, then of those where the reference says met and not met, if any."""
    pairs: list[tuple[Case, float, int, int]] = []
    for case in cases:
        voice = case.voice(player)
        if voice is None or case.person is None or _as_written(case, voice.reply, case.person):
            continue
        ours, theirs = voice.reply.text, case.person.text
        likeness = chrf(ours, theirs)
        if likeness is not None:
            pairs.append((case, likeness, _characters(ours), _characters(theirs)))
    kinds: tuple[Met, ...] = ("", "met", "not_met")
    for met in kinds:
        chosen = [pair for pair in pairs if not met or _met(pair[0]) == met]
        if not chosen:
            continue
        likeness, length = with_intervals(
            [_mean([pair[1] for pair in chosen]), _length([pair[2:] for pair in chosen])],
            [pair[0].task.id for pair in chosen],
            resamples=resamples,
        )
        yield Similarity(
            met=met,
            n=len(chosen),
            tasks=_tasks([pair[0] for pair in chosen]),
            chrf=likeness,
            length=length,
        )


def _met(case: Case) -> Met:
    if not case.decides or not case.reference:
        return ""
    return "met" if gives_more(case.reference) else "not_met"


def _as_written(case: Case, one: UserReply, other: UserReply) -> bool:
    """Whether both say what the task has them say at this place: the stage's line, the step's clue."""
    line = ""
    if isinstance(case.task.gold, CheckpointChain) and case.checkpoint is not None:
        about = case.task.gold.steps[case.checkpoint].ambiguity
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
        of=_quotient,
        n=len(values),
        undefined=_("nothing to compare"),
        bounds=(0.0, 1.0),
    )


def _length(lengths: Sequence[tuple[int, int]]) -> Coefficient:
    import numpy as np

    return Coefficient(
        name="length",
        terms=np.array(lengths, dtype=np.float64).reshape(len(lengths), 2),
        of=_quotient,
        n=len(lengths),
        undefined=_("nothing to compare"),
        bounds=(0.0, float("inf")),
    )


def _quotient(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return ratio(sums[..., 0], sums[..., 1])


def _characters(text: str) -> int:
    return len("".join(text.split()))


def _tasks(cases: Sequence[Case]) -> int:
    return len({case.task.id for case in cases})
