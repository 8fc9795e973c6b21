"""What the person at the keyboard decides, and how it stands in a reply."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from cuecard.core.parts import CheckpointStatus, UserReply
from cuecard.core.users.moves import Move
from cuecard.core.users.phrasebook import Phrase

Phase = Literal["yours", "writing", "stopped", "concluding", "ended"]
StageState = Literal["now", "done", "later"]
Doubt = Literal["edited", "unsaid"]


class Mark(StrEnum):
    """The person's decision whether the agent's last reply met the cue."""

    MET = "met"
    NOT_MET = "not_met"
    UNSURE = "unsure"


class Reading(StrEnum):
    """The person's reading of an agent's turn in a checkpoint task.

    Whether an answer came without the question it needed follows from the log, so nobody is asked.
    """

    ASKED = "asked"
    ASKED_ELSE = "asked_else"
    RIGHT = "right"
    WRONG = "wrong"
    SEARCHED = "searched"
    COMPLETED = "completed"


class Insertion(StrEnum):
    """What a key puts into the message."""

    LINE = "line"
    PUSH = "push"
    NEVER_MIND = "never_mind"


@dataclass(frozen=True)
class Decision:
    """What the person says of words that may not say the card's line any more. `counts`: whether they
    count as its disclosure.
    """

    meaning: Literal["", "kept", "changed"]
    counts: bool


MOVES: dict[Reading, Move] = {
    Reading.ASKED: Move.ASKS_RIGHTLY,
    Reading.ASKED_ELSE: Move.ASKS_OTHERWISE,
    Reading.RIGHT: Move.RIGHT,
    Reading.WRONG: Move.WRONG,
    Reading.SEARCHED: Move.NOTHING,
}
SAYS: dict[Reading, Phrase] = {
    Reading.ASKED_ELSE: "no_wish",
    Reading.RIGHT: "go_on",
    Reading.WRONG: "wrong",
    Reading.SEARCHED: "nothing_yet",
    Reading.COMPLETED: "completed",
}
_READINGS: dict[CheckpointStatus, Reading] = {
    CheckpointStatus.AMBIGUITY_DETECTED: Reading.ASKED,
    CheckpointStatus.WRONG_AMBIGUITY_DETECTED: Reading.ASKED_ELSE,
    CheckpointStatus.CORRECT_ANSWER: Reading.RIGHT,
    CheckpointStatus.MISSED_AMBIGUITY_CORRECT: Reading.RIGHT,
    CheckpointStatus.WRONG_ANSWER: Reading.WRONG,
    CheckpointStatus.MISSED_AMBIGUITY_WRONG: Reading.WRONG,
    CheckpointStatus.SEARCH_ONLY: Reading.SEARCHED,
    CheckpointStatus.TASK_COMPLETED: Reading.COMPLETED,
}


def mark_of(reply: UserReply) -> Mark | None:
    """The mark that a reply was sent with."""
    if reply.unsure:
        return Mark.UNSURE
    if reply.cue_met is None:
        return None
    return Mark.MET if reply.cue_met else Mark.NOT_MET


def reading_of(reply: UserReply, *, at_last: bool) -> Reading | None:
    """The reading that a reply was sent with; `at_last`: it was at the last step, where the right answer
    completes the task.
    """
    if reply.status is None:
        return None
    reading = _READINGS[reply.status]
    return Reading.RIGHT if at_last and reading is Reading.COMPLETED else reading
