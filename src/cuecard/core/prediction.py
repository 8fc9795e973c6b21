"""What an agent hands in at the end of a trial."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cuecard.core.tasks.base import Frozen


class PredictedTriple(Frozen):
    head: str
    relation: str
    tail: str


class TriplesPrediction(Frozen):
    """`raw` is the agent's text as it came, kept for audit."""

    kind: Literal["triples"] = "triples"
    triples: tuple[PredictedTriple, ...]
    raw: str = ""


class TablePrediction(Frozen):
    """Rows in the order of `columns`; every row has exactly as many cells."""

    kind: Literal["table"] = "table"
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    raw: str = ""


class AnswerPrediction(Frozen):
    kind: Literal["answer"] = "answer"
    answer: str
    raw: str = ""


class UnusablePrediction(Frozen):
    """The agent's text held no triples, table or answer: a format failure, which scores 0."""

    kind: Literal["unusable"] = "unusable"
    reason: str
    raw: str = ""


Prediction = Annotated[
    TriplesPrediction | TablePrediction | AnswerPrediction | UnusablePrediction,
    Field(discriminator="kind"),
]
