"""What simulators, decisions and findings are called, for every place that shows a report of fidelity."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.annotate.fidelity.material import GroupBy, Subject
from cuecard.annotate.fidelity.model import FindingKind, Met
from cuecard.core.i18n import N_, _
from cuecard.core.parts import CheckpointStatus, PlayerRef
from cuecard.core.text import one_line
from cuecard.core.words import STATUS_WORDS

SUBJECT_WORDS: dict[Subject, str] = {
    "cue": N_("Cues met or not"),
    "status": N_("Readings of checkpoint turns"),
}
GROUP_WORDS: dict[GroupBy, str] = {
    "cue": N_("By cue"),
    "stage": N_("By stage or step"),
    "language": N_("By language"),
    "agent": N_("By agent"),
    "source": N_("By when the simulator was asked"),
}
SOURCE_WORDS: dict[str, str] = {
    "played": N_("played itself"),
    "live": N_("listened live"),
    "later": N_("asked afterwards"),
}
FINDING_WORDS: dict[FindingKind, str] = {
    FindingKind.EARLY: N_("discloses early"),
    FindingKind.LATE: N_("discloses late"),
    FindingKind.STATUS: N_("reads the turn otherwise"),
    FindingKind.LEAK: N_("gives gold away"),
    FindingKind.FORBIDDEN: N_("says what is forbidden"),
    FindingKind.AHEAD: N_("says a later line or clue"),
    FindingKind.SKIPPED: N_("skips a stage"),
    FindingKind.DOUBLED: N_("says a line twice, or two at once"),
    FindingKind.MISSING_LINE: N_("leaves the line out"),
    FindingKind.MARKDOWN: N_("writes Markdown"),
    FindingKind.STRUCTURE: N_("asks for triples, tables and the like"),
    FindingKind.COACHED: N_("tells the agent what to ask"),
    FindingKind.IGNORED: N_("ignores a question"),
    FindingKind.UNUSABLE: N_("cannot be used"),
}
MET_WORDS: dict[Met, str] = {"": N_("all"), "met": N_("met"), "not_met": N_("not met")}
_FOUND = 40
_LANGUAGES = {"en": N_("English"), "zh": N_("Chinese")}


def simulator_word(player: PlayerRef, among: Sequence[PlayerRef] = ()) -> str:
    """Name and model, with the version where two of `among` would be called alike, and whether it is an
    offline baseline: nobody may take it for a model.
    """
    name, model = one_line(player.name, 40), one_line(player.model, 40)
    word = f"{name} ({model})" if model and model != name else name
    alike = [p for p in among if (p.name, p.model) == (player.name, player.model)]
    if len(alike) > 1:
        word += f" v{one_line(player.version, 12)}"
    return _("{name} (baseline)").format(name=word) if player.baseline else word


def decision_word(subject: Subject, decision: str) -> str:
    """`met`, `not met`, a status in words; a dash where nothing was decided."""
    if not decision:
        return "–"
    if subject == "cue":
        return _("met") if decision == "yes" else _("not met")
    return _(STATUS_WORDS[CheckpointStatus(decision)])


def group_word(by: GroupBy, value: str) -> str:
    """The value of a grouping as it is read."""
    if not value:
        return _("not ambiguous") if by == "cue" else "–"
    if by == "source" and value in SOURCE_WORDS:
        return _(SOURCE_WORDS[value])
    return value or "–"
