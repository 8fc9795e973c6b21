"""Status around the input of Play: which keys work, what sending would record, and warnings about the text."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from cuecard.core.config_players import PERSON
from cuecard.core.engine.events import Event, Marked
from cuecard.core.engine.messages import Evidence, PartTaken, PlayerRef
from cuecard.core.i18n import N_, _, headed, joined, ngettext, spaced
from cuecard.core.tasks.models import CueKind
from cuecard.core.text import one_line
from cuecard.core.users.faults import Fault, FaultKind
from cuecard.tui.present.entries import Piece, Tone
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.labels import player_label
from cuecard.tui.present.play import PlayState, asked_by_agent
from cuecard.tui.present.play_decisions import Mark, Reading

# Everything at which a text area would begin a new line, besides the line feed.
_BREAKS = re.compile("[\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
_ENDS = re.compile(r"[.!?](?=\s|$)|[。！？\n]")
Location = tuple[int, int]


def selectable(raw: str) -> str:
    """The text as it can be shown, one character for each of `raw`'s: what a terminal would act on or
    reorder becomes visible.
    """
    return "".join(_shown(char) for char in _BREAKS.sub(" ", raw))


def _shown(char: str) -> str:
    if char == "\n" or char.isprintable():
        return char
    return " " if char == "\t" or unicodedata.category(char) == "Zs" else "\ufffd"


def offset_at(text: str, location: Location) -> int:
    """The character at a row and column of `text`, whose lines end with line feeds."""
    row, column = location
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[:row]) + min(column, len(lines[row]))


def location_at(text: str, offset: int) -> Location:
    before = text[:offset]
    return before.count("\n"), len(before) - (before.rfind("\n") + 1)


def sentence_at(text: str, offset: int) -> tuple[int, int]:
    """Where the sentence around `offset` starts and ends; between sentences, the one before."""
    start = 0
    for mark in _ENDS.finditer(text):
        if mark.end() > offset and text[start : mark.end()].strip():
            return _trimmed(text, start, mark.end())
        if text[mark.end() :].strip():
            start = mark.end()
    return _trimmed(text, start, len(text))


def evidence_of(raw: str, start: int, end: int) -> Evidence | None:
    """The span as evidence, without the blanks around it; None if nothing is left."""
    start, end = _trimmed(raw, *sorted((start, end)))
    return Evidence(start=start, end=end, text=raw[start:end]) if start < end else None


def quoted(evidence: Evidence, limit: int = 40) -> str:
    return f"“{one_line(evidence.text, limit)}”"


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


FAULTS: Final[dict[FaultKind, str]] = {
    FaultKind.LEAK: N_("names what nobody has said yet"),
    FaultKind.FORBIDDEN: N_("must never be said"),
    FaultKind.EARLY: N_("you marked not met; this says stage {found}"),
    FaultKind.AHEAD: N_("gives away what comes later"),
    FaultKind.SKIPPED: N_("skips a stage"),
    FaultKind.DOUBLED: N_("says a line again, or two at once"),
    FaultKind.MISSING_LINE: N_("the line itself is not said"),
    FaultKind.MARKDOWN: N_("is laid out, not spoken"),
    FaultKind.STRUCTURE: N_("asks for triples, tables and the like"),
    FaultKind.COACHED: N_("tells the agent what to ask"),
    FaultKind.IGNORED: N_("leaves a question unanswered"),
}
ASKED_ABOUT: Final = frozenset(
    {
        FaultKind.LEAK,
        FaultKind.FORBIDDEN,
        FaultKind.EARLY,
        FaultKind.AHEAD,
        FaultKind.DOUBLED,
        FaultKind.STRUCTURE,
        FaultKind.COACHED,
    }
)
_FOUND = 120


def fault_label(fault: Fault, limit: int = _FOUND) -> str:
    """`gives away what comes later: “and in which year”`."""
    label, found = _(FAULTS[fault.kind]), one_line(fault.found, limit)
    if fault.kind is FaultKind.EARLY:
        return label.format(found=found)
    # The line that is not said stands on the card.
    plain = fault.kind is FaultKind.MISSING_LINE or not found
    return label if plain else headed(label, found)


def to_ask(faults: Iterable[Fault]) -> list[Fault]:
    """What the person is asked about before it is sent."""
    return [fault for fault in faults if fault.kind in ASKED_ABOUT]


def to_hint(faults: Iterable[Fault]) -> list[Fault]:
    """What is only mentioned."""
    return [fault for fault in faults if fault.kind not in ASKED_ABOUT]


class InputHistory:
    """As a shell's: the newest first, what is edited on the way stays until something is sent, and the
    unfinished draft stands at the end.
    """

    def __init__(self) -> None:
        self._said: list[str] = []
        self._copies: dict[int, str] = {}
        self._at = 0

    @property
    def browsing(self) -> bool:
        """Whether an earlier message stands in the input."""
        return self._at < len(self._said)

    @property
    def draft(self) -> str:
        """The unfinished message that waits while an earlier one is shown."""
        return self._copies.get(len(self._said), "") if self.browsing else ""

    def said(self, text: str) -> None:
        """Another message is sent: the walk is over. Said twice in a row, it stands once."""
        if not self._said or self._said[-1] != text:
            self._said.append(text)
        self._copies.clear()
        self._at = len(self._said)

    def walk(self, step: int, shown: str) -> str | None:
        """The message `step` places on (-1: older) from what is `shown` now; None at the ends."""
        to = self._at + step
        if not 0 <= to <= len(self._said):
            return None
        self._copies[self._at] = shown
        self._at = to
        return self._copies.get(to, self._said[to] if to < len(self._said) else "")

    def restore(self, draft: str) -> None:
        """Let `draft` wait below the newest message, whose edited copy is shown."""
        if self._said and draft:
            self._copies[len(self._said)] = draft
            self._at = len(self._said) - 1


def agent_wanted(agent: PlayerRef, effective: Iterable[Event]) -> str:
    """What to say while nobody plays the agent of a session that is meant for two people; "" once somebody
    does, and in any other session.
    """
    if agent.name != PERSON or agent.kind != "human":
        return ""
    for event in effective:
        if isinstance(event.body, Marked) and isinstance(event.body.mark, PartTaken):
            return ""
    return _(
        "Waiting for somebody to play the agent: on this workspace, `cuecard --as NAME`, then Enter on Home."
    )


def works_now(state: PlayState, action: str) -> bool:
    """Whether `action` does anything in this phase; actions that always work are not known here."""
    yours, over = state.phase == "yours", state.phase in ("concluding", "ended")
    match action:
        case "insert" | "phrases":
            return not over
        case "mark" | "evidence":
            return yours and state.markable
        case "answers":
            return yours and bool(asked_by_agent(state))
        case "end":
            return yours and not state.opening
        case "interrupt":
            return state.phase == "writing"
        case "retry":
            return may_retry(state)
        case "undo":
            return may_undo(state)
        case "note":
            return not state.opening and state.phase != "ended"
        case "persona":
            return state.task.persona is not None
        case _:
            return True


def why_not(state: PlayState, action: str) -> str:
    """Why an action that does not work now does not, and what does; "" where there is nothing to say."""
    name = action.partition("(")[0]
    if name in _ABOUT_TURNS and state.phase in ("concluding", "ended"):
        return _("The dialogue is over.")
    match name:
        case "undo" if state.opening:
            return _("You have said nothing yet that could be taken back.")
        case "undo":
            text = _(
                "The agent has answered your words, so they stay. {REPEAT} has it take its turn again."
            )
            return hint(text)
        case "retry":
            return _("The agent has said nothing yet.")
        case "interrupt":
            return _("The agent is not at work.")
        case "mark" | "evidence":
            return _("There is no reply to mark now.")
        case "answers":
            return _("The agent has asked nothing.")
        case "end":
            return _("You can end when it is your turn; Escape pauses.")
        case "note":
            return _("Notes belong to a session, and it begins with your first words.")
        case "persona":
            return _("This task has no persona.")
        case _:
            return ""


_ABOUT_TURNS = frozenset(
    (
        "undo",
        "retry",
        "interrupt",
        "mark",
        "evidence",
        "answers",
        "end",
        "note",
        "insert",
        "phrases",
    )
)


def may_retry(state: PlayState) -> bool:
    """Whether the agent can take its last turn again."""
    return not state.opening and state.phase in ("yours", "writing", "stopped")


def may_undo(state: PlayState) -> bool:
    """Whether the person's last words can be taken back: the agent has not answered them."""
    if state.opening:
        return False
    unanswered = state.phase in ("writing", "stopped")
    return unanswered or (state.phase == "yours" and state.interrupted)


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
    state: PlayState, text: str, calls: int = 0, hints: Sequence[Fault] = (), waits_for: str = ""
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
            told = hint(
                _(
                    "You stopped the agent before it said anything: {REPEAT} retries, {UNDO} takes back."
                )
            )
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
        pieces.append(
            Piece(" · " + hint(_("{REPEAT} retries, {UNDO} takes your words back")), "muted")
        )
    return pieces


