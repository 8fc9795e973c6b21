"""The events of a trial as Inspect AI tells them: model calls, tool calls, and the rest as information."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TypedDict

from pydantic import JsonValue

from cuecard.core.events import (
    Concluded,
    Event,
    Marked,
    ModelReplied,
    ToolAnswered,
    TrialEnded,
    UserSpoke,
)
from cuecard.core.formats.trajectories import inspect_shapes as shapes
from cuecard.core.formats.trajectories.messages import Call, ChatMessage
from cuecard.core.formats.trajectories.model import Trajectory
from cuecard.core.marks import Compaction
from cuecard.core.parts import ModelReply, ToolCall, Usage

_STOPS: dict[str, shapes.StopReason] = {
    "stop": "stop",
    "length": "max_tokens",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
    "context_overflow": "model_length",
}
AnyEvent = (
    shapes.SampleInit
    | shapes.ModelEvent
    | shapes.ToolEvent
    | shapes.InfoEvent
    | shapes.CompactionEvent
    | shapes.ScoreEvent
    | shapes.ErrorEvent
)


class _Stamp(TypedDict):
    uuid: str
    timestamp: str
    working_start: float


class Events:
    """`messages`: the sample's messages, which calls of the agent refer to by their place."""

    def __init__(
        self, trajectory: Trajectory, started: datetime, messages: tuple[shapes.Message, ...]
    ) -> None:
        self._trajectory = trajectory
        self._started = started
        self._places = {message.id: place for place, message in enumerate(messages)}
        self.working_time = 0.0

    def all(
        self,
        opening: str,
        target: str | tuple[str, ...],
        scores: Mapping[str, shapes.Score],
        error: shapes.Error | None,
    ) -> tuple[AnyEvent, ...]:
        """In the order of the log, then the scores."""
        t = self._trajectory
        data = shapes.SampleData(input=opening, target=target, id=t.task.id)
        found: list[AnyEvent] = [shapes.SampleInit(**self._at("init", self._started), sample=data)]
        before = self._started
        for event in t.events:
            one = self._event(event, before)
            found += [one] if one else []
            before = event.at
        if error:
            found.append(shapes.ErrorEvent(**self._at("error", t.ended_at), error=error))
        for name, score in scores.items():
            found.append(
                shapes.ScoreEvent(**self._at(f"score/{name}", t.ended_at), score=score, scorer=name)
            )
        return tuple(found)

    def _event(self, event: Event, before: datetime) -> AnyEvent | None:
        match event.body:
            case ModelReplied() as replied:
                return self._model(replied, event)
            case ToolAnswered() as answered:
                return self._tool(answered, event, before)
            case Marked(mark=Compaction() as cut):
                return shapes.CompactionEvent(
                    **self._at(event.seq, event.at),
                    type="summary" if cut.strategy == "summary" else "trim",
                    tokens_before=cut.before,
                    metadata=cut.model_dump(mode="json"),
                )
            case Marked(mark=mark):
                return self._info(event, mark.kind, mark.model_dump(mode="json"))
            case UserSpoke(reply=reply):
                data = reply.model_dump(mode="json", exclude_defaults=True)
                return self._info(event, "user", {"text": reply.text, **data})
            case Concluded(prediction=prediction):
                data = prediction.model_dump(mode="json", exclude={"raw"})
                return self._info(event, "prediction", data)
            case TrialEnded() as ended:
                return self._info(event, "end", ended.model_dump(mode="json", exclude={"type"}))
            case _:
                return None

    def _model(self, replied: ModelReplied, event: Event) -> shapes.ModelEvent:
        reply = replied.reply
        seconds = reply.latency_ms / 1000
        start = max(event.at - timedelta(seconds=seconds), self._started)
        self.working_time += seconds
        id_ = message_id(self._trajectory.uid, event.seq, "assistant")
        place = self._places.get(id_)
        return shapes.ModelEvent(
            **self._at(event.seq, start),
            model=reply.model or replied.model,
            role=replied.payer,
            input_refs=None if place is None else ((0, place),),
            output=_output(replied, id_),
            retries=reply.attempts - 1 or None,
            completed=event.at.isoformat(),
            working_time=seconds,
            metadata={"key": replied.key, "prompt": replied.prompt, "cost": reply.cost},
        )

    def _tool(self, answered: ToolAnswered, event: Event, before: datetime) -> shapes.ToolEvent:
        call, answer = answered.call, answered.answer
        start = min(before, event.at)
        data: dict[str, JsonValue] = {"key": answered.key, "part": answered.part}
        if answer.hit:
            data["hit"] = answer.hit.model_dump(mode="json")
        id_ = message_id(self._trajectory.uid, event.seq, "tool")
        return shapes.ToolEvent(
            **self._at(event.seq, start),
            id=call.id or answered.key,
            function=call.name,
            arguments=call.arguments,
            result=answer.text,
            error=None if answer.ok else shapes.ToolError(message=answer.text),
            completed=event.at.isoformat(),
            working_time=(event.at - start) / timedelta(seconds=1),
            message_id=id_ if id_ in self._places else None,
            metadata=data,
        )

    def _info(self, event: Event, source: str, data: JsonValue) -> shapes.InfoEvent:
        return shapes.InfoEvent(**self._at(event.seq, event.at), source=source, data=data)

    def _at(self, name: object, when: datetime) -> _Stamp:
        return {
            "uuid": f"{self._trajectory.uid}/{name}",
            "timestamp": when.isoformat(),
            "working_start": max((when - self._started) / timedelta(seconds=1), 0.0),
        }


