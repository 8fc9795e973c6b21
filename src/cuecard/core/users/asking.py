"""Asking a simulator's model for its turn: for a usable answer, then once more for better words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.structured import ask_structured
from cuecard.core.parts import CallDesk, Flag, FlagKind
from cuecard.core.prompts import Prompt
from cuecard.core.tasks import TaskLanguage
from cuecard.core.text import one_line
from cuecard.core.users.complaints import once_more

Shape = TypeVar("Shape", bound=BaseModel)
_SHOWN, _MAX_SHOWN = 200, 20_000


class Examined(Protocol):
    """What checks say about an answer: nothing to complain of, or words for the model."""

    @property
    def complaints(self) -> tuple[str, ...]: ...


Findings = TypeVar("Findings", bound=Examined)


@dataclass(frozen=True)
class Turn(Generic[Shape, Findings]):
    """The model's answer and what the checks say about it."""

    answer: Shape
    findings: Findings


async def ask_turn(
    client: ChatClient,
    text: str,
    shape: type[Shape],
    desk: CallDesk,
    *,
    prompt: Prompt,
    language: TaskLanguage,
    examine: Callable[[Shape], Findings],
) -> Turn[Shape, Findings] | Flag:
    """The model's answer to `text`. One that `examine` complains of is asked for again once; the second
    answer is returned whatever the checks say. A flag where no answer of that shape was to be had.

    Raises `ModelCallError` and `Halt`.
    """
    messages = [wire.user(text)]
    asked = await ask_structured(client, messages, shape, desk, prompt=prompt, language=language)
    if asked.value is None:
        return _unusable(asked.problem)
    findings = examine(asked.value)
    if not findings.complaints:
        return Turn(asked.value, findings)
    messages += [
        wire.assistant(asked.raw[:_MAX_SHOWN]),
        wire.user(once_more(language, findings.complaints)),
    ]
    again = await ask_structured(client, messages, shape, desk, prompt=prompt, language=language)
    if again.value is None:
        return _unusable(again.problem)
    return Turn(again.value, examine(again.value))


async def ask_once(
    client: ChatClient,
    text: str,
    shape: type[Shape],
    desk: CallDesk,
    *,
    prompt: Prompt,
    language: TaskLanguage,
) -> Shape | Flag:
    """The model's answer to `text`, from one call; a flag where it has not that shape.

    Raises `ModelCallError` and `Halt`.
    """
    asked = await ask_structured(
        client, [wire.user(text)], shape, desk, prompt=prompt, language=language, attempts=1
    )
    return _unusable(asked.problem) if asked.value is None else asked.value


def _unusable(problem: str) -> Flag:
    return Flag(kind=FlagKind.UNUSABLE, found=one_line(problem, _SHOWN))
