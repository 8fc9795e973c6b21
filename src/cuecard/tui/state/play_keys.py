"""Which of the Play screen's actions work now: what the footer shows."""

from __future__ import annotations

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


def may_retry(state: PlayState) -> bool:
    """Whether the agent can take its last turn again."""
    return not state.opening and state.phase in ("yours", "writing", "stopped")


def may_undo(state: PlayState) -> bool:
    """Whether the person's last words can be taken back: the agent has not answered them."""
    if state.opening:
        return False
    unanswered = state.phase in ("writing", "stopped")
    return unanswered or (state.phase == "yours" and state.interrupted)
