"""What is wrong with a simulator's turn (findings and their severity), and the turns behind a number of the report."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from cuecard.annotate.fidelity.inputs import (
    Case,
    FidelityInputs,
    GroupBy,
    Subject,
    Voice,
    decision_of,
)
from cuecard.annotate.fidelity.model import Fidelity, Finding, FindingKind, TurnFindings
from cuecard.core.engine.messages import CheckpointStatus, Flag, FlagKind, PlayerRef, UserReply
from cuecard.core.tasks.base import Frozen
from cuecard.core.users.checks import structures_in
from cuecard.core.users.faults import FaultKind, faults_in
from cuecard.core.verdicts import Decision, Item, ItemKind

SEVERITY: dict[FindingKind, int] = {
    FindingKind.FORBIDDEN: 5,
    FindingKind.LEAK: 5,
    FindingKind.EARLY: 4,
    FindingKind.AHEAD: 4,
    FindingKind.SKIPPED: 4,
    FindingKind.LATE: 3,
    FindingKind.MISSING_LINE: 3,
    FindingKind.DOUBLED: 3,
    FindingKind.UNUSABLE: 3,
    FindingKind.COACHED: 2,
    FindingKind.IGNORED: 2,
    FindingKind.STATUS: 2,
    FindingKind.STRUCTURE: 1,
    FindingKind.MARKDOWN: 1,
}
"""5: discloses gold, so that the score no longer measures the agent. 4: gives the agent what it has not asked
for. 3: withholds what it has asked for, or gives it late. 2: the dialogue goes another way than with a
person. 1: no person talks like this.
"""
_GIVING = frozenset(
    {
        Decision.YES.value,
        CheckpointStatus.AMBIGUITY_DETECTED.value,
        CheckpointStatus.CORRECT_ANSWER.value,
        CheckpointStatus.MISSED_AMBIGUITY_CORRECT.value,
        CheckpointStatus.TASK_COMPLETED.value,
    }
)
"""Decisions after which the agent gets a line or a clue, or may go on."""
_LEAKS = frozenset(
    {
        FindingKind.LEAK,
        FindingKind.FORBIDDEN,
        FindingKind.AHEAD,
        FindingKind.SKIPPED,
        FindingKind.DOUBLED,
    }
)
"""What a recorded leak may be called once it is looked at: checks of a reply tell lines and names apart less."""
_FORMS = frozenset({FindingKind.MARKDOWN, FindingKind.STRUCTURE})


def turns_with_findings(inputs: FidelityInputs) -> list[TurnFindings]:
    """Every turn of a simulator with a finding: the most severe first, then those with more findings, then by trial and
    turn.
    """
    found = [
        turn
        for case in inputs.cases
        for voice in case.voices
        if (turn := turn_findings(case, voice)) is not None
    ]
    return sorted(
        found,
        key=lambda turn: (
            -turn.severity,
            -sum(SEVERITY[finding.kind] for finding in turn.findings),
            turn.trial_id,
            turn.turn,
            turn.simulator.name,
        ),
    )


def turn_findings(case: Case, voice: Voice) -> TurnFindings | None:
    """The findings of one simulator's turn, with the texts to read beside them; None if there are none."""
    findings = tuple(findings_in(case, voice))
    if not findings:
        return None
    return TurnFindings.from_fields(
        case,
        task_id=case.task.id,
        agent=case.agent.name,
        simulator=voice.player,
        source=voice.source,
        reference=case.reference if case.decides else "",
        decision=case.said(voice.player),
        person=case.player,
        person_text=case.person.text if case.person else "",
        simulator_text=voice.reply.text,
        reason=voice.reply.reason,
        findings=findings,
        severity=max(SEVERITY[finding.kind] for finding in findings),
    )


def findings_in(case: Case, voice: Voice) -> Iterator[Finding]:
    """The findings of one turn, the most severe first; each kind at most once."""
    found = {finding.kind: finding for finding in _of_words(case, voice.reply)}
    for finding in _of_flags(voice.reply.flags, frozenset(found)):
        found.setdefault(finding.kind, finding)
    against = _against_reference(case, voice)
    kinds = [*([against] if against else []), *found.values()]
    yield from sorted(kinds, key=lambda finding: -SEVERITY[finding.kind])


def findings_of_person(case: Case) -> tuple[Finding, ...]:
    """The findings, by the same rules, in the turn of the person who played. The reference is their own decision,
    unless the turn was adjudicated.
    """
    if case.person is None:
        return ()
    player = PlayerRef(name=case.player, kind="human")
    return tuple(findings_in(case, Voice(player=player, source="played", reply=case.person)))


def gives_more(decision: str) -> bool:
    """Whether this decision gives the agent something: the line, the clue, or leave to go on."""
    return decision in _GIVING


