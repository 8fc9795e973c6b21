"""A trial as a sample of an Inspect AI log, with its events in Inspect AI's terms."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypedDict

from pydantic import JsonValue

from cuecard.core.engine.events import (
    Concluded,
    Event,
    Marked,
    ModelReplied,
    Termination,
    ToolAnswered,
    TrialEnded,
    TrialStarted,
    UserSpoke,
)
from cuecard.core.engine.messages import Compaction, ModelReply, ToolCall, Usage
from cuecard.core.formats import inspect_schema as shapes
from cuecard.core.formats.trajectory import (
    MEASURES,
    Call,
    ChatMessage,
    Judged,
    Payment,
    Trajectory,
    chat_of,
    item_text,
    target_of,
)
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Decision

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
    """Converts a trial's events. `messages`: those of the sample, to which model calls refer by index."""

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
        """All events in the order of the log, then the scores."""
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


_LIMITS: dict[Termination, shapes.LimitType] = {
    Termination.MAX_TURNS: "turn",
    Termination.CONTEXT_OVERFLOW: "context",
}
_THIN = 1000
_SIGN = {Decision.YES: "✓", Decision.NO: "✗", Decision.UNJUDGED: "?"}


def sample_of(trajectory: Trajectory) -> shapes.Sample:
    """The Inspect AI sample of a trial. Its epoch is our sample number + 1. Scores are the family's measures by each
    judge, those of the first judge under their plain names; the first score's explanation lists all verdicts.
    """
    t = trajectory
    messages = tuple(message_of(m, t.uid, n) for n, m in enumerate(chat_of(t.events, t.prompts)))
    scores = {
        name: score
        for place, judged in enumerate(t.judged)
        for name, score in _scores(t, judged, plain=place == 0).items()
    }
    started = t.events[0].at if t.events else t.created_at
    target = target_of(t.task)
    events = Events(t, started, messages)
    return shapes.Sample(
        id=t.task.id,
        epoch=t.sample + 1,
        input=t.task.opening,
        target=target,
        messages=messages,
        output=_inspect_log_output(t),
        scores=scores,
        metadata=_metadata(t),
        events=events.all(t.task.opening, target, scores, error_of(t)),
        events_data=shapes.Pool(messages=messages),
        model_usage=usage_by(t.payments, "model"),
        role_usage=usage_by(t.payments, "payer"),
        started_at=started.isoformat(),
        completed_at=t.ended_at.isoformat(),
        total_time=max((t.ended_at - started) / timedelta(seconds=1), 0.0),
        working_time=events.working_time,
        uuid=t.uid or mark(t.run_uid, t.task.id, t.sample),
        error=error_of(t),
        limit=_limit(t),
    )


def summary_of(sample: shapes.Sample) -> shapes.Summary:
    """What lists show of a sample, with long texts cut as the format asks."""
    scores = {
        name: score.model_copy(
            update={"answer": _thin(score.answer), "explanation": _thin(score.explanation)}
        )
        for name, score in sample.scores.items()
    }
    target = sample.target
    return shapes.Summary.from_fields(
        sample,
        input=sample.input[:_THIN],
        target=target[:_THIN] if isinstance(target, str) else tuple(t[:_THIN] for t in target),
        metadata={k: v for k, v in sample.metadata.items() if isinstance(v, str | int)},
        scores=scores,
        error=sample.error.message if sample.error else None,
        limit=sample.limit.type if sample.limit else None,
        message_count=len(sample.messages),
    )


def usage_by(payments: Iterable[Payment], by: str) -> dict[str, shapes.ModelUsage]:
    """Sums over payments, by `model` or by `payer`."""
    found: dict[str, list[Payment]] = defaultdict(list)
    for payment in payments:
        found[payment.model if by == "model" else payment.payer].append(payment)
    return {name: _total(paid) for name, paid in sorted(found.items())}


def error_of(trajectory: Trajectory) -> shapes.Error | None:
    """What a trial failed with, unless a limit ended it."""
    end = trajectory.termination
    if not end.is_failure or end in _LIMITS:
        return None
    return shapes.Error(message=f"{end.value}: {trajectory.detail}".rstrip(": "))


