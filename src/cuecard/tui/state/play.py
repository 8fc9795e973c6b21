"""What the person at the keyboard says, as the log wants it: card, mark and text make a reply.

A stage counts as disclosed when its line was inserted and is still recognisable in what is sent, or
was typed out. The person's marks are recorded as they are; no script's opinion enters here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Literal

from cuecard.core.events import AgentSpoke, Event, TrialEnded, UserSpoke
from cuecard.core.parts import CheckpointStatus, Dialogue, UserReply
from cuecard.core.tasks import Checkpoint, CheckpointChain, CueKind, Stage, Task
from cuecard.core.text import contains_term, normalise, storable
from cuecard.core.users.moves import ADVANCING, Move, Situation, status_of
from cuecard.core.users.phrasebook import Phrase, phrase

Phase = Literal["yours", "writing", "ended"]
StageState = Literal["now", "done", "later"]
RECOGNISABLE = 0.3
"""The share of an inserted line's characters that must be left for it to count as said."""


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


_MOVES: dict[Reading, Move] = {
    Reading.ASKED: Move.ASKS_RIGHTLY,
    Reading.ASKED_ELSE: Move.ASKS_OTHERWISE,
    Reading.RIGHT: Move.RIGHT,
    Reading.WRONG: Move.WRONG,
    Reading.SEARCHED: Move.NOTHING,
}
_SAYS: dict[Reading, Phrase] = {
    Reading.ASKED_ELSE: "no_wish",
    Reading.RIGHT: "go_on",
    Reading.WRONG: "wrong",
    Reading.SEARCHED: "nothing_yet",
    Reading.COMPLETED: "completed",
}


