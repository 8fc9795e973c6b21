"""The gold of a checkpoint task: sub-questions in order, some of them ambiguous on purpose."""

from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import Field

from cuecard.core.i18n import N_
from cuecard.core.tasks.base import Frozen, Name, Text, Url
from cuecard.core.tasks.gold import Gold


class AmbiguityType(StrEnum):
    ENTITY = "entity"
    VERSION = "version"
    CRITERIA = "criteria"
    FACTUAL = "factual"


AMBIGUITY_WORDS: Final[dict[str, str]] = {
    AmbiguityType.ENTITY: N_("which thing"),
    AmbiguityType.VERSION: N_("which version"),
    AmbiguityType.CRITERIA: N_("which criterion"),
    AmbiguityType.FACTUAL: N_("which facts"),
}


class Ambiguity(Frozen):
    """Why a sub-question has several answers, and the clue that a right question releases.

    `terms`: what a script looks for in the agent's question, besides the candidates themselves.
    """

    type: AmbiguityType
    logic: Text
    candidates: Annotated[tuple[Name, ...], Field(min_length=2)]
    clue: Text
    terms: tuple[Name, ...] = ()


class Checkpoint(Frozen):
    """A sub-question, its target answer, and the ambiguity in it if there is one."""

    question: Text
    target: Name
    aliases: tuple[Name, ...] = ()
    ambiguity: Ambiguity | None = None
    sources: tuple[Url, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (self.target, *self.aliases)


class CheckpointChain(Gold, frozen=True):
    """`opening` is the rewritten (ambiguous) question that the user asks; the task's `query` the
    original one. `forbidden` strings must never be said by the user part.
    """

    family: Literal["checkpoints"] = "checkpoints"
    opening: Text
    steps: Annotated[tuple[Checkpoint, ...], Field(min_length=1)]
    final_answer: Name
    final_aliases: tuple[Name, ...] = ()
    forbidden: tuple[Name, ...] = ()

    @property
    def items(self) -> tuple[Checkpoint, ...]:
        return self.steps

    @property
    def field(self) -> str:
        return "steps"

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(" — ".join((step.question, *step.names)) for step in self.steps)

    @property
    def answers(self) -> tuple[str, ...]:
        return (self.final_answer, *self.final_aliases)

    @property
    def things(self) -> tuple[tuple[str, ...], ...]:
        return (*(step.names for step in self.steps), self.answers)

    @property
    def opens_with(self) -> str:
        return self.opening

    def problem(self, stages: int) -> str:
        return ""
