"""The decisions of the person who plays the user: marks, readings, and whether a message still says the card's line."""

from dataclasses import dataclass, field
from difflib import SequenceMatcher
from enum import StrEnum
from functools import lru_cache
from typing import Literal

from cuecard.core.engine.events import AgentSpoke, Event
from cuecard.core.engine.messages import CheckpointStatus, Dialogue, UserReply
from cuecard.core.families.checkpoints.gold import Checkpoint, CheckpointChain
from cuecard.core.families.registry import chain_of
from cuecard.core.tasks.models import CueKind, Stage, Task
from cuecard.core.text import normalise
from cuecard.core.users.leaks import carries
from cuecard.core.users.responder import ADVANCING, Move
from cuecard.core.users.scripted import Phrase

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


RECOGNISABLE = 0.3
"""The share of an inserted line's characters that must be left for it to count as said."""


def opening_text(task: Task) -> str:
    """What the card gives to begin with: the query, and a first stage that belongs to the start."""
    query, first = task.opening, next(iter(task.stages), None)
    if first is None or first.cue.kind is not CueKind.START:
        return query
    if normalise(first.line) in normalise(query):
        return query
    if normalise(query) in normalise(first.line):
        return first.line
    return f"{query}\n\n{first.line}"


@lru_cache(maxsize=8)
def says(line: str, text: str, *, offered: bool) -> bool:
    """Whether `text` says `line`. `offered`: the line was put into the message, so that less of it need
    be left.
    """
    if not line:
        return False
    text = bounded(line, text)
    if normalise(line) in normalise(text) or carries(text, line):
        return True
    return offered and kept_share(line, text) >= RECOGNISABLE


def keeps_meaning(line: str, text: str) -> bool:
    """Whether it is plain that `text` says what `line` says; otherwise the person must say."""
    return carries(bounded(line, text), line)


def bounded(line: str, text: str) -> str:
    """As much of what may have been pasted as is compared with a line."""
    return text[: 4 * len(line) + 1000]


def kept_share(line: str, text: str) -> float:
    """Which share of `line`'s characters `text` keeps in order, in runs of at least three, 0 to 1."""
    line, text = normalise(line), normalise(text)
    if not line or _shared_runs(line, text) < RECOGNISABLE / 3:
        return 0.0
    blocks = SequenceMatcher(None, line, text, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks if block.size >= 3) / len(line)


def _shared_runs(line: str, text: str) -> float:
    """Which share of the line's runs of three characters stand somewhere in the text: a bound that costs
    little, so that a long text which has nothing of the line is not compared at length.
    """
    runs = [line[at : at + 3] for at in range(max(len(line) - 2, 1))]
    return sum(run in text for run in runs) / len(runs)


@dataclass
class PlayPlace:
    """`effective`: the events that stand."""

    task: Task
    dialogue: Dialogue = field(default_factory=Dialogue)
    phase: Phase = "yours"
    effective: list[Event] = field(default_factory=list[Event], kw_only=True)

    @property
    def opening(self) -> bool:
        """Nothing is said yet."""
        return not self.dialogue.messages

    @property
    def chain(self) -> CheckpointChain | None:
        return chain_of(self.task)

    @property
    def interrupted(self) -> bool:
        """Whether the agent was stopped in its last reply."""
        spoken = (e.body for e in reversed(self.effective) if isinstance(e.body, AgentSpoke))
        last = next(spoken, None)
        return last is not None and last.reply.interrupted

    @property
    def last_reply(self) -> str:
        """What the agent said last; "" before it has spoken."""
        last = self.dialogue.last("agent")
        return last.text if last else ""

    @property
    def stage_number(self) -> int | None:
        """The next stage to disclose, from 1; None without a persona and after the last."""
        said = set(self.dialogue.stages_disclosed)
        numbers = range(1, len(self.task.stages) + 1)
        return next((number for number in numbers if number not in said), None)

    @property
    def stage(self) -> Stage | None:
        number = self.stage_number
        return self.task.stages[number - 1] if number else None

    def stage_state(self, number: int) -> StageState:
        if number in self.dialogue.stages_disclosed:
            return "done"
        return "now" if number == self.stage_number else "later"

    @property
    def step_number(self) -> int | None:
        """The checkpoint that is being worked on, from 0; None when all are advanced."""
        if self.chain is None:
            return None
        advanced = -1
        for message in self.dialogue.of("user"):
            if message.status in ADVANCING and message.checkpoint is not None:
                advanced = max(advanced, message.checkpoint)
        return advanced + 1 if advanced + 1 < len(self.chain.steps) else None

    @property
    def step(self) -> Checkpoint | None:
        number = self.step_number
        return self.chain.steps[number] if self.chain and number is not None else None

    @property
    def clue_released(self) -> bool:
        """Whether the agent has asked rightly at the current step."""
        return self.step_number is not None and self.released_in(self.step_number) is not None

    def released_in(self, step: int) -> int | None:
        """The turn, from 0, in which a step's clue was released."""
        right = CheckpointStatus.AMBIGUITY_DETECTED
        told = (m for m in self.dialogue.of("user") if m.checkpoint == step and m.status is right)
        return next((message.turn for message in told), None)
