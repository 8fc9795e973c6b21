"""Asking a model for an answer of a given shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from json_repair import repair_json
from pydantic import BaseModel, ValidationError

from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from cuecard.core.parts import CallDesk
from cuecard.core.prompts import Prompt
from cuecard.core.tasks import TaskLanguage

Shape = TypeVar("Shape", bound=BaseModel)


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
    """The model's answer as a `shape`.

    Broken JSON is repaired. An answer of another shape, or one of which `check` complains (in words
    for the model, in `language`), is asked for again, with the complaint, up to `attempts` answers in
    all. Every call goes through `desk`. Raises `ModelCallError` and `Halt`.
    """
    thread = list(messages)
    problem = raw = ""
    for _attempt in range(attempts):
        asked = list(thread)
        reply = await desk.call_model(
            client.config.model, lambda asked=asked: client.chat(asked), prompt=prompt.hash
        )
        raw = reply.text
        try:
            value = shape.model_validate(repair_json(raw, return_objects=True))
        except ValidationError as error:
            problem = str(error)
        else:
            problem = check(value)
            if not problem:
                return Structured(value, raw=raw)
        thread += [wire.assistant(raw), wire.user(problem)]
    return Structured(None, problem, raw)
