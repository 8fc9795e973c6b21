"""The scripted responder of checkpoint tasks: it classifies the agent's turns and follows DiscoBench's decision table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from cuecard.core.engine.messages import (
    Act,
    CheckpointStatus,
    Dialogue,
    Flag,
    Message,
    PlayerRef,
    UserReply,
)
from cuecard.core.engine.step_context import StepContext
from cuecard.core.families.checkpoints.gold import Checkpoint
from cuecard.core.families.registry import chain_of
from cuecard.core.tasks.models import Task, TaskLanguage
from cuecard.core.text import contains_term, normalise, questions, statements_in, without_terms
from cuecard.core.users.scripted import PATIENCE, Phrase, phrase

if TYPE_CHECKING:
    pass

Status = CheckpointStatus


class Move(Enum):
    """What an agent's turn does at the current step of a checkpoint chain."""

    ASKS_RIGHTLY = "asks about the step's ambiguity"
    ASKS_OTHERWISE = "asks about something else"
    RIGHT = "names the step's target"
    WRONG = "names something else"
    NOTHING = "neither asks nor answers"


@dataclass(frozen=True)
class CurrentStep:
    """The current step: whether it is ambiguous, and whether its clue has been released."""

    ambiguous: bool
    clue_given: bool
    last: bool


ADVANCING = frozenset(
    {Status.CORRECT_ANSWER, Status.MISSED_AMBIGUITY_CORRECT, Status.TASK_COMPLETED}
)

# The decision table: (is the step's ambiguity open, the agent's move) -> the status. A step is open if it is
# ambiguous and its clue has not been released. The last step's target completes the task (`status_of`).
_STATUSES: dict[tuple[bool, Move], Status] = {
    (True, Move.ASKS_RIGHTLY): Status.AMBIGUITY_DETECTED,
    (True, Move.ASKS_OTHERWISE): Status.WRONG_AMBIGUITY_DETECTED,
    (True, Move.RIGHT): Status.MISSED_AMBIGUITY_CORRECT,
    (True, Move.WRONG): Status.MISSED_AMBIGUITY_WRONG,
    (True, Move.NOTHING): Status.SEARCH_ONLY,
    (False, Move.ASKS_RIGHTLY): Status.AMBIGUITY_DETECTED,
    (False, Move.ASKS_OTHERWISE): Status.WRONG_AMBIGUITY_DETECTED,
    (False, Move.RIGHT): Status.CORRECT_ANSWER,
    (False, Move.WRONG): Status.WRONG_ANSWER,
    (False, Move.NOTHING): Status.SEARCH_ONLY,
}


def status_of(move: Move, situation: CurrentStep) -> Status:
    if move is Move.RIGHT and situation.last:
        return Status.TASK_COMPLETED
    return _STATUSES[situation.ambiguous and not situation.clue_given, move]


def read_move(message: Message, step: Checkpoint) -> Move:
    """The agent's move at a step, by rules.

    A turn declared `ask` only asks, whatever names it lists. Otherwise the sentences that are no questions are the
    answer, and the first target or candidate named in them is the one given; but an undeclared reply that names two or
    more candidates and asks a question only lists them. A turn declared `answer` without the target is wrong; an
    undeclared reply is wrong only if it names another candidate.
    """
    asked = questions(message.text)
    if message.act is Act.ASK:
        return _asks(asked or (message.text,), message.text, step)
    stated = "\n".join(statements_in(message.text))
    if message.act is Act.ANSWER and not stated:
        stated = message.text
    candidates = step.ambiguity.candidates if step.ambiguity else ()
    listed = [c for c in candidates if contains_term(stated, c)]
    if not (message.act is Act.REPLY and asked and len(listed) > 1):
        given = _first_named(stated, step.names, candidates)
        if given is not None:
            return Move.RIGHT if given else Move.WRONG
    if message.act is Act.ANSWER:
        return Move.WRONG
    return _asks(asked, message.text, step) if asked else Move.NOTHING


def _asks(asked: tuple[str, ...], text: str, step: Checkpoint) -> Move:
    if step.ambiguity is None:
        return Move.ASKS_OTHERWISE
    terms = (*step.ambiguity.candidates, *step.ambiguity.terms)
    heard = "\n".join(asked)
    # Candidates are often listed before the question: "I see A and B. Which one?"
    about = any(contains_term(heard, term) for term in terms) or any(
        contains_term(text, candidate) for candidate in step.ambiguity.candidates
    )
    return Move.ASKS_RIGHTLY if about else Move.ASKS_OTHERWISE


