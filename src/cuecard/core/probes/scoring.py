"""What the score of an attempt at a task is: one number for each family, from the family's measures."""

from __future__ import annotations

from cuecard.core.i18n import _, ngettext
from cuecard.core.prediction import (
    AnswerPrediction,
    Prediction,
    TablePrediction,
    TriplesPrediction,
    UnusablePrediction,
)
from cuecard.core.scoring.measures import Measure
from cuecard.core.scoring.trial_score import score_prediction
from cuecard.core.tasks import Family, Task
from cuecard.core.text import one_line
from cuecard.core.verdicts import Judgement

SCORED_BY: dict[Family, str] = {
    # What is known of the gold counts, whatever else is said: coverage, not F1 (`scoring.graph`).
    "graph": "triplet_recall",
    "table": "item_f1",
    "checkpoints": "acc",
    "facts": "pass_at_1",
}
"""The measure of `core.scoring` that an attempt is scored by: gold triples covered (graph), F1 of cells
(table), the final answer is right (checkpoints, facts). All are in [0, 1].
"""
_SHOWN = 160


def score_of_attempt(task: Task, prediction: Prediction, judgement: Judgement) -> Measure:
    """The score of what was handed in; undefined, with the reason, where the judge left it open."""
    name = SCORED_BY[task.family]
    measures = {m.name: m for m in score_prediction(task, prediction, judgement)}
    left = measures["unjudged"]
    if left.value:
        missing = int(left.value)
        reason = ngettext("{n} item was not judged", "{n} items were not judged", missing)
        return Measure(name, None, left.n, reason.format(n=missing))
    return measures[name]


def handed_in(prediction: Prediction) -> str:
    """What was handed in, in one line for people."""
    match prediction:
        case TriplesPrediction(triples=triples):
            count = len(triples)
            return ngettext("handed in {n} triple", "handed in {n} triples", count).format(n=count)
        case TablePrediction(rows=rows):
            count = len(rows)
            text = ngettext("handed in a table of {n} row", "handed in a table of {n} rows", count)
            return text.format(n=count)
        case AnswerPrediction(answer=answer):
            return _("answered: {answer}").format(answer=one_line(answer, _SHOWN))
        case UnusablePrediction(reason=reason):
            return _("handed in nothing usable: {reason}").format(
                reason=one_line(_(reason), _SHOWN)
            )