def _against_reference(case: Case, voice: Voice) -> Finding | None:
    reference, said = case.reference, decision_of(voice.reply)
    if not case.decides or not reference:
        return None
    # Out of patience, a script says the line though it holds the cue for unmet.
    gives = gives_more(said) or voice.reply.stage is not None
    should = gives_more(reference)
    if gives and not should:
        return Finding(kind=FindingKind.EARLY)
    if not said:
        return None
    if should and not gives:
        return Finding(kind=FindingKind.LATE)
    if case.subject == "status" and said != reference:
        return Finding(kind=FindingKind.STATUS)
    return None


def _of_words(case: Case, reply: UserReply) -> Iterator[Finding]:
    for fault in faults_in(case.task, case.before, reply):
        # Early is told against what is held for right, not against the speaker's own decision.
        if fault.kind is not FaultKind.EARLY:
            yield Finding(kind=FindingKind(fault.kind.value), found=fault.found)


def _of_flags(flags: tuple[Flag, ...], known: frozenset[FindingKind]) -> Iterator[Finding]:
    """Findings recorded with the reply that its words do not show any more, because they were corrected."""
    for flag in flags:
        match flag.kind:
            case FlagKind.LEAK:
                kind, same = FindingKind.LEAK, _LEAKS
            case FlagKind.FORMAT:
                asks = structures_in(flag.found)
                kind, same = FindingKind.STRUCTURE if asks else FindingKind.MARKDOWN, _FORMS
            case FlagKind.UNUSABLE:
                kind, same = FindingKind.UNUSABLE, frozenset({FindingKind.UNUSABLE})
        if not known & same:
            yield Finding(kind=kind, found=flag.found, flagged=True)


class Turns(Frozen):
    """A choice of turns. `simulator` None: of all. Conditions: on this `subject` and `task`; in the group (`by`,
    `value`); with this `finding`, or with any (`found`); `decided`: only those that simulator and reference decided,
    and of these, as in a confusion matrix, those on which they said `row` and `column` ("": anything).
    """

    simulator: PlayerRef | None = None
    subject: Subject | None = None
    task: str = ""
    by: GroupBy | None = None
    value: str = ""
    finding: FindingKind | None = None
    found: bool = False
    decided: bool = False
    row: str = ""
    column: str = ""


@dataclass(frozen=True)
class TurnRow:
    """A simulator's turn with its findings, as a line of a list."""

    case: Case
    voice: Voice
    findings: tuple[Finding, ...] = ()

    @property
    def reference(self) -> str:
        return self.case.reference if self.case.decides else ""

    @property
    def decision(self) -> str:
        return self.case.said(self.voice.player)

    @property
    def differs(self) -> bool:
        return bool(self.reference and self.decision) and self.reference != self.decision

    @property
    def severity(self) -> int:
        return max((SEVERITY[finding.kind] for finding in self.findings), default=0)

    @property
    def item(self) -> Item:
        """What people label of it."""
        kind = ItemKind.STATUS if self.case.subject == "status" else ItemKind.CUE
        return Item(kind=kind, index=self.case.turn)


def turns_at(inputs: FidelityInputs, found: Fidelity, wanted: Turns) -> tuple[TurnRow, ...]:
    """The turns of this choice, the worst first; then those decided otherwise than the reference; then the rest."""
    findings = {
        (turn.trial_id, turn.turn, turn.simulator): turn.findings
        for turn in found.worst
        if wanted.simulator in (None, turn.simulator)
    }
    rows: list[TurnRow] = []
    for case in inputs.cases:
        for voice in case.voices:
            if wanted.simulator not in (None, voice.player):
                continue
            key = (case.trial_id, case.turn, voice.player)
            row = TurnRow(case, voice, findings.get(key, ()))
            if _is_wanted(row, wanted):
                rows.append(row)
    return tuple(sorted(rows, key=lambda row: (-row.severity, not row.differs)))


def _is_wanted(row: TurnRow, wanted: Turns) -> bool:
    case = row.case
    if wanted.subject not in (None, case.subject):
        return False
    if wanted.task not in ("", case.task.id):
        return False
    if wanted.by and case.group(wanted.by, row.voice.player) != wanted.value:
        return False
    if wanted.found and not row.findings:
        return False
    if wanted.finding and wanted.finding not in {finding.kind for finding in row.findings}:
        return False
    if wanted.decided and not (row.reference and row.decision):
        return False
    return wanted.row in ("", row.decision) and wanted.column in ("", row.reference)


def open_to(
    rows: Collection[TurnRow], person: str, known: Collection[tuple[int, str]]
) -> tuple[TurnRow, ...]:
    """The turns that `person` may read without spoiling a blind decision: those they decided, or whose decision they
    know (`known`: trials and items' keys that they have labelled, in any phase).
    """
    return tuple(
        row
        for row in rows
        if person in row.case.people
        or row.case.player == person
        or (row.case.trial_id, row.item.key) in known
    )