def _first_named(text: str, right: tuple[str, ...], candidates: tuple[str, ...]) -> bool | None:
    """Whether the first of these names in the text is a right one; None if the text holds none."""
    names = [(name, True) for name in right if contains_term(text, name)]
    known = {normalise(name) for name in right}
    names += [
        (c, False) for c in candidates if normalise(c) not in known and contains_term(text, c)
    ]
    if not names:
        return None
    flat = normalise(text)
    # Of two names at the same place the longer is meant (`Georgia Tech`, not `Georgia`).
    return min(names, key=lambda item: (flat.find(normalise(item[0])), -len(item[0])))[1]


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
    """The step (from 0) that the agent has reached, and its situation."""

    index: int
    step: Checkpoint
    situation: CurrentStep


@dataclass(frozen=True)
class Outcome:
    """The status of a turn and the step it was about. `gives_up`: the user's patience has run out."""

    index: int
    status: CheckpointStatus
    gives_up: bool = False

    @property
    def completed(self) -> bool:
        return self.status is CheckpointStatus.TASK_COMPLETED


class ChainRules:
    """The decision table over a chain of checkpoints (the responder statuses of DiscoBench).

    A clue is released only for a question about the step's ambiguity. Every correct answer advances. An agent that
    gives the final answer has completed the task, whatever step it had reached. After `patience` turns in a row
    without progress the user gives up; None: never.

    Everything is derived from the dialogue alone. Raises `ValueError` for a task whose user does not lead through steps.
    """

    def __init__(self, task: Task, patience: int | None) -> None:
        chain = chain_of(task)
        if chain is None:
            raise ValueError("a responder needs a task whose user leads through steps")
        self.chain = chain
        self._language: TaskLanguage = task.language
        self._patience = patience
        end = chain.steps[-1]
        self.steps = (
            *chain.steps[:-1],
            end.model_copy(update={"aliases": (*end.aliases, *chain.answers)}),
        )

    def place(self, dialogue: Dialogue) -> Place:
        index = self._index(dialogue)
        step = self.steps[index]
        situation = CurrentStep(
            ambiguous=step.ambiguity is not None,
            clue_given=any(
                m.checkpoint == index and m.status is CheckpointStatus.AMBIGUITY_DETECTED
                for m in dialogue.of("user")
            ),
            last=index == len(self.steps) - 1,
        )
        return Place(index, step, situation)

    def follow(self, dialogue: Dialogue, said: Message, move: Move) -> Outcome:
        """The outcome of the agent's last turn `said`, which was this move at the current step."""
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
        """The scripted reply to an outcome: the clue, or a phrase that gives nothing away."""
        if outcome.gives_up:
            return phrase(self._language, "give_up")
        ambiguity = self.steps[outcome.index].ambiguity
        if outcome.status is CheckpointStatus.AMBIGUITY_DETECTED and ambiguity:
            return without_terms(ambiguity.clue, self.chain.forbidden, "…")
        return phrase(self._language, _SAYS[outcome.status])

    def reply(
        self, outcome: Outcome, text: str = "", reason: str = "", flags: tuple[Flag, ...] = ()
    ) -> UserReply:
        """The reply to an outcome; without `text`, in the scripted words."""
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
    """How many of the user's latest turns in a row brought nothing new; a repeated clue is nothing new."""
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


class ScriptedResponder:
    """Asks the ambiguous question and classifies every turn of the agent by the names in it (`read_move`). It never
    says the next question or a forbidden string. After `patience` turns in a row without progress it gives up; a
    completed task ends the trial as `answered`.

    Raises `ValueError` for a task whose user does not lead through steps.
    """

    def __init__(self, task: Task, patience: int = PATIENCE) -> None:
        self._task = task
        self._rules = ChainRules(task, patience)

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(name="scripted responder", kind="responder", baseline=True)

    async def open(self, context: StepContext) -> UserReply:
        return UserReply(text=self._task.opening)

    async def reply(self, dialogue: Dialogue, context: StepContext) -> UserReply:
        last = dialogue.last("agent")
        if last is None:
            return UserReply(text=self._task.opening)
        move = read_move(last, self._rules.place(dialogue).step)
        return self._rules.reply(self._rules.follow(dialogue, last, move))
