"""An agent's tool calls before they reach the world: named right, complete, of the right types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from cuecard.core.agents.notes import Note, say
from cuecard.core.parts import Act, ToolCall, ToolSpec
from cuecard.core.tasks import TaskLanguage
from cuecard.core.text import one_line

ASK = ToolSpec(
    name="ask",
    description=(
        "Ask the user which of several readings or candidates is meant. Ends your turn; the user's"
        " reply follows. 向用户提问以消除歧义，并结束本轮。"
    ),
    parameters={
        "type": "object",
        "properties": {"question": {"type": "string", "description": "One short question."}},
        "required": ["question"],
    },
)
ANSWER = ToolSpec(
    name="answer",
    description=(
        "Give the user the answer to their current question. Ends your turn; the user's reply"
        " follows. 回答用户当前的问题，并结束本轮。"
    ),
    parameters={
        "type": "object",
        "properties": {"answer": {"type": "string", "description": "The answer, in a few words."}},
        "required": ["answer"],
    },
)
TURN_TOOLS = (ASK, ANSWER)
_ENDINGS = {ASK.name: (Act.ASK, "question"), ANSWER.name: (Act.ANSWER, "answer")}

_TYPES: dict[str, Callable[[object], bool]] = {
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
}


def named_right(call: ToolCall, tools: Sequence[ToolSpec]) -> ToolCall:
    """`call` under the tool's own name; some models put a namespace before it (`functions.search`), or
    write it with capitals.
    """
    name = call.name.strip()
    if all(name != spec.name for spec in tools):
        names = {spec.name.lower(): spec.name for spec in tools}
        name = names.get(name.rpartition(".")[2].lower(), name)
    return call if name == call.name else call.model_copy(update={"name": name})


def complaint(call: ToolCall, tools: Sequence[ToolSpec], language: TaskLanguage) -> str:
    """What is wrong with a call, as the model will read it; empty if nothing is."""
    spec = next((spec for spec in tools if spec.name == call.name), None)
    if spec is None:
        names = ", ".join(spec.name for spec in tools) or "-"
        return say(language, Note.UNKNOWN_TOOL, name=one_line(call.name, 60) or "-", tools=names)
    if call.broken:
        return say(language, Note.BROKEN)
    for name in cast(list[str], spec.parameters.get("required") or []):
        if call.arguments.get(name) is None:
            return say(language, Note.MISSING, name=name)
    properties = cast(dict[str, dict[str, object]], spec.parameters.get("properties") or {})
    for name, value in call.arguments.items():
        wanted = properties.get(name, {}).get("type")
        if isinstance(wanted, str) and wanted in _TYPES and not _TYPES[wanted](value):
            return say(language, Note.WRONG_TYPE, name=name, type=wanted)
    return ""


def ending(call: ToolCall) -> tuple[Act, str] | None:
    """How a call of a turn tool ends the turn, and with which words; None for any other call."""
    if call.name not in _ENDINGS:
        return None
    act, argument = _ENDINGS[call.name]
    words = call.arguments.get(argument)
    return act, words.strip() if isinstance(words, str) else ""
