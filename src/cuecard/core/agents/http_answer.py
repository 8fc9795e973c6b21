"""What an agent behind a web address answers: see docs/agents.md for the protocol."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    JsonValue,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from cuecard.core.agents.tools import ANSWER, ASK
from cuecard.core.errors import ModelCallError
from cuecard.core.formats.predictions import parse_prediction
from cuecard.core.i18n import _
from cuecard.core.parts import ModelReply, ToolCall, Usage, token_count
from cuecard.core.prediction import (
    AnswerPrediction,
    PredictedTriple,
    Prediction,
    TablePrediction,
    TriplesPrediction,
)
from cuecard.core.tasks import Family
from cuecard.core.text import one_line, storable

_STRUCTURED = "prediction"


class Want(StrEnum):
    REPLY = "reply"
    PREDICTION = "prediction"


class _Answer(BaseModel):
    """Unknown fields are the agent's own business."""

    model_config = ConfigDict(extra="ignore")

    reply: str | None = None
    act: Literal["reply", "ask", "answer"] = "reply"
    text: str | None = None
    prediction: JsonValue = None
    usage: dict[str, JsonValue] | None = None


class _Table(BaseModel):
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @model_validator(mode="after")
    def _even(self) -> Self:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("a row is longer or shorter than the columns")
        return self


_TRIPLES = TypeAdapter(tuple[PredictedTriple, ...])
_ANSWER = TypeAdapter(Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)])


def read_answer(want: Want, body: str) -> ModelReply:
    """Raises `ModelCallError` if the body is not what was wanted."""
    try:
        found = _Answer.model_validate_json(storable(body))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        reason = f"{place}: {first['msg']}" if place else first["msg"]
        raise ModelCallError(
            _("The agent's address answered with something else"), one_line(reason, 300)
        ) from error
    given = found.usage or {}
    usage = Usage(**{name: token_count(given.get(name)) for name in Usage.model_fields})
    if want is Want.PREDICTION and found.prediction is not None:
        text = json.dumps(found.prediction, ensure_ascii=False)
        return ModelReply(text=text, finish_reason=_STRUCTURED, usage=usage)
    text = found.reply if want is Want.REPLY else found.text
    if text is None:
        missing = "reply" if want is Want.REPLY else "text, prediction"
        raise ModelCallError(
            _("The agent's address answered with something else"),
            _("missing: {fields}").format(fields=missing),
        )
    calls: tuple[ToolCall, ...] = ()
    if want is Want.REPLY and found.act == "ask":
        calls = (ToolCall(name=ASK.name, arguments={"question": text}),)
    elif want is Want.REPLY and found.act == "answer":
        calls = (ToolCall(name=ANSWER.name, arguments={"answer": text}),)
    return ModelReply(text=text, tool_calls=calls, usage=usage)


def prediction_of(family: Family, said: ModelReply) -> Prediction:
    """The prediction in a recorded answer: given as such, or to be found in its text."""
    if said.finish_reason != _STRUCTURED:
        return parse_prediction(family, said.text)
    try:
        return _structured(family, said.text)
    except ValidationError:
        return parse_prediction(family, said.text)


def _structured(family: Family, text: str) -> Prediction:
    """Raises `ValidationError`."""
    match family:
        case "graph":
            return TriplesPrediction(triples=_TRIPLES.validate_json(text), raw=text)
        case "table":
            table = _Table.model_validate_json(text)
            return TablePrediction(columns=table.columns, rows=table.rows, raw=text)
        case "checkpoints" | "facts":
            return AnswerPrediction(answer=_ANSWER.validate_json(text), raw=text)
