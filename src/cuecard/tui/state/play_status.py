"""The line above the input: what sending now would be recorded as, and what speaks against it."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.core.i18n import N_, _
from cuecard.core.parts import PlayerRef
from cuecard.core.tasks import CueKind
from cuecard.core.text import one_line
from cuecard.core.users.faults import Fault
from cuecard.tui.state.labels import player_label
from cuecard.tui.state.play import Mark, PlayState, Reading
from cuecard.tui.state.play_evidence import quoted
from cuecard.tui.state.play_faults import fault_label
from cuecard.tui.state.transcript import Piece, Tone

MARK: dict[Mark, tuple[str, str, Tone]] = {
    Mark.MET: ("✓", N_("the cue is met"), "good"),
    Mark.NOT_MET: ("✗", N_("the cue is not met"), "bad"),
    Mark.UNSURE: ("~", N_("cannot tell"), "muted"),
}
READING: dict[Reading, tuple[str, str]] = {
    Reading.ASKED: ("a", N_("asks about this step's ambiguity")),
    Reading.ASKED_ELSE: ("o", N_("asks about something else")),
    Reading.RIGHT: ("r", N_("gives the right answer")),
    Reading.WRONG: ("w", N_("gives a wrong answer")),
    Reading.SEARCHED: ("n", N_("neither asks nor answers")),
    Reading.COMPLETED: ("c", N_("answers the whole task (ends the dialogue)")),
}


def status_pieces(
    state: PlayState,
    text: str,
    calls: int = 0,
    hints: Sequence[Fault] = (),
    waits_for: str = "",
) -> list[Piece]:
    """`calls`: tool calls that the agent has made in the turn that it is working on. `hints`: what is
    wrong with the words and only mentioned. `waits_for`: what has to happen before the agent can begin.
    """
    match state.phase:
        case "writing" | "concluding" if waits_for:
            return [Piece(waits_for, "stage")]
        case "writing":
            at_work = _("The agent is at work…")
            counted = " " + _("tool calls: {n}").format(n=calls) if calls else ""
            return [Piece(at_work + counted, "muted")]
        case "stopped":
            told = _("You stopped the agent before it said anything: F9 retries, F10 takes back.")
            return [Piece(told, "stage")]
        case "concluding":
            return [Piece(_("The agent hands in, and that is judged…"), "muted")]
        case "ended":
            return [Piece(_("The dialogue has ended."), "muted")]
        case "yours":
            pass
    pieces = [*_about_agent(state), *_about_words(state, text)]
    for term in state.forbidden_in(text):
        pieces.append(Piece(" ⚠ " + _("must not be said: {term}").format(term=term), "bad"))
    pieces += [Piece(" · " + fault_label(hint, 30), "muted") for hint in hints if text.strip()]
    return pieces


def _about_agent(state: PlayState) -> list[Piece]:
    pieces = _about_reply(state)
    if state.evidence:
        pieces.append(Piece(" " + quoted(state.evidence, 24), "muted"))
    if state.interrupted:
        pieces.append(Piece(" · " + _("F9 retries, F10 takes your words back"), "muted"))
    return pieces


def _about_reply(state: PlayState) -> list[Piece]:
    if state.opening:
        return [Piece(_("You begin."), "stage")]
    if state.chain and state.step_number is not None:
        if state.reading is None:
            return [Piece(_("^t How do you read this turn?"), "stage")]
        return [Piece(_("read as: {what}").format(what=_(READING[state.reading][1])), "good")]
    if state.stage is None:
        if state.task.stages:
            return [Piece(_("Every stage is said: ^g ends the dialogue."), "stage")]
        return [Piece(_("^g ends the dialogue when you have your answer."), "muted")]
    if state.stage.cue.kind is CueKind.START:
        return [Piece(_("The conversation has started."), "muted")]
    if state.mark is None:
        return [Piece(_("^t Did the reply meet the cue?"), "stage")]
    glyph, label, tone = MARK[state.mark]
    return [Piece(f"{glyph} {_(label)}", tone)]


def _about_words(state: PlayState, text: str) -> list[Piece]:
    if not text.strip():
        return []
    stage = state.discloses(text)
    edited = " " + _("(edited)") if state.edited(text) else ""
    if stage is not None:
        return [Piece(" · " + _("says stage {n}").format(n=stage) + edited, "stage")]
    if state.chain and not state.opening and state.says_line(text):
        return [Piece(" · " + _("gives the clue") + edited, "stage")]
    if state.opening:
        return [Piece(edited, "muted")] if edited else []
    return [Piece(" · " + _("your own words"), "muted")]


def heading(state: PlayState, agent: PlayerRef) -> list[Piece]:
    """The head of the screen: the number of the turn, the agent, and the task as far as there is room."""
    turn = len(state.dialogue.of("agent")) + (0 if state.phase == "ended" else 1)
    return [
        Piece(_("turn {n}").format(n=turn), "strong"),
        Piece("  " + _("agent") + " ", "muted"),
        Piece(player_label(agent)),
        Piece("  " + one_line(state.task.title, 100), "muted"),
    ]
