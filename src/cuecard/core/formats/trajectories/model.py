"""All that is told of one trial when it is handed on."""

from __future__ import annotations

import json
import re
from datetime import datetime

from cuecard.core.events import Event, Termination
from cuecard.core.formats.predictions import parse_prediction
from cuecard.core.parts import PlayerRef, Usage
from cuecard.core.prediction import (
    AnswerPrediction,
    Prediction,
    TablePrediction,
    TriplesPrediction,
    UnusablePrediction,
)
from cuecard.core.scoring.measures import Measure
from cuecard.core.tasks import Family, Task
from cuecard.core.tasks.base import Frozen
from cuecard.core.trial import prediction_of
from cuecard.core.verdicts import Judgement

_ENTITY_START = re.compile(r"&(?=[#\w]+;)")


class Judged(Frozen):
    """A judge's newest judgement of the trial, and what it makes of it."""

    judgement: Judgement
    measures: tuple[Measure, ...]

    def value(self, name: str) -> float | None:
        return next((m.value for m in self.measures if m.name == name), None)


class Payment(Frozen):
    """What one payer's calls of one model have cost over all takes; `cost` is None where none had a price."""

    payer: str
    model: str
    calls: int
    usage: Usage
    cost: float | None = None


class Trajectory(Frozen):
    """A trial that has ended, on `task` as it was in `revision`. `events`: its course, whole; `takes`: how often
    it was taken. `prompts`: texts of the prompts that calls were made with, by hash, as far as they are kept.
    """

    run: str
    run_uid: str
    uid: str
    task: Task
    revision: int
    revision_hash: str
    sample: int
    seed: int
    agent: PlayerRef
    user: PlayerRef
    world: PlayerRef
    termination: Termination
    detail: str = ""
    created_at: datetime
    ended_at: datetime
    events: tuple[Event, ...]
    takes: int = 1
    judged: tuple[Judged, ...] = ()
    payments: tuple[Payment, ...] = ()
    prompts: dict[str, str] = {}

    @property
    def family(self) -> Family:
        return self.task.family

    @property
    def prediction(self) -> Prediction:
        return prediction_of(self.events)

    @property
    def response(self) -> str:
        """What was handed in, as a text from which `parse_prediction` reads the same; the agent's own words
        where they do.
        """
        return response_of(self.family, self.prediction)


def response_of(family: Family, prediction: Prediction) -> str:
    """The words that were handed in, or words that say the same where another way led to the prediction."""
    if isinstance(prediction, UnusablePrediction):
        # Words in which something can be read by now would score.
        return prediction.raw if reads_as(family, prediction.raw, prediction) else ""
    written = (prediction.raw, *_written(prediction))
    return next((text for text in written if reads_as(family, text, prediction)), written[-1])


def reads_as(family: Family, text: str, prediction: Prediction) -> bool:
    """Whether these words hand in what the prediction does; of unusable ones, whether neither can be read."""
    found = parse_prediction(family, text)
    if isinstance(prediction, UnusablePrediction):
        return found.kind == prediction.kind
    return found.model_copy(update={"raw": ""}) == prediction.model_copy(update={"raw": ""})


def _written(prediction: TriplesPrediction | TablePrediction | AnswerPrediction) -> tuple[str, ...]:
    match prediction:
        case TriplesPrediction(triples=triples):
            listed = [t.model_dump(mode="json") for t in triples]
            return (json.dumps(listed, ensure_ascii=False),)
        case TablePrediction(columns=columns, rows=rows):
            lines = [columns, ["---"] * len(columns), *rows]
            table = "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)
            return (f"```markdown\n{table}\n```",)
        case AnswerPrediction(answer=answer):
            return answer, f"<answer>{answer}</answer>"


def _cell(text: str) -> str:
    plain = _ENTITY_START.sub("&amp;", text).replace("|", "\\|")
    return "<br>".join(plain.splitlines())
