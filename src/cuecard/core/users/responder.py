"""The scripted responder: the user of a checkpoint task (DiscoBench's responder, without a model)."""

from __future__ import annotations

from cuecard.core.parts import Act, CheckpointStatus, Desk, Dialogue, PlayerRef, UserReply
from cuecard.core.phrases import without_terms
from cuecard.core.tasks import CheckpointChain, Task
from cuecard.core.users.moves import ADVANCING, Move, Situation, read_move, status_of
from cuecard.core.users.phrasebook import Phrase, phrase

PATIENCE = 3

_SAYS: dict[CheckpointStatus, Phrase] = {
    CheckpointStatus.WRONG_AMBIGUITY_DETECTED: "no_wish",
    CheckpointStatus.CORRECT_ANSWER: "go_on",
    CheckpointStatus.MISSED_AMBIGUITY_CORRECT: "go_on",
    CheckpointStatus.WRONG_ANSWER: "wrong",
    CheckpointStatus.MISSED_AMBIGUITY_WRONG: "wrong",
    CheckpointStatus.SEARCH_ONLY: "nothing_yet",
    CheckpointStatus.TASK_COMPLETED: "completed",
}


class ScriptedResponder:
    """Asks the ambiguous question and reads every turn of the agent at the current step.

    It releases a step's clue only to a question about that step's ambiguity, never names the next
    question or a forbidden string, and advances on every correct answer. An agent that answers with
    the last step's target or the final answer has completed the task from wherever it stood. After
    `patience` turns in a row without progress it gives up.

    Everything follows from the dialogue alone. Raises `ValueError` for a task of another family.
    """

    def __init__(self, task: Task, patience: int = PATIENCE) -> None:
        if not isinstance(task.gold, CheckpointChain):
            raise ValueError("a responder needs a task of the checkpoints family")
        self._task = task
        self._chain = task.gold
        end = task.gold.steps[-1]
        final = (task.gold.final_answer, *task.gold.final_aliases)
        self._steps = (
            *task.gold.steps[:-1],
            end.model_copy(update={"aliases": (*end.aliases, *final)}),
        )
        self._patience = patience

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(name="scripted responder", kind="responder", baseline=True)

    async def open(self, desk: Desk) -> UserReply:
        return UserReply(text=self._task.opening)

    async def reply(self, dialogue: Dialogue, desk: Desk) -> UserReply:
        last = dialogue.last("agent")
        if last is None:
            return UserReply(text=self._task.opening)
        index = self.current_step(dialogue)
        step, end = self._steps[index], len(self._steps) - 1
        situation = Situation(
            ambiguous=step.ambiguity is not None,
            clue_given=self._clue_given(dialogue, index),
            last=index == end,
        )
        move = read_move(last, step)
        skips = move is not Move.RIGHT and last.act is Act.ANSWER
        if skips and read_move(last, self._steps[end]) is Move.RIGHT:
            return self._say(end, CheckpointStatus.TASK_COMPLETED, done=True)
        status = status_of(move, situation)
        if status is CheckpointStatus.TASK_COMPLETED:
            return self._say(index, status, done=True)
        repeated = move is Move.ASKS_RIGHTLY and situation.clue_given
        stuck = status not in ADVANCING and (
            repeated or status is not CheckpointStatus.AMBIGUITY_DETECTED
        )
        if stuck and self._stuck_before(dialogue) + 1 >= self._patience:
            text = phrase(self._task.language, "give_up")
            return UserReply(
                text=text, checkpoint=index, status=status, done=True, reason="patience"
            )
        return self._say(index, status)

    def current_step(self, dialogue: Dialogue) -> int:
        """The step, from 0, that the agent is at."""
        for message in reversed(dialogue.of("user")):
            if message.checkpoint is not None and message.status in ADVANCING:
                return min(message.checkpoint + 1, len(self._steps) - 1)
        return 0

    def _say(self, index: int, status: CheckpointStatus, *, done: bool = False) -> UserReply:
        ambiguity = self._steps[index].ambiguity
        if status is CheckpointStatus.AMBIGUITY_DETECTED and ambiguity:
            text = without_terms(ambiguity.clue, self._chain.forbidden, "…")
        else:
            text = phrase(self._task.language, _SAYS[status])
        return UserReply(text=text, checkpoint=index, status=status, done=done)

    @staticmethod
    def _clue_given(dialogue: Dialogue, index: int) -> bool:
        return any(
            m.checkpoint == index and m.status is CheckpointStatus.AMBIGUITY_DETECTED
            for m in dialogue.of("user")
        )

    @staticmethod
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