def _about_reply(state: PlayState) -> list[Piece]:
    if state.opening:
        return [Piece(_("You begin"), "stage")]
    if state.chain and state.step_number is not None:
        if state.reading is None:
            return [Piece(hint(_("{DECIDE} How do you read this turn?"), typing=True), "stage")]
        return [Piece(_("read as: {what}").format(what=_(READING[state.reading][1])), "good")]
    if state.stage is None:
        if state.task.stages:
            return [
                Piece(
                    hint(_("Every stage is said: {SUBMIT} ends the dialogue."), typing=True),
                    "stage",
                )
            ]
        return [
            Piece(
                hint(_("{SUBMIT} ends the dialogue when you have your answer."), typing=True),
                "muted",
            )
        ]
    if state.stage.cue.kind is CueKind.START:
        return [Piece(_("The conversation has started."), "muted")]
    if state.mark is None:
        return [Piece(hint(_("{DECIDE} Did the reply meet the cue?"), typing=True), "stage")]
    glyph, label, tone = MARK[state.mark]
    return [Piece(f"{glyph} {_(label)}", tone)]


def _about_words(state: PlayState, text: str) -> list[Piece]:
    if not text.strip():
        return []
    stage = state.discloses(text)
    edited = _("(edited)") if state.edited(text) else ""
    if stage is not None:
        return [Piece(" · " + joined((_("says stage {n}").format(n=stage), edited)), "stage")]
    if state.chain and not state.opening and state.says_line(text):
        return [Piece(" · " + joined((_("gives the clue"), edited)), "stage")]
    if state.opening:
        return [Piece(spaced(text, edited), "muted")] if edited else []
    return [Piece(" · " + _("your own words"), "muted")]


def heading(state: PlayState, agent: PlayerRef) -> list[Piece]:
    """The head of the screen: the number of the turn, in the end how many there were, the agent, and the task as far as there is
    room.
    """
    turns, over = len(state.dialogue.of("agent")), state.phase in ("concluding", "ended")
    count = ngettext("{n} turn", "{n} turns", turns).format(n=turns)
    return [
        Piece(count if over else _("turn {n}").format(n=turns + 1), "strong"),
        Piece("  " + _("agent") + " ", "muted"),
        Piece(player_label(agent)),
        Piece("  " + one_line(state.task.title, 100), "muted"),
    ]
