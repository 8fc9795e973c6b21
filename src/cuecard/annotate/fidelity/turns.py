"""From a figure of fidelity back to the turns behind it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from cuecard.annotate.fidelity.findings import SEVERITY
from cuecard.annotate.fidelity.material import Case, GroupBy, Material, Subject, Voice
from cuecard.annotate.fidelity.model import Fidelity, Finding, FindingKind
from cuecard.core.parts import PlayerRef
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Item, ItemKind


class Turns(Frozen):
    """Which turns of which simulator (None: of all). Of them those on this `subject`, of this `task`, of the group (`by`,
    `value`), with this finding, or with any (`found`). `decided`: only those that it and the reference
    decided; of them, as in a confusion matrix, what the simulator (`row`) and the reference (`column`)
    said, "" for anything.
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
    """A simulator's turn as it is listed and read."""

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


def turns_at(material: Material, found: Fidelity, wanted: Turns) -> tuple[TurnRow, ...]:
    """The worst first; then those decided otherwise than the reference, else in the material's order."""
    findings = {
        (turn.trial_id, turn.turn, turn.simulator): turn.findings
        for turn in found.worst
        if wanted.simulator in (None, turn.simulator)
    }
    rows: list[TurnRow] = []
    for case in material.cases:
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
    """The rows whose decision the person has made or knows (`known`: trials and items' keys that they have
    labelled, in any phase): of the others they are to decide before they see them.
    """
    return tuple(
        row
        for row in rows
        if person in row.case.people
        or row.case.player == person
        or (row.case.trial_id, row.item.key) in known
    )
