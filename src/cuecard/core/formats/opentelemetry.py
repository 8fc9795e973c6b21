"""A trial as OpenTelemetry spans, in OTLP's JSON encoding."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import JsonValue

from cuecard.core.engine.events import (
    AgentSpoke,
    Concluded,
    Event,
    ModelReplied,
    ToolAnswered,
    UserSpoke,
)
from cuecard.core.engine.messages import ToolCall
from cuecard.core.formats.trajectory import Trajectory

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
    """A span under construction; `end` grows while the events within it are read."""

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


SCHEMA_URL = "https://opentelemetry.io/schemas/1.41.0"
SCOPE = "cuecard"
WORKFLOW = "cuecard trial"


def traces_of(trajectory: Trajectory, version: str, *, content: bool = False) -> Json:
    """One trial's spans as an OTLP `TracesData` message. `content`: with what was said."""
    t = trajectory
    trace = digest("trace", t.uid)[:32]
    resource: Attributes = {
        "service.name": "cuecard",
        "service.version": version,
        "cuecard.run.id": t.run_uid,
        "cuecard.run.name": t.run,
    }
    spans = [span_json(t.uid, trace, span) for span in _Reader(t, content).spans()]
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": attributes_json(resource)},
                "scopeSpans": [
                    {
                        "scope": {"name": SCOPE, "version": version},
                        "spans": spans,
                        "schemaUrl": SCHEMA_URL,
                    }
                ],
                "schemaUrl": SCHEMA_URL,
            }
        ]
    }


