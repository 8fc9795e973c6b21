"""The responder played by a model: it reads the agent's turn; the decision table does the rest."""

from __future__ import annotations

from cuecard.core.llm.client import ChatClient
from cuecard.core.parts import (
    Act,
    CheckpointStatus,
    Desk,
    Dialogue,
    Message,
    PlayerRef,
    UserReply,
)
from cuecard.core.prompts import Prompt
from cuecard.core.tasks import Task, TaskLanguage
from cuecard.core.text import storable
from cuecard.core.users.asking import Turn, ask_turn
from cuecard.core.users.chain_rules import ChainRules, Outcome, Place
from cuecard.core.users.checked import Words
from cuecard.core.users.moves import Move, read_move
from cuecard.core.users.persona import version_of
from cuecard.core.users.responder_checks import ResponderChecks
from cuecard.core.users.shapes import MOVES, ResponderAnswer
from cuecard.core.users.transcript import label, listed, transcript


class ModelResponder:
    """A model says which move the agent's turn was and finds words; status, clue and progress follow
    from the decision table (FORMATS: discobench, responder statuses).

    What the tool says of the turn stands: `ask` only asks, `answer` only answers, and nobody asks
    rightly about a step that is not ambiguous. The model never sees a clue before its release, later
    steps or the final answer. A clue is always said in the task's words; other words that break a hard
    rule are asked for again, then replaced by a script's and flagged. A turn without a usable answer is
    read as the scripted responder reads it, flagged.

    It has no patience to run out: the trial's limit of turns ends what goes nowhere. Raises
    `ValueError` for a task of another family.
    """

    def __init__(self, name: str, client: ChatClient, task: Task, prompt: Prompt) -> None:
        self._name = name
        self._client = client
        self._task = task
        self._language: TaskLanguage = task.language
        self._prompt = prompt
        self._rules = ChainRules(task, patience=None)
        self._checks = ResponderChecks(task, self._rules)

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(
            name=self._name,
            kind="responder",
            model=self._client.config.model,
            version=version_of(self._prompt),
        )

    async def open(self, desk: Desk) -> UserReply:
        return UserReply(text=self._task.opening)

    async def reply(self, dialogue: Dialogue, desk: Desk) -> UserReply:
        last = dialogue.last("agent")
        if last is None:
            return UserReply(text=self._task.opening)
        place = self._rules.place(dialogue)

        def examine(answer: ResponderAnswer) -> Words:
            move, corrected = _admitted(MOVES[answer.move], last, place)
            outcome = self._rules.follow(dialogue, last, move)
            if corrected or not own_words(outcome, place):
                return Words(self._rules.words(outcome))
            return self._checks.words(answer.reply, place, dialogue)

        turn = await ask_turn(
            self._client,
            self.asked(dialogue),
            ResponderAnswer,
            desk,
            prompt=self._prompt,
            language=self._language,
            examine=examine,
        )
        if not isinstance(turn, Turn):
            outcome = self._rules.follow(dialogue, last, read_move(last, place.step))
            return self._rules.reply(outcome, flags=(turn,))
        move, _corrected = _admitted(MOVES[turn.answer.move], last, place)
        return self._rules.reply(
            self._rules.follow(dialogue, last, move),
            text=turn.findings.text,
            reason=storable(turn.answer.reason),
            flags=turn.findings.flags,
        )

    def asked(self, dialogue: Dialogue) -> str:
        """What the model is asked at this point of the dialogue."""
        place, last = self._rules.place(dialogue), dialogue.last("agent")
        language, ambiguity = self._language, place.step.ambiguity
        none = label("none", language)
        return self._prompt.render(
            opening=self._task.opening,
            dialogue=transcript(dialogue, language),
            question=place.step.question,
            targets=listed(place.step.names, language),
            ambiguity=ambiguity.logic if ambiguity else none,
            candidates=listed(ambiguity.candidates if ambiguity else (), language),
            clue=label("yes" if place.situation.clue_given else "no", language),
            turn=last.text if last else none,
        )


def _admitted(move: Move, said: Message, place: Place) -> tuple[Move, bool]:
    """The move as the turn's tool and the step allow it, and whether it had to be corrected."""
    asks = move in (Move.ASKS_RIGHTLY, Move.ASKS_OTHERWISE)
    if said.act is Act.ASK and not asks:
        return read_move(said, place.step), True
    if said.act is Act.ANSWER and move is not Move.RIGHT:
        return Move.WRONG, move is not Move.WRONG
    if move is Move.ASKS_RIGHTLY and not place.situation.ambiguous:
        return Move.ASKS_OTHERWISE, True
    return move, False


def own_words(outcome: Outcome, place: Place) -> bool:
    """Whether the model's words are wanted: not for a clue, nor where the table went beyond it."""
    detected = outcome.status is CheckpointStatus.AMBIGUITY_DETECTED
    return not detected and outcome.index == place.index
