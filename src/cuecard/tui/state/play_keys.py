"""Which of the Play screen's actions work now: what the footer shows."""

from __future__ import annotations

from cuecard.core.i18n import _
from cuecard.tui.state.play import PlayState
from cuecard.tui.state.play_questions import asked_by_agent


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
            return _(
                "The agent has answered your words, so they stay. F9 has it take its turn again."
            )
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
