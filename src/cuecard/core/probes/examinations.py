"""What an examiner found, as it is recorded: what it hands in is one of these as JSON."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from cuecard.core.tasks.base import Frozen


class StepExamined(Frozen):
    """One ambiguous step, by its number from 1. `readings`, `error`: what the examiner said of the
    question alone; `named`: which of the `candidates` that was. The others: what it said when it knew
    them; None where it gave no usable answer.
    """

    step: int
    factual: bool = False
    candidates: tuple[str, ...]
    readings: tuple[str, ...] | None = None
    named: tuple[str, ...] = ()
    error: str = ""
    enumerable: bool | None = None
    error_recognisable: bool | None = None
    error_found: bool | None = None
    reason: str = ""


class ChainExamined(Frozen):
    kind: Literal["chain"] = "chain"
    steps: tuple[StepExamined, ...]


class StageGuessed(Frozen):
    """A stage by its number from 1, and the words that foresaw it."""

    stage: int
    by: str


class NeedExamined(Frozen):
    """`guesses`: what the opening made the examiner expect; `guessed`: which of the persona's later
    `stages` (numbers from 1) were among it. None where it gave no usable answer.
    """

    kind: Literal["need"] = "need"
    stages: tuple[int, ...]
    guesses: tuple[str, ...] | None = None
    guessed: tuple[StageGuessed, ...] | None = None
    reason: str = ""


class FactsAgainst(Frozen):
    """Facts by their numbers from 1, and what is wrong with them (together)."""

    facts: tuple[int, ...]
    reason: str


class LawsExamined(Frozen):
    """None where the examiner gave no usable answer."""

    kind: Literal["laws"] = "laws"
    contradictions: tuple[FactsAgainst, ...] | None = None
    implausible: tuple[FactsAgainst, ...] | None = None


Examination = Annotated[ChainExamined | NeedExamined | LawsExamined, Field(discriminator="kind")]
_ADAPTER: TypeAdapter[Examination] = TypeAdapter(Examination)


def written(examination: Examination) -> str:
    """The JSON that is handed in; lines, as people may read it in the log."""
    return examination.model_dump_json(indent=2)


def read_examination(text: str) -> Examination | None:
    """The reverse of `written`; None for anything else."""
    try:
        return _ADAPTER.validate_json(text)
    except ValidationError:
        return None


def says_nothing(examination: Examination) -> bool:
    """Whether the examiner gave no usable answer at all."""
    match examination:
        case ChainExamined(steps=steps):
            return all(step.enumerable is None and step.readings is None for step in steps)
        case NeedExamined(guessed=guessed):
            return guessed is None
        case LawsExamined(contradictions=contradictions):
            return contradictions is None
