"""Where a checkpoint trial stands and what a turn of the agent leads to, whoever reads that turn."""

from __future__ import annotations

from dataclasses import dataclass

from cuecard.core.parts import Act, CheckpointStatus, Dialogue, Flag, Message, UserReply
from cuecard.core.phrases import without_terms
from cuecard.core.tasks import Checkpoint, CheckpointChain, Task, TaskLanguage
from cuecard.core.users.moves import ADVANCING, Move, Situation, read_move, status_of
from cuecard.core.users.phrasebook import Phrase, phrase

_SAYS: dict[CheckpointStatus, Phrase] = {
    CheckpointStatus.WRONG_AMBIGUITY_DETECTED: "no_wish",
    CheckpointStatus.CORRECT_ANSWER: "go_on",
    CheckpointStatus.MISSED_AMBIGUITY_CORRECT: "go_on",
    CheckpointStatus.WRONG_ANSWER: "wrong",
    CheckpointStatus.MISSED_AMBIGUITY_WRONG: "wrong",
    CheckpointStatus.SEARCH_ONLY: "nothing_yet",
    CheckpointStatus.TASK_COMPLETED: "completed",
}


@dataclass(frozen=True)
class Place:
    """The step, from 0, that the agent is at."""

    index: int
    step: Checkpoint
    situation: Situation


@dataclass(frozen=True)
class Outcome:
    """What a turn led to, and at which step. `gives_up`: patience has run out."""

    index: int
    status: CheckpointStatus
    gives_up: bool = False

    @property
    def completed(self) -> bool:
        return self.status is CheckpointStatus.TASK_COMPLETED


class ChainRules:
    """The decision table over a chain (FORMATS: discobench, responder statuses).

    A clue is released only to a question about the step's ambiguity. Every correct answer advances.
    An agent that answers with the final answer has completed the task from wherever it stood. After
    `patience` turns in a row without progress the user gives up; None: never.

    Everything follows from the dialogue alone. Raises `ValueError` for a task of another family.
    """

    def __init__(self, task: Task, patience: int | None) -> None:
        if not isinstance(task.gold, CheckpointChain):
            raise ValueError("a responder needs a task of the checkpoints family")
        self.chain = task.gold
        self._language: TaskLanguage = task.language
        self._patience = patience
        end = task.gold.steps[-1]
        final = (task.gold.final_answer, *task.gold.final_aliases)
        self.steps = (
            *task.gold.steps[:-1],
            end.model_copy(update={"aliases": (*end.aliases, *final)}),
        )

    def place(self, dialogue: Dialogue) -> Place:
        index = self._index(dialogue)
        step = self.steps[index]
        situation = Situation(
            ambiguous=step.ambiguity is not None,
            clue_given=any(
                m.checkpoint == index and m.status is CheckpointStatus.AMBIGUITY_DETECTED
                for m in dialogue.of("user")
            ),
            last=index == len(self.steps) - 1,
        )
        return Place(index, step, situation)

    def follow(self, dialogue: Dialogue, said: Message, move: Move) -> Outcome:
        """What comes of the agent's last turn `said`, which was this move at the current step."""
        place = self.place(dialogue)
        end = len(self.steps) - 1
        skips = move is not Move.RIGHT and said.act is Act.ANSWER and place.index != end
        if skips and read_move(said, self.steps[end]) is Move.RIGHT:
            return Outcome(end, CheckpointStatus.TASK_COMPLETED)
        status = status_of(move, place.situation)
        repeated = move is Move.ASKS_RIGHTLY and place.situation.clue_given
        stuck = status not in ADVANCING and (
            repeated or status is not CheckpointStatus.AMBIGUITY_DETECTED
        )
        gives_up = (
            stuck and self._patience is not None and _stuck_before(dialogue) + 1 >= self._patience
        )
        return Outcome(place.index, status, gives_up)

    def words(self, outcome: Outcome) -> str:
        """What a script says to this: the clue, or a phrase that gives nothing away."""
        if outcome.gives_up:
            return phrase(self._language, "give_up")
        ambiguity = self.steps[outcome.index].ambiguity
        if outcome.status is CheckpointStatus.AMBIGUITY_DETECTED and ambiguity:
            return without_terms(ambiguity.clue, self.chain.forbidden, "…")
        return phrase(self._language, _SAYS[outcome.status])

    def reply(
        self, outcome: Outcome, text: str = "", reason: str = "", flags: tuple[Flag, ...] = ()
    ) -> UserReply:
        """The reply to this outcome; without a `text`, in a script's words."""
        return UserReply(
            text=text or self.words(outcome),
            checkpoint=outcome.index,
            status=outcome.status,
            done=outcome.completed or outcome.gives_up,
            answered=outcome.completed,
            reason="patience" if outcome.gives_up else reason,
            flags=flags,
        )

    def _index(self, dialogue: Dialogue) -> int:
        for message in reversed(dialogue.of("user")):
            if message.checkpoint is not None and message.status in ADVANCING:
                return min(message.checkpoint + 1, len(self.steps) - 1)
        return 0


def _stuck_before(dialogue: Dialogue) -> int:
    """How many of the user's turns, up to the last, have brought nothing new in a row.

    A clue repeated brings nothing new either.
    """
    detected: set[int | None] = set()
    count = 0
    for message in dialogue.of("user"):
        if message.status is CheckpointStatus.AMBIGUITY_DETECTED:
            progress = message.checkpoint not in detected
            detected.add(message.checkpoint)
        else:
            progress = message.status is None or message.status in ADVANCING
        count = 0 if progress else count + 1
    return count
