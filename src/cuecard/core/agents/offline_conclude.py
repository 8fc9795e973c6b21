"""What the offline agent hands in: only what it found."""

from __future__ import annotations

from cuecard.core.agents.offline_derive import derive_answer
from cuecard.core.agents.offline_notes import Notes
from cuecard.core.agents.offline_steps import progress_of
from cuecard.core.agents.offline_table import Sheet
from cuecard.core.agents.public import PublicTask
from cuecard.core.parts import Dialogue
from cuecard.core.prediction import (
    AnswerPrediction,
    PredictedTriple,
    Prediction,
    TablePrediction,
    TriplesPrediction,
    UnusablePrediction,
)


def conclude(public: PublicTask, dialogue: Dialogue, notes: Notes) -> Prediction:
    """Triples, a table or an answer from the statements found; unusable if there are none."""
    match public.family:
        case "graph":
            return _triples(notes)
        case "table":
            return _table(public, notes)
        case "checkpoints":
            accepted = progress_of(dialogue, public.language).accepted
            last = next(reversed(notes.facts), None)
            return _answer(accepted[-1] if accepted else last.value if last else "")
        case "facts":
            asked = dialogue.of("user")
            return _answer(derive_answer(asked[0].text if asked else "", tuple(notes.facts)))


def _triples(notes: Notes) -> Prediction:
    triples = tuple(
        PredictedTriple(head=f.subject, relation=f.attribute, tail=f.value)
        for f in notes.facts
        if f.subject
    )
    return TriplesPrediction(triples=triples) if triples else _nothing()


def _table(public: PublicTask, notes: Notes) -> Prediction:
    sheet = Sheet(public, notes)
    columns = public.columns or (*sheet.keys, *sheet.columns)
    rows = tuple(sheet.cells(row, columns) for row in sheet.rows)
    return TablePrediction(columns=columns, rows=rows) if columns and rows else _nothing()


def _answer(answer: str) -> Prediction:
    return AnswerPrediction(answer=answer) if answer.strip() else _nothing()


def _nothing() -> UnusablePrediction:
    return UnusablePrediction(reason="found nothing on record")