def mark(*parts: object) -> str:
    """An id of 22 characters that is a hash of `parts`."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:22]


def _inspect_log_output(trajectory: Trajectory) -> shapes.Output:
    model = trajectory.agent.model or trajectory.agent.name
    said = shapes.Message(
        id=mark(trajectory.uid, "response"),
        role="assistant",
        content=trajectory.response,
        source="generate",
    )
    return shapes.Output(
        model=model, choices=(shapes.Choice(message=said),), completion=trajectory.response
    )


def _scores(trajectory: Trajectory, judged: Judged, *, plain: bool) -> dict[str, shapes.Score]:
    by_name = {measure.name: measure for measure in judged.measures}
    judge = judged.judgement.judge
    found: dict[str, shapes.Score] = {}
    for place, name in enumerate(MEASURES[trajectory.family]):
        measure = by_name.get(name)
        if measure is None or measure.value is None:
            continue
        metadata: dict[str, JsonValue] = {
            "n": measure.n,
            "judge": judge.name,
            "judge_model": judge.model,
            "baseline": judge.baseline,
            "revision_hash": judged.judgement.revision_hash,
        }
        first = place == 0
        found[name if plain else f"{name}@{judge.name}"] = shapes.Score(
            value=measure.value,
            answer=trajectory.response if first else None,
            explanation=_explanation(trajectory, judged) if first else f"n = {measure.n}",
            metadata=metadata,
        )
    return found


def _explanation(trajectory: Trajectory, judged: Judged) -> str:
    """A line for each verdict: `✓` covered or right, `✗` not, `?` not judged, then why. The viewer reads Markdown."""
    lines = [f"Judged by {judged.judgement.judge.name}", ""]
    for verdict in judged.judgement.verdicts:
        why = f": {verdict.rationale}" if verdict.rationale else ""
        lines.append(f"- {_SIGN[verdict.decision]} {item_text(trajectory.task, verdict.item)}{why}")
    return "\n".join(lines)


def _metadata(trajectory: Trajectory) -> dict[str, JsonValue]:
    t = trajectory
    shown = t.model_dump(mode="json", include={"agent", "user", "world", "seed", "takes"})
    measures: dict[str, JsonValue] = {
        judged.judgement.judge.name: {m.name: m.value for m in judged.measures}
        for judged in t.judged
    }
    return {
        "family": t.family,
        "title": t.task.title,
        "language": t.task.language,
        "revision": t.revision,
        "revision_hash": t.revision_hash,
        "termination": t.termination.value,
        "detail": t.detail,
        "prediction": t.prediction.kind,
        "measures": measures,
        **shown,
    }


def _thin(text: str | None) -> str | None:
    return text[:_THIN] if text else text


def _limit(trajectory: Trajectory) -> shapes.Limit | None:
    kind = _LIMITS.get(trajectory.termination)
    if kind is None:
        return None
    started = (e.body for e in trajectory.events if isinstance(e.body, TrialStarted))
    turns = next((body.limits.max_turns for body in started), 0)
    return shapes.Limit(
        type=kind,
        limit=float(turns if kind == "turn" else 0),
        reason=trajectory.detail or trajectory.termination.value,
    )


def _total(payments: Sequence[Payment]) -> shapes.ModelUsage:
    usage = Usage.total(payment.usage for payment in payments)
    costs = [payment.cost for payment in payments if payment.cost is not None]
    return usage_of(usage, sum(costs) if costs else None)


def times(trajectories: Iterable[tuple[datetime, datetime]]) -> tuple[str, str]:
    """When the first of these began and the last ended."""
    pairs = list(trajectories)
    return min(a for a, _b in pairs).isoformat(), max(b for _a, b in pairs).isoformat()


def as_data(value: Frozen) -> dict[str, JsonValue]:
    """As it is written: without fields that are None."""
    return value.model_dump(mode="json", exclude_none=True)
