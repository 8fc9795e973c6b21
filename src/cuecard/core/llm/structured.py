"""Asks a model for an answer that fits a pydantic class, and tells it what is wrong with an answer that does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from pydantic import BaseModel, ValidationError

from cuecard.core.config import Prompt
from cuecard.core.engine.messages import ModelReply
from cuecard.core.engine.step_context import CallContext
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.requests import JsonSchema
from cuecard.core.llm.wire import found_json
from cuecard.core.tasks.models import TaskLanguage
from cuecard.core.text import one_line, storable

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


_MAX_LISTED = 8
_MAX_CHARS = 160

_EN = {
    "empty": "Your answer was empty.",
    "cut": "Your answer was cut off before its end. Be shorter.",
    "no_json": "There is no JSON in your answer.",
    "intro": "Your answer cannot be used:",
    "again": "Answer again, with the whole JSON and nothing else.",
    "more": "and {n} more such mistakes",
    "whole": "the answer",
    "missing": "{place} is missing",
    "unknown": "{place} is not asked for; leave it out",
    "choice": "{place} must be one of {allowed}",
    "text": "{place} must be a text",
    "whole_number": "{place} must be a whole number",
    "number": "{place} must be a number",
    "truth": "{place} must be true or false",
    "list": "{place} must be a list",
    "object": "{place} must be a JSON object",
    "short": "{place} is too short",
    "long": "{place} is too long",
    "range": "{place} is outside of what is allowed",
    "other": "{place} cannot be used: {reason}",
}
_ZH = {
    "empty": "你的回答是空的。",
    "cut": "你的回答没有写完就中断了。请写得短一些。",
    "no_json": "你的回答里没有 JSON。",
    "intro": "你的回答无法使用：",
    "again": "请重新回答，给出完整的 JSON，不要写任何别的内容。",
    "more": "另外还有 {n} 处类似的错误",
    "whole": "整个回答",
    "missing": "缺少 {place}",
    "unknown": "不需要 {place}，请去掉",
    "choice": "{place} 只能是以下之一：{allowed}",
    "text": "{place} 必须是文本",
    "whole_number": "{place} 必须是整数",
    "number": "{place} 必须是数字",
    "truth": "{place} 必须是 true 或 false",
    "list": "{place} 必须是列表",
    "object": "{place} 必须是 JSON 对象",
    "short": "{place} 太短",
    "long": "{place} 太长",
    "range": "{place} 超出允许的范围",
    "other": "{place} 无法使用：{reason}",
}
_WORDS: Mapping[TaskLanguage, Mapping[str, str]] = {"en": _EN, "zh": _ZH}
# The kinds of pydantic's errors, by how they begin.
_KINDS = (
    ("missing", "missing"),
    ("extra_forbidden", "unknown"),
    ("literal_error", "choice"),
    ("enum", "choice"),
    ("string_too_short", "short"),
    ("string_too_long", "long"),
    ("too_short", "short"),
    ("too_long", "long"),
    ("greater_than", "range"),
    ("less_than", "range"),
    ("string", "text"),
    ("int", "whole_number"),
    ("float", "number"),
    ("bool", "truth"),
    ("list", "list"),
    ("tuple", "list"),
    ("model_", "object"),
    ("dict", "object"),
)


def nothing_found(raw: str, language: TaskLanguage, *, cut: bool) -> str:
    """The complaint about an answer in which there is no JSON at all. `cut`: it ran out of tokens."""
    kind = "cut" if cut else "no_json" if raw.strip() else "empty"
    return _sentences(language, _WORDS[language][kind])


def wrong_shape(errors: list[ErrorDetails], language: TaskLanguage) -> str:
    """The complaint about JSON of another shape than was asked for."""
    words = _WORDS[language]
    lines = list(dict.fromkeys(_line(error, words) for error in errors))
    told = [f"- {line}" for line in lines[:_MAX_LISTED]]
    if len(lines) > _MAX_LISTED:
        told.append("- " + words["more"].format(n=len(lines) - _MAX_LISTED))
    return "\n".join((words["intro"], *told, words["again"]))


def _line(error: ErrorDetails, words: Mapping[str, str]) -> str:
    kind = next((ours for start, ours in _KINDS if error["type"].startswith(start)), "other")
    context = error.get("ctx", {})
    return words[kind].format(
        place=_place(error["loc"]) or words["whole"],
        allowed=one_line(str(context.get("expected", "")), _MAX_CHARS),
        reason=one_line(error["msg"].removeprefix("Value error, "), _MAX_CHARS),
    )


def _place(loc: tuple[int | str, ...]) -> str:
    place = ""
    for part in loc:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else part
    return f'"{one_line(place, _MAX_CHARS)}"' if place else ""


def _sentences(language: TaskLanguage, first: str) -> str:
    return f"{first} {_EN['again']}" if language == "en" else first + _ZH["again"]


Shape = TypeVar("Shape", bound=BaseModel)
_MAX_CANDIDATES = 20
# Characters of its unusable answer that a model is shown again.
_MAX_SHOWN = 20_000


@dataclass(frozen=True)
class StructuredAnswer(Generic[Shape]):
    """The result of `ask_structured`. `value` is None if no attempt gave a usable answer; `problem` says why. `raw`: the
    model's last answer as text.
    """

    value: Shape | None
    problem: str = ""
    raw: str = ""


async def ask_structured(
    client: ChatClient,
    messages: Sequence[wire.ChatMessage],
    shape: type[Shape],
    context: CallContext,
    *,
    prompt: Prompt,
    language: TaskLanguage = "en",
    attempts: int = 2,
    check: Callable[[Shape], str] = lambda _value: "",
) -> StructuredAnswer[Shape]:
    """The model's answer as a `shape`, whose JSON schema (with its docstrings) is sent with the request.

    JSON is found among the model's other words and repaired if it is broken. If the answer does not fit the shape, or
    `check` returns a complaint (a message to the model in `language`), the model is asked again with the complaint, up
    to `attempts` times in all. Every call goes through `context`. Raises `ModelCallError` and `Halt`.
    """
    thread = list(messages)
    schema = schema_of(shape)
    problem = raw = ""
    for _attempt in range(attempts):
        asked = list(thread)

        async def perform(asked: list[wire.ChatMessage] = asked) -> ModelReply:
            return await client.chat(asked, schema=schema)

        reply = await context.call_model(client.config.model, perform, prompt=prompt.hash)
        raw = storable(reply.text)
        value, problem = read_shape(raw, shape, language, cut=reply.finish_reason == "length")
        if value is not None:
            problem = check(value)
            if not problem:
                return StructuredAnswer(value, raw=raw)
        thread += [wire.assistant(raw[:_MAX_SHOWN] or "…"), wire.user(problem)]
    return StructuredAnswer(None, problem, raw)


def read_shape(
    text: str, shape: type[Shape], language: TaskLanguage = "en", *, cut: bool = False
) -> tuple[Shape | None, str]:
    """The first JSON in a model's text that fits `shape`, and ""; or None and a complaint to the model.

    Unknown fields are left out. `cut`: the text ran out of tokens.
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
    """The JSON schema of a `shape`, as it is sent to models."""
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
    """Remove the value at `place`; steps of the place that name a union's member do not exist in the data."""
    for step in place[:-1]:
        if isinstance(value, dict):
            value = cast(dict[object, object], value).get(step, cast(object, value))
        elif isinstance(value, list) and isinstance(step, int):
            value = cast(list[object], value)[step]
    if isinstance(value, dict):
        cast(dict[object, object], value).pop(place[-1], None)
