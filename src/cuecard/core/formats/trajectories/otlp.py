"""Spans in OTLP's JSON encoding: ids in hex, whole numbers and times as text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import JsonValue

from cuecard.core.parts import ToolCall

INTERNAL, CLIENT = 1, 3
"""Kinds of spans."""
_ERROR = 2
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

Value = str | int | float | bool | Sequence[str]
Attributes = dict[str, Value]
Json = dict[str, Any]


@dataclass
class Span:
    """`end` may grow while what happens within it is read."""

    key: str
    name: str
    parent: str | None
    start: datetime
    end: datetime
    kind: int = INTERNAL
    attributes: Attributes = field(default_factory=dict[str, Value])
    error: str = ""


def span_json(uid: str, trace: str, span: Span) -> Json:
    data: Json = {
        "traceId": trace,
        "spanId": digest("span", uid, span.key)[:16],
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": _nanos(span.start),
        "endTimeUnixNano": _nanos(max(span.start, span.end)),
        "attributes": attributes_json(
            span.attributes | ({"error.type": span.error} if span.error else {})
        ),
        "status": {"code": _ERROR, "message": span.error} if span.error else {},
    }
    if span.parent is not None:
        data["parentSpanId"] = digest("span", uid, span.parent)[:16]
    return data


def attributes_json(attributes: Mapping[str, Value]) -> list[JsonValue]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items()]


def _value(value: Value) -> Json:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": value}
        case several:
            return {"arrayValue": {"values": [{"stringValue": one} for one in several]}}


def message_text(
    role: str,
    text: str,
    reasoning: str = "",
    calls: Iterable[ToolCall] = (),
    finish_reason: str = "",
) -> str:
    """One message in the convention's parts, as JSON text."""
    parts: list[JsonValue] = []
    if reasoning:
        parts.append({"type": "reasoning", "content": reasoning})
    if text:
        parts.append({"type": "text", "content": text})
    for call in calls:
        parts.append(
            {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments}
        )
    return json_text([{"role": role, "parts": parts, "finish_reason": finish_reason or "stop"}])


def json_text(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)


def _nanos(when: datetime) -> str:
    return str((when.astimezone(UTC) - _EPOCH) // _MICROSECOND * 1000)


def digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
