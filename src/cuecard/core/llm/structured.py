"""Asking a model for an answer of a given shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar, cast

from pydantic import BaseModel, ValidationError

from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.complaints import nothing_found, wrong_shape
from cuecard.core.llm.mending import found_json
from cuecard.core.llm.request import JsonSchema
from cuecard.core.parts import CallDesk, ModelReply
from cuecard.core.prompts import Prompt
from cuecard.core.tasks import TaskLanguage
from cuecard.core.text import storable

Shape = TypeVar("Shape", bound=BaseModel)
_MAX_CANDIDATES = 20
# What a model is shown again of an answer that was no use.
_MAX_SHOWN = 20_000


@dataclass(frozen=True)
class Structured(Generic[Shape]):
    """`value` is None where no attempt gave a usable answer; `problem` says why. `raw`: the last words
    of the model.
    """

    value: Shape | None
    problem: str = ""
    raw: str = ""


async def ask_structured(
    client: ChatClient,
    messages: Sequence[wire.ChatMessage],
    shape: type[Shape],
    desk: CallDesk,
    *,
    prompt: Prompt,
    language: TaskLanguage = "en",
    attempts: int = 2,
    check: Callable[[Shape], str] = lambda _value: "",
) -> Structured[Shape]:
    """The model's answer as a `shape`, whose JSON schema goes along with the request.

    The JSON is looked for between the model's other words and mended where it is broken. An answer
    of another shape, or one of which `check` complains (in words for the model, in `language`), is
    asked for again, with the complaint, up to `attempts` answers in all. Every call goes through
    `desk`. Raises `ModelCallError` and `Halt`.
    """
    thread = list(messages)
    schema = schema_of(shape)
    problem = raw = ""
    for _attempt in range(attempts):
        asked = list(thread)

        async def perform(asked: list[wire.ChatMessage] = asked) -> ModelReply:
            return await client.chat(asked, schema=schema)

        reply = await desk.call_model(client.config.model, perform, prompt=prompt.hash)
        raw = storable(reply.text)
        value, problem = read_shape(raw, shape, language, cut=reply.finish_reason == "length")
        if value is not None:
            problem = check(value)
            if not problem:
                return Structured(value, raw=raw)
        thread += [wire.assistant(raw[:_MAX_SHOWN] or "…"), wire.user(problem)]
    return Structured(None, problem, raw)


def read_shape(
    text: str, shape: type[Shape], language: TaskLanguage = "en", *, cut: bool = False
) -> tuple[Shape | None, str]:
    """The first JSON in a model's words that is a `shape`, or None and a complaint to the model.

    Fields that were not asked for are left out. `cut`: the words ran out of tokens.
    """
    complaint = ""
    for count, value in enumerate(found_json(text)):
        if count == _MAX_CANDIDATES:
            break
        try:
            return _validated(value, shape), ""
        except ValidationError as error:
            errors = error.errors(include_url=False, include_input=False)
            complaint = complaint or wrong_shape(errors, language)
        except RecursionError:
            continue
    return None, complaint or nothing_found(text, language, cut=cut)


@lru_cache(maxsize=128)
def schema_of(shape: type[BaseModel]) -> JsonSchema:
    """The JSON schema of what a `shape` is read from."""
    return cast(JsonSchema, shape.model_json_schema(mode="validation"))


def _validated(value: object, shape: type[Shape]) -> Shape:
    """Raises `ValidationError`."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        surplus = [e["loc"] for e in error.errors() if e["type"] == "extra_forbidden"]
        if not surplus:
            raise
        for place in surplus:
            _drop(value, place)
        return shape.model_validate(value)


def _drop(value: object, place: tuple[int | str, ...]) -> None:
    """Take out what stands at `place`; steps into a union's members are not there in the data."""
    for step in place[:-1]:
        if isinstance(value, dict):
            value = cast(dict[object, object], value).get(step, cast(object, value))
        elif isinstance(value, list) and isinstance(step, int):
            value = cast(list[object], value)[step]
    if isinstance(value, dict):
        cast(dict[object, object], value).pop(place[-1], None)
