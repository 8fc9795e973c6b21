"""What an agent's turn was, as the user of a checkpoint task reads it, and what follows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from cuecard.core.parts import Act, CheckpointStatus, Message
from cuecard.core.phrases import questions, statements_in
from cuecard.core.tasks import Checkpoint
from cuecard.core.text import contains_term, normalise

Status = CheckpointStatus


class Move(Enum):
    ASKS_RIGHTLY = "asks about the step's ambiguity"
    ASKS_OTHERWISE = "asks about something else"
    RIGHT = "names the step's target"
    WRONG = "names something else"
    NOTHING = "neither asks nor answers"


@dataclass(frozen=True)
class Situation:
    """The current step: whether it is ambiguous, and whether its clue has been released."""

    ambiguous: bool
    clue_given: bool
    last: bool


ADVANCING = frozenset(
    {Status.CORRECT_ANSWER, Status.MISSED_AMBIGUITY_CORRECT, Status.TASK_COMPLETED}
)

# (the step's ambiguity is still open, what the agent did) -> how the turn counts. Only an ambiguous
# step whose clue has not been released is open. The last step's target completes the task.
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


def status_of(move: Move, situation: Situation) -> Status:
    if move is Move.RIGHT and situation.last:
        return Status.TASK_COMPLETED
    return _STATUSES[situation.ambiguous and not situation.clue_given, move]


def read_move(message: Message, step: Checkpoint) -> Move:
    """How a turn reads at a step.

    A turn that says `ask` only asks, whatever names it lists. Otherwise the sentences that do not
    ask are the answer, and the first of the target and the candidates that they name is the one
    given; but a plain reply that asks, having named two or more candidates, only lists them. An
    `answer` without the target is wrong; a plain reply is so only if it names another candidate.
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
    # Candidates are often listed first and asked about after: "I see A and B. Which one?"
    about = any(contains_term(heard, term) for term in terms) or any(
        contains_term(text, candidate) for candidate in step.ambiguity.candidates
    )
    return Move.ASKS_RIGHTLY if about else Move.ASKS_OTHERWISE


def _first_named(text: str, right: tuple[str, ...], candidates: tuple[str, ...]) -> bool | None:
    """Whether the first name given is a right one; None if none of them stands in the text."""
    names = [(name, True) for name in right if contains_term(text, name)]
    known = {normalise(name) for name in right}
    names += [
        (c, False) for c in candidates if normalise(c) not in known and contains_term(text, c)
    ]
    if not names:
        return None
    flat = normalise(text)
    # At the same place the longer name is the one meant (Georgia Tech, Georgia).
    return min(names, key=lambda item: (flat.find(normalise(item[0])), -len(item[0])))[1]
