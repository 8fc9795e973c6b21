"""Agents' outputs that were produced elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pydantic import JsonValue

from cuecard.core.tasks.base import Frozen
from cuecard.core.text import storable


class Response(Frozen):
    """One sample of one task. `text` is what the agent handed in, for `parse_prediction`;
    `messages` the chat messages as they came; `termination` the other program's word, or empty.
    """

    task_id: str
    sample: int = 0
    text: str = ""
    termination: str = ""
    messages: tuple[dict[str, JsonValue], ...] = ()


def clean_messages(value: object) -> tuple[dict[str, JsonValue], ...]:
    """The messages that are objects, with every text in them storable."""
    if not isinstance(value, list):
        return ()
    cleaned = [clean(item) for item in cast(list[object], value)]
    return tuple(cast(dict[str, JsonValue], item) for item in cleaned if isinstance(item, dict))


def clean(value: object) -> object:
    """JSON with every text in it storable."""
    match value:
        case str():
            return storable(value)
        case list():
            return [clean(item) for item in cast(list[object], value)]
        case dict():
            fields = cast(Mapping[Any, object], value)
            return {storable(str(key)): clean(item) for key, item in fields.items()}
        case _:
            return value
