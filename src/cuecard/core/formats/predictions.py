"""From an agent's last words to a prediction, whoever the agent was."""

from __future__ import annotations

import re

from cuecard.core.formats.answer_text import find_answer
from cuecard.core.formats.table_text import find_table
from cuecard.core.formats.triples_text import find_triples
from cuecard.core.i18n import N_
from cuecard.core.prediction import (
    AnswerPrediction,
    PredictedTriple,
    Prediction,
    TablePrediction,
    TriplesPrediction,
    UnusablePrediction,
)
from cuecard.core.tasks.models import Family
from cuecard.core.text import storable

_THOUGHT_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)

# The reasons are recorded, so they are marked here and translated where they are shown.
NOTHING = N_("the agent handed in nothing")
NO_TRIPLES = N_("the text holds no JSON array of {head, relation, tail}")
NO_TABLE = N_("the text holds no Markdown table")
NO_ANSWER = N_("the text holds no answer")


def parse_prediction(family: Family, text: str) -> Prediction:
    """What a text hands in: triples for `graph`, a table for `table`, an answer for `checkpoints`
    and `facts`; unusable, with the reason and the text, when there is none. Never raises.
    """
    raw = storable(text)
    said = _after_thoughts(raw)
    if not said.strip():
        return UnusablePrediction(reason=NOTHING, raw=raw)
    match family:
        case "graph":
            triples = find_triples(said)
            if triples is None:
                return UnusablePrediction(reason=NO_TRIPLES, raw=raw)
            named = tuple(PredictedTriple(head=h, relation=r, tail=t) for h, r, t in triples)
            return TriplesPrediction(triples=named, raw=raw)
        case "table":
            table = find_table(said)
            if table is None:
                return UnusablePrediction(reason=NO_TABLE, raw=raw)
            return TablePrediction(columns=table.columns, rows=table.rows, raw=raw)
        case "checkpoints" | "facts":
            answer = find_answer(said)
            if not answer:
                return UnusablePrediction(reason=NO_ANSWER, raw=raw)
            return AnswerPrediction(answer=answer, raw=raw)


def _after_thoughts(text: str) -> str:
    """Models that think aloud in their reply draft answers there; only what follows is meant."""
    end = 0
    for match in _THOUGHT_END.finditer(text):
        end = match.end()
    return text[end:] if text[end:].strip() else text