@dataclass
class PlayState:
    """One trial as its human user sees it. `follow` events in; `reply` out."""

    task: Task
    dialogue: Dialogue = field(default_factory=Dialogue)
    phase: Phase = "yours"
    mark: Mark | None = None
    reading: Reading | None = None
    inserted: str = ""

    def follow(self, event: Event) -> None:
        """Take in what happened."""
        match event.body:
            case UserSpoke():
                self.dialogue = self.dialogue.plus(event.body.message)
                self.phase = "writing"
                self.mark, self.reading, self.inserted = None, None, ""
            case AgentSpoke():
                self.dialogue = self.dialogue.plus(event.body.message)
                self.phase = "yours"
            case TrialEnded():
                self.phase = "ended"
            case _:
                pass

    @property
    def opening(self) -> bool:
        """Nothing is said yet."""
        return not self.dialogue.messages

    @property
    def opening_text(self) -> str:
        """What the card gives to begin with: the query, and a first stage that belongs to the start."""
        query, first = self.task.opening, next(iter(self.task.stages), None)
        if first is None or first.cue.kind is not CueKind.START:
            return query
        if normalise(first.line) in normalise(query):
            return query
        if normalise(query) in normalise(first.line):
            return first.line
        return f"{query}\n\n{first.line}"

    @property
    def chain(self) -> CheckpointChain | None:
        return self.task.gold if isinstance(self.task.gold, CheckpointChain) else None

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
        return any(
            message.checkpoint == self.step_number
            and message.status is CheckpointStatus.AMBIGUITY_DETECTED
            for message in self.dialogue.of("user")
        )

    @property
    def mark_wanted(self) -> bool:
        """Whether the agent's last reply still lacks the person's mark."""
        stage = self.stage
        return (
            self.dialogue.last("agent") is not None
            and stage is not None
            and stage.cue.kind is not CueKind.START
            and self.mark is None
        )

    @property
    def reading_wanted(self) -> bool:
        """Whether the agent's last turn still lacks the person's reading."""
        return (
            self.step is not None
            and self.dialogue.last("agent") is not None
            and self.reading is None
        )

    def insert(self, what: Insertion) -> str:
        """The text that a key inserts; "" where the card has none. A line is remembered."""
        language = self.task.language
        match what:
            case Insertion.LINE:
                self.inserted = self.line or self.inserted
                return self.line
            case Insertion.PUSH if self.chain and self.reading:
                return phrase(language, _SAYS.get(self.reading, "nothing_yet"))
            case Insertion.PUSH:
                return (self.stage.not_met if self.stage else "") or phrase(language, "push")
            case Insertion.NEVER_MIND:
                return phrase(language, "no_preference")

    def suggestion(self) -> str:
        """What follows from the person's mark or reading: the card's line, or a push."""
        if self.mark is Mark.MET or self.reading is Reading.ASKED:
            return self.insert(Insertion.LINE) or self.insert(Insertion.PUSH)
        if self.mark is Mark.NOT_MET or self.reading:
            return self.insert(Insertion.PUSH)
        return ""

    @property
    def line(self) -> str:
        """What the card gives to say: the stage's line, or the clue of an ambiguous step."""
        if self.opening:
            return self.opening_text
        if self.stage:
            return self.stage.line
        ambiguity = self.step.ambiguity if self.step else None
        return ambiguity.clue if ambiguity else ""

    def discloses(self, text: str) -> int | None:
        """The stage that sending `text` would disclose."""
        return self.stage_number if self.stage and self._says(self.stage.line, text) else None

    def edited(self, text: str) -> bool:
        """Whether `text` says the card's line in other words or with more than it; an opening is
        always the card's.
        """
        said = self.opening or self.says_line(text)
        return said and text.strip() != self.line.strip()

    def says_line(self, text: str) -> bool:
        """Whether `text` says what the card gives, as it stands or edited."""
        return self._says(self.line, text)

    def _says(self, line: str, text: str) -> bool:
        if not line:
            return False
        text = text[: 8 * len(line) + 4000]
        if normalise(line) in normalise(text):
            return True
        offered = self.opening or self.inserted == self.line
        return offered and kept_share(line, text) >= RECOGNISABLE

    def forbidden_in(self, text: str) -> tuple[str, ...]:
        """The strings that the user part must never say and that `text` holds."""
        forbidden = self.chain.forbidden if self.chain else ()
        return tuple(term for term in forbidden if contains_term(text, term))

    def status(self) -> CheckpointStatus | None:
        """The responder's status that follows from the person's reading and the log."""
        step, chain = self.step, self.chain
        if self.reading is None or step is None or chain is None:
            return None
        if self.reading is Reading.COMPLETED:
            return CheckpointStatus.TASK_COMPLETED
        ambiguous = step.ambiguity is not None
        move = _MOVES[self.reading]
        if move is Move.ASKS_RIGHTLY and not ambiguous:
            move = Move.ASKS_OTHERWISE
        last = self.step_number == len(chain.steps) - 1
        situation = Situation(ambiguous=ambiguous, clue_given=self.clue_released, last=last)
        return status_of(move, situation)

    def reply(self, text: str, *, done: bool = False) -> UserReply:
        """What the log will hold. A completed task ends the dialogue; an end without words says a
        farewell in the task's language.
        """
        status = self.status()
        done = done or status is CheckpointStatus.TASK_COMPLETED
        text = storable(text).strip()
        if done and not text:
            text = phrase(self.task.language, "thanks")
        stage = self.discloses(text)
        return UserReply(
            text=text,
            stage=stage,
            cue_met=self._cue_met(stage),
            checkpoint=self._checkpoint(status),
            status=status,
            done=done,
            answered=done and self._answered(status),
            edited=self.edited(text),
        )

    def _cue_met(self, stage: int | None) -> bool | None:
        if self.stage and self.stage.cue.kind is CueKind.START:
            return True if stage or not self.opening else None
        return {Mark.MET: True, Mark.NOT_MET: False}.get(self.mark) if self.mark else None

    def _checkpoint(self, status: CheckpointStatus | None) -> int | None:
        """A completed task is a reading of the last step, wherever the agent jumped from."""
        if status is CheckpointStatus.TASK_COMPLETED and self.chain:
            return len(self.chain.steps) - 1
        return self.step_number if status else None

    def _answered(self, status: CheckpointStatus | None) -> bool:
        if self.chain:
            statuses = (status, *(message.status for message in self.dialogue.of("user")))
            return CheckpointStatus.TASK_COMPLETED in statuses
        return not self.task.stages and self.dialogue.last("agent") is not None


def kept_share(line: str, text: str) -> float:
    """Which share of `line`'s characters `text` keeps in order, in runs of at least three, 0 to 1."""
    line, text = normalise(line), normalise(text)
    if not line:
        return 0.0
    blocks = SequenceMatcher(None, line, text, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks if block.size >= 3) / len(line)
