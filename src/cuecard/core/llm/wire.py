"""The JSON of OpenAI-compatible chat requests."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pydantic import JsonValue

from cuecard.core.parts import ToolCall, ToolSpec

ChatMessage = dict[str, JsonValue]
"""One message of a request, as the server wants it: `role`, `content`, `tool_calls`..."""


def system(text: str) -> ChatMessage:
    return {"role": "system", "content": text}


def user(text: str) -> ChatMessage:
    return {"role": "user", "content": text}


def assistant(text: str, calls: Sequence[tuple[str, ToolCall]] = ()) -> ChatMessage:
    """A reply of the model; `calls` are its tool calls, each with the id its answer will name."""
    message: ChatMessage = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {
                "id": id_,
                "type": "function",
                "function": {"name": call.name, "arguments": _arguments(call)},
            }
            for id_, call in calls
        ]
    return message


def tool_answer(id_: str, text: str) -> ChatMessage:
    return {"role": "tool", "tool_call_id": id_, "content": text}


def tool(spec: ToolSpec) -> dict[str, JsonValue]:
    return {
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": spec.parameters,
        },
    }


def _arguments(call: ToolCall) -> str:
    # Servers parse what they are sent back: broken arguments go as a string inside an object.
    arguments: JsonValue = {"broken": call.broken} if call.broken else dict(call.arguments)
    return json.dumps(arguments, ensure_ascii=False)
