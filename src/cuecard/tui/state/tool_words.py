"""What a tool call was about, whatever the tool: queries, addresses, a goal."""

from __future__ import annotations

import json

from cuecard.core.parts import ToolCall
from cuecard.core.text import one_line

_QUERIES = ("query", "queries", "q", "question")
_ADDRESSES = ("urls", "url", "address")


def queries_of(call: ToolCall) -> list[str]:
    """What was searched for."""
    return _texts(call, _QUERIES)


def addresses_of(call: ToolCall) -> list[str]:
    """The pages that were asked for: where there are any, the call is a visit."""
    return _texts(call, _ADDRESSES)


def goal_of(call: ToolCall) -> str:
    """What for, where the call says so."""
    goal = call.arguments.get("goal")
    return goal if isinstance(goal, str) else ""


def arguments_of(call: ToolCall) -> str:
    """The only string argument bare (a query reads best so), anything else as JSON."""
    if call.broken:
        return call.broken
    if len(call.arguments) == 1:
        (value,) = call.arguments.values()
        if isinstance(value, str):
            return value
    return json.dumps(call.arguments, ensure_ascii=False)


def title_of(call: ToolCall) -> str:
    """The tool and what it was asked for."""
    queries, addresses = queries_of(call), addresses_of(call)
    asked = " · ".join(addresses or queries) or arguments_of(call)
    return f"{one_line(call.name, 40)}: {asked}"


def _texts(call: ToolCall, names: tuple[str, ...]) -> list[str]:
    for name in names:
        value = call.arguments.get(name)
        if isinstance(value, str) and value.strip():
            return [value]
        if isinstance(value, list):
            return [text for text in value if isinstance(text, str) and text.strip()]
    return []