def message_of(message: ChatMessage, trial: str, place: int) -> shapes.Message:
    """`trial`: its uid; `place`: of the message in the conversation."""
    where = place if message.seq is None else message.seq
    role = message.role if message.seq is not None else f"prompt/{message.role}"
    content: str | tuple[shapes.Part, ...] = message.content
    if message.reasoning:
        reasoning = shapes.Part(type="reasoning", reasoning=message.reasoning)
        content = (reasoning, shapes.Part(type="text", text=message.content))
    told = message.role == "tool"
    return shapes.Message(
        id=message_id(trial, where, role),
        role=message.role,
        content=content,
        source="generate" if message.model else None,
        tool_calls=tuple(map(call_of, message.calls)) or None,
        model=message.model or None,
        tool_call_id=message.call_id if told else None,
        function=message.name if told else None,
        error=None if message.ok else shapes.ToolError(message=message.content),
    )


def message_id(trial: str, where: int, role: str) -> str:
    return f"{trial}/{where}/{role}"


def call_of(call: Call | ToolCall) -> shapes.ToolCall:
    error = f"no arguments could be read from: {call.broken}" if call.broken else None
    return shapes.ToolCall(
        id=call.id, function=call.name, arguments=call.arguments, parse_error=error
    )


def usage_of(usage: Usage, cost: float | None = None) -> shapes.ModelUsage:
    return shapes.ModelUsage(
        input_tokens=max(usage.prompt - usage.cached, 0),
        output_tokens=usage.completion,
        total_tokens=usage.prompt + usage.completion,
        input_tokens_cache_read=usage.cached or None,
        reasoning_tokens=usage.reasoning or None,
        total_cost=cost,
    )


def _output(replied: ModelReplied, id_: str) -> shapes.Output:
    reply: ModelReply = replied.reply
    model = reply.model or replied.model
    said = message_of(
        ChatMessage(
            role="assistant", content=reply.text, reasoning=reply.reasoning, seq=0, model=model
        ),
        "",
        0,
    )
    calls = tuple(call_of(call) for call in reply.tool_calls) or None
    message = said.model_copy(update={"id": id_, "tool_calls": calls})
    return shapes.Output(
        model=model,
        choices=(
            shapes.Choice(message=message, stop_reason=_STOPS.get(reply.finish_reason, "stop")),
        ),
        completion=reply.text,
        usage=usage_of(reply.usage, reply.cost),
        time=reply.latency_ms / 1000,
    )
