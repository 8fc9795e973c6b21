"""Data exchanged with a model's server: chat messages, server-sent events, error messages, and repaired JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import cast

from pydantic import JsonValue

from cuecard.core.engine.messages import ToolCall, ToolSpec
from cuecard.core.text import storable

ChatMessage = dict[str, JsonValue]
"""One message of a request, as the server wants it: `role`, `content`, `tool_calls`..."""


def system(text: str) -> ChatMessage:
    return {"role": "system", "content": text}


def user(text: str) -> ChatMessage:
    return {"role": "user", "content": text}


CARRIED = "carried"
"""The key, in a message, of reasoning that is sent back as it came; only the Responses API takes it."""


def assistant(
    text: str,
    calls: Sequence[tuple[str, ToolCall]] = (),
    carried: Sequence[dict[str, JsonValue]] = (),
) -> ChatMessage:
    """A reply of the model; `calls` are its tool calls, each with the id its answer will name; `carried`: its reasoning."""
    message: ChatMessage = {"role": "assistant", "content": text}
    if carried:
        message[CARRIED] = list(carried)
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
    # Servers parse the arguments that are sent back, so broken ones are sent as a string inside an object.
    arguments: JsonValue = {"broken": call.broken} if call.broken else dict(call.arguments)
    return json.dumps(arguments, ensure_ascii=False)


_MAX_WORDS = 2_000


@dataclass(frozen=True)
class ServerMessage:
    """A server's error message. `code` and `type`: as the server names them; a numeric code as its digits."""

    words: str = ""
    code: str = ""
    type: str = ""

    @classmethod
    def of(cls, error: object) -> ServerMessage:
        """The message in the `error` of a JSON response: an object, a text, or something else."""
        if not isinstance(error, dict):
            return cls(_words(error))
        found = cast(dict[str, object], error)
        inner = found.get("error")
        if isinstance(inner, (dict, str)) and inner:
            return cls.of(cast(object, inner))
        words = found.get("message") or found.get("detail") or found.get("msg") or found
        return cls(_words(words), _name(found.get("code")), _name(found.get("type")))

    @classmethod
    def from_body(cls, body: bytes) -> ServerMessage:
        text = body.decode("utf-8", "replace").strip()
        try:
            return cls.of(json.loads(text))
        except (ValueError, RecursionError):
            return cls("" if text.startswith("<") else _words(text))


class ServerFailure(Exception):
    """The server reported a failure in place of a reply."""

    def __init__(self, error: object) -> None:
        self.message = ServerMessage.of(error)
        super().__init__(self.message.words)


def _words(value: object) -> str:
    if isinstance(value, str):
        return storable(value[:_MAX_WORDS])
    try:
        return storable(json.dumps(value, ensure_ascii=False)[:_MAX_WORDS])
    except (ValueError, RecursionError):
        return ""


def _name(value: object) -> str:
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


_MAX_OPENERS = 200
_MAX_FENCES = 3
_MAX_DEPTH = 60
_THOUGHT = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_STRAIGHT = {ord("“"): '"', ord("”"): '"'}
_OPENER = re.compile(r"[{\[]")
_DECODER = json.JSONDecoder()


def found_json(text: str) -> Iterator[JsonValue]:
    """The JSON objects and lists in a model's text, the most likely answer first. Reasoning is left out, broken JSON is
    repaired, and every value can be stored.
    """
    words = without_thoughts(text)
    for region in (*reversed(_fences(words)[-_MAX_FENCES:]), words):
        for value in _values(region):
            cleaned = _cleaned(value)
            if cleaned is not None:
                yield cleaned


def _values(region: str) -> Iterator[object]:
    first = _OPENER.search(region)
    if first is None:
        return
    whole = _embedded(region)
    size = len(region.rstrip()) - first.start()
    covered = whole[0][0] / size if whole else 0.0
    # Complete values that make up only part of the text may be pieces of a larger broken one.
    if covered < 0.5:
        yield mended_json(region)
    for _length, value in whole:
        yield value
    if 0.5 <= covered < 1:
        yield mended_json(region)


def without_thoughts(text: str) -> str:
    """`text` without its `<think>` blocks, also one whose begin tag a server dropped. A block that never ends stays."""
    kept: list[str] = []
    at, begun = 0, None
    for mark in _THOUGHT.finditer(text):
        if not mark[1]:
            begun = mark.start() if begun is None else begun
            continue
        if begun is None:
            kept.clear()
        else:
            kept.append(text[at:begun])
        at, begun = mark.end(), None
    return "".join((*kept, text[at:])).strip()


def mended_json(text: str) -> object:
    """The value of broken JSON from its first bracket on; None if it cannot be repaired."""
    first = _OPENER.search(text)
    if first is None:
        return None
    broken = text[first.start() :]
    if '"' not in broken:
        broken = broken.translate(_STRAIGHT)
    from cuecard.core.validation import repair

    value = repair(broken)
    return cast(object, value) if isinstance(value, (dict, list)) else None


def _fences(text: str) -> list[str]:
    """The contents of ``` fences. The last one may have no end, if the model ran out of tokens."""
    parts = text.split("```")
    return [part.removeprefix("json").removeprefix("JSON").strip() for part in parts[1::2]]


def _embedded(text: str) -> list[tuple[int, object]]:
    """Complete values anywhere in `text` with their lengths, the longest first."""
    spans: list[tuple[int, object]] = []
    at = 0
    for _try in range(_MAX_OPENERS):
        opener = _OPENER.search(text, at)
        if opener is None:
            break
        try:
            value, end = cast(tuple[object, int], _DECODER.raw_decode(text, opener.start()))
        except (ValueError, RecursionError):
            at = opener.start() + 1
            continue
        spans.append((end - opener.start(), value))
        at = end
    return sorted(spans, key=lambda span: -span[0])


def _cleaned(value: object) -> JsonValue:
    if not isinstance(value, (dict, list)):
        return None
    try:
        return cast(JsonValue, clean_json(cast(object, value)))
    except RecursionError:
        return None


def clean_json(value: object, depth: int = 0) -> object:
    """`value` without characters that files cannot hold. Raises `RecursionError` if it is nested too deeply."""
    if depth > _MAX_DEPTH:
        raise RecursionError
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        items = cast(dict[object, object], value).items()
        return {storable(str(key)): clean_json(item, depth + 1) for key, item in items}
    if isinstance(value, list):
        return [clean_json(item, depth + 1) for item in cast(list[object], value)]
    return str(value) if isinstance(value, float) and not isfinite(value) else value
