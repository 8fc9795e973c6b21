"""Several questions of the agent answered in one reply: what the persona has for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from cuecard.core.parts import Act, Message
from cuecard.core.phrases import content_words, questions, shared_words
from cuecard.core.tasks import TaskLanguage
from cuecard.core.users.cues import is_covered
from cuecard.core.users.moves import Move, read_move
from cuecard.core.users.phrasebook import phrase
from cuecard.tui.state.play import PlayState

AnswerKind = Literal["line", "said", "never_mind", "own", "skip"]
MAX_QUESTIONS = 20
_SHARED = 2


@dataclass(frozen=True)
class Answer:
    """One question and what is to be answered. `said`: what the persona has told about it already;
    `own`: the person's words.
    """

    question: str
    kind: AnswerKind
    line: str = ""
    said: str = ""
    own: str = ""

    @property
    def kinds(self) -> tuple[AnswerKind, ...]:
        """What can be answered."""
        line: tuple[AnswerKind, ...] = ("line",) if self.line else ()
        said: tuple[AnswerKind, ...] = ("said",) if self.said else ()
        return (*line, *said, "never_mind", "own", "skip")

    def turned(self, step: int) -> Answer:
        """The next of `kinds`."""
        kinds = self.kinds
        return replace(self, kind=kinds[(kinds.index(self.kind) + step) % len(kinds)])

    def text(self, language: TaskLanguage) -> str:
        match self.kind:
            case "line":
                return self.line
            case "said":
                return self.said
            case "never_mind":
                return phrase(language, "no_preference")
            case "own":
                return self.own.strip()
            case "skip":
                return ""


def asked_by_agent(state: PlayState) -> tuple[str, ...]:
    """The questions of the agent's last reply, each once."""
    return tuple(dict.fromkeys(questions(state.last_reply)))[:MAX_QUESTIONS]


def answers_for(state: PlayState) -> list[Answer]:
    """What the persona has for each question: the current line where that covers it, what was said
    already, or else that it does not matter. A checkpoint's clue covers a question that asks rightly.
    """
    return [_answer(state, question) for question in asked_by_agent(state)]


def _answer(state: PlayState, question: str) -> Answer:
    line, said = state.line, _said_about(state, question)
    if line and _covers(state, question):
        return Answer(question, "line", line, said)
    return Answer(question, "said" if said else "never_mind", line, said)


def _covers(state: PlayState, question: str) -> bool:
    if state.stage:
        return is_covered(question, state.stage)
    if state.step:
        asked = Message(role="agent", turn=0, text=question, act=Act.ASK)
        return read_move(asked, state.step) is Move.ASKS_RIGHTLY
    return False


def _said_about(state: PlayState, question: str) -> str:
    """The line of a stage that is said and covers the question, the latest first; else a sentence of
    the person's that shares words with it.
    """
    for number in reversed(state.dialogue.stages_disclosed):
        if number <= len(state.task.stages) and is_covered(question, state.task.stages[number - 1]):
            return state.task.stages[number - 1].line
    if state.chain:
        return ""
    about = content_words(question)
    for message in reversed(state.dialogue.of("user")):
        if len(shared_words(about, content_words(message.text))) > _SHARED:
            return message.text
    return ""


def composed(answers: Iterable[Answer], language: TaskLanguage) -> str:
    """One reply in the order of the questions; what would be said twice is said once."""
    texts = dict.fromkeys(filter(None, (answer.text(language) for answer in answers)))
    return ("" if language == "zh" else " ").join(texts)


def gives_line(answers: Sequence[Answer]) -> bool:
    """Whether the composed reply says the card's line."""
    return any(answer.kind == "line" for answer in answers)