class _Reader:
    def __init__(self, trajectory: Trajectory, content: bool) -> None:
        self._t = trajectory
        self._content = content
        self._spans: dict[str, Span] = {}

    def spans(self) -> list[Span]:
        """The trial's, then the others in the order of the log, each after its parent."""
        t = self._t
        start = t.events[0].at if t.events else t.created_at
        root = Span("", f"invoke_workflow {WORKFLOW}", None, start, max(start, t.ended_at))
        root.attributes = self._trial()
        root.error = t.termination.value if t.termination.is_failure else ""
        before = start
        for event in t.events:
            self._read(event, before)
            before = event.at
        return [root, *self._ordered()]

    def _read(self, event: Event, before: datetime) -> None:
        match event.body:
            case ModelReplied() as replied:
                latency = timedelta(milliseconds=replied.reply.latency_ms)
                start = max(event.at - latency, self._t.events[0].at)
                parent = self._within(replied.part, replied.turn, replied.scope, start, event.at)
                self._spans[replied.key] = self._chat(replied, parent, start, event.at)
            case ToolAnswered() as answered:
                start = min(before, event.at)
                parent = self._within(answered.part, answered.turn, answered.scope, start, event.at)
                self._tool(answered, parent, start, event.at)
            case UserSpoke(turn=turn, reply=reply):
                self._said("user", turn, before, event.at, reply.text)
            case AgentSpoke(turn=turn, reply=reply):
                self._said("agent", turn, before, event.at, reply.text)
            case Concluded(prediction=prediction):
                turn = max(
                    (e.body.turn for e in self._t.events if isinstance(e.body, UserSpoke)),
                    default=0,
                )
                key = f"conclusion/{turn}"
                self._said("conclusion", turn, before, event.at, prediction.raw)
                self._spans[key].attributes["cuecard.prediction"] = prediction.kind
            case _:
                pass

    def _within(self, part: str, turn: int, scope: str, start: datetime, end: datetime) -> str:
        """The span that a step stands in: the tool call that its scope is of, else the part's turn."""
        turned = self._turn(part, turn, start, end)
        inside = _tool_of(scope)
        if inside is None:
            return turned
        # A call is recorded when it is answered, after the events within it.
        key = f"{part}/{turn}/{inside}"
        span = self._spans.setdefault(key, Span(key, "execute_tool", turned, start, end))
        span.start, span.end = min(span.start, start), max(span.end, end)
        return key

    def _turn(self, part: str, turn: int, start: datetime, end: datetime) -> str:
        key = f"{part}/{turn}"
        player = self._t.user if part == "user" else self._t.agent
        span = self._spans.setdefault(key, Span(key, f"invoke_agent {player.name}", "", start, end))
        span.start, span.end = min(span.start, start), max(span.end, end)
        span.attributes = {
            **self._common("invoke_agent"),
            "gen_ai.agent.name": player.name,
            "gen_ai.agent.version": player.version,
            **({"gen_ai.request.model": player.model} if player.model else {}),
            "cuecard.part": part,
            "cuecard.turn": turn,
            **{k: v for k, v in span.attributes.items() if k.startswith("gen_ai.output")},
        }
        return key

    def _said(self, part: str, turn: int, before: datetime, at: datetime, text: str) -> None:
        key = self._turn(part, turn, min(before, at), at)
        if self._content and text:
            self._spans[key].attributes["gen_ai.output.messages"] = message_text("assistant", text)

    def _chat(self, replied: ModelReplied, parent: str, start: datetime, end: datetime) -> Span:
        reply = replied.reply
        attributes: Attributes = {
            **self._common("chat"),
            "gen_ai.request.model": replied.model,
            "gen_ai.response.model": reply.model or replied.model,
            "gen_ai.usage.input_tokens": reply.usage.prompt,
            "gen_ai.usage.output_tokens": reply.usage.completion,
            "cuecard.payer": replied.payer,
        }
        if reply.finish_reason:
            attributes["gen_ai.response.finish_reasons"] = (reply.finish_reason,)
        if reply.usage.cached:
            attributes["gen_ai.usage.cache_read.input_tokens"] = reply.usage.cached
        if reply.usage.reasoning:
            attributes["gen_ai.usage.reasoning.output_tokens"] = reply.usage.reasoning
        if reply.cost is not None:
            attributes["cuecard.cost"] = reply.cost
        if self._content:
            attributes["gen_ai.output.messages"] = message_text(
                "assistant", reply.text, reply.reasoning, reply.tool_calls, reply.finish_reason
            )
        return Span(replied.key, f"chat {replied.model}", parent, start, end, CLIENT, attributes)

    def _tool(self, answered: ToolAnswered, parent: str, start: datetime, end: datetime) -> None:
        call, answer = answered.call, answered.answer
        within = self._spans.get(answered.key)
        attributes: Attributes = {
            **self._common("execute_tool"),
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": call.id or answered.key,
        }
        if answer.hit is not None:
            attributes["cuecard.hit"] = answer.hit.hit
        if self._content:
            attributes["gen_ai.tool.call.arguments"] = call.broken or json_text(call.arguments)
            attributes["gen_ai.tool.call.result"] = answer.text
        self._spans[answered.key] = Span(
            answered.key,
            f"execute_tool {call.name}",
            parent,
            min(start, within.start) if within else start,
            max(end, within.end) if within else end,
            attributes=attributes,
            error="" if answer.ok else "refused",
        )

    def _common(self, operation: str) -> Attributes:
        return {
            "gen_ai.operation.name": operation,
            # The log does not record whose endpoint it was, only that it used OpenAI's protocol.
            "gen_ai.provider.name": "openai" if operation == "chat" else SCOPE,
            "gen_ai.conversation.id": self._t.uid,
        }

    def _trial(self) -> Attributes:
        t = self._t
        scores: Attributes = {
            f"cuecard.score.{judged.judgement.judge.name}.{m.name}": m.value
            for judged in t.judged
            for m in judged.measures
            if m.value is not None
        }
        return {
            **self._common("invoke_workflow"),
            "gen_ai.workflow.name": WORKFLOW,
            "cuecard.task.id": t.task.id,
            "cuecard.task.family": t.family,
            "cuecard.task.revision": t.revision,
            "cuecard.task.revision_hash": t.revision_hash,
            "cuecard.sample": t.sample,
            "cuecard.agent": t.agent.name,
            "cuecard.user": t.user.name,
            "cuecard.world": t.world.name,
            "cuecard.termination": t.termination.value,
            **scores,
        }

    def _ordered(self) -> Iterator[Span]:
        """Parents before what they hold."""
        return iter(sorted(self._spans.values(), key=lambda s: (s.start, s.key.count("/"), s.key)))


def _tool_of(scope: str) -> str | None:
    """The tool call that a scope is of: `tool/2/…` is the world answering call 2, `member/2/…` the helper that was
    given its task by it.
    """
    parts = scope.strip("/").split("/")
    if len(parts) < 2 or parts[0] not in ("tool", "member"):
        return None
    number = int(parts[1]) if parts[1].isdecimal() else None
    return None if number is None else f"tool/{number}"
