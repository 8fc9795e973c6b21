"""What simulators, decisions and findings are called, for every place that shows a report of fidelity."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.annotate.fidelity.material import GroupBy, Subject
from cuecard.annotate.fidelity.model import Fidelity, FindingCount, FindingKind, Met, TurnFindings
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.parts import CheckpointStatus, PlayerRef
from cuecard.core.tasks import AmbiguityType
from cuecard.core.text import one_line
from cuecard.core.words import AMBIGUITY_WORDS, CUE_WORDS, STATUS_WORDS

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
    if len(alike) > 1 and player.version:
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
    match by:
        case "source":
            return _(SOURCE_WORDS.get(value, value))
        case "language":
            return _(_LANGUAGES.get(value, value))
        case "cue" if value in CUE_WORDS:
            return _(CUE_WORDS[value])
        case "cue":
            return _(AMBIGUITY_WORDS[AmbiguityType(value)])
        case _:
            return one_line(value, 60)


def finding_word(kind: FindingKind | None) -> str:
    """None: any finding."""
    return _("any of these") if kind is None else _(FINDING_WORDS[kind])


def findings_word(turn: TurnFindings) -> str:
    """What is wrong with a turn, with the words that show it."""
    return "; ".join(
        f"{finding_word(f.kind)} ({one_line(f.found, _FOUND)})" if f.found else finding_word(f.kind)
        for f in turn.findings
    )


def place_word(turn: TurnFindings) -> str:
    """Where a turn is."""
    return _("trial {trial}, turn {turn}").format(trial=turn.trial_id, turn=turn.turn)


def rate_word(count: FindingCount | None) -> str:
    """How many turns of a hundred, with the interval: `7.5 [2.1, 19.0]`."""
    rate = count.rate if count else None
    if rate is None or rate.value is None:
        return "–"
    if rate.interval is None:
        return f"{100 * rate.value:.1f}"
    low, high = (100 * end for end in rate.interval)
    return f"{100 * rate.value:.1f} [{low:.1f}, {high:.1f}]"


def circumstances(found: Fidelity) -> list[str]:
    """What the figures are about, a sentence each."""
    turns = ngettext("{n} user turn", "{n} user turns", found.turns).format(n=f"{found.turns:,}")
    lines = [
        ngettext(
            "{turns} of {trials} trial, of which people played {played}.",
            "{turns} of {trials} trials, of which people played {played}.",
            found.trials,
        ).format(turns=turns, trials=f"{found.trials:,}", played=f"{found.played:,}"),
        _("Simulators: {simulators}. People: {people}.").format(
            simulators=", ".join(simulator_word(p, found.simulators) for p in found.simulators)
            or _("none"),
            people=", ".join(one_line(name, 40) for name in found.people) or _("nobody"),
        ),
        _(
            "Held for right: what was adjudicated, else the person who played, else most of those who decided"
            " blind. Intervals are 95%, by task."
        ),
    ]
    if found.unsure or found.undecided:
        lines.append(
            _(
                "Left open, and not counted: {unsure} times by people, {undecided} by simulators."
            ).format(unsure=found.unsure, undecided=found.undecided)
        )
    if found.stale:
        lines.append(
            ngettext(
                "{n} reply of a simulator is to words that were taken back, and does not count.",
                "{n} replies of simulators are to words that were taken back, and do not count.",
                found.stale,
            ).format(n=found.stale)
        )
    if any(player.baseline for player in found.simulators):
        lines.append(_("A baseline is an embedded offline player, not an LLM."))
    return lines
