"""A trial as a sample of an Inspect AI log."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from pydantic import JsonValue

from cuecard.core.events import Termination, TrialStarted
from cuecard.core.formats.trajectories import inspect_shapes as shapes
from cuecard.core.formats.trajectories.gold_text import MEASURES, item_text, target_of
from cuecard.core.formats.trajectories.inspect_events import Events, message_of, usage_of
from cuecard.core.formats.trajectories.messages import chat_of
from cuecard.core.formats.trajectories.model import Judged, Payment, Trajectory
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Decision

_LIMITS: dict[Termination, shapes.LimitType] = {
    Termination.MAX_TURNS: "turn",
    Termination.CONTEXT_OVERFLOW: "context",
}
_THIN = 1000
_SIGN = {Decision.YES: "✓", Decision.NO: "✗", Decision.UNJUDGED: "?"}


def sample_of(trajectory: Trajectory) -> shapes.Sample:
    """Epochs count from 1, our samples from 0. Scores are the family's measures by each judge, those of the first
    judge under their plain names; the first of them explains itself by all verdicts.
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
        output=_output(t),
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
    return shapes.Summary(
        id=sample.id,
        epoch=sample.epoch,
        input=sample.input[:_THIN],
        target=target[:_THIN] if isinstance(target, str) else tuple(t[:_THIN] for t in target),
        metadata={k: v for k, v in sample.metadata.items() if isinstance(v, str | int)},
        scores=scores,
        model_usage=sample.model_usage,
        role_usage=sample.role_usage,
        started_at=sample.started_at,
        completed_at=sample.completed_at,
        total_time=sample.total_time,
        working_time=sample.working_time,
        uuid=sample.uuid,
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
    """An id of 22 characters that follows from these."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:22]


def _output(trajectory: Trajectory) -> shapes.Output:
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
    usage = payments[0].usage
    for payment in payments[1:]:
        usage = usage.plus(payment.usage)
    costs = [payment.cost for payment in payments if payment.cost is not None]
    return usage_of(usage, sum(costs) if costs else None)


def times(trajectories: Iterable[tuple[datetime, datetime]]) -> tuple[str, str]:
    """When the first of these began and the last ended."""
    pairs = list(trajectories)
    return min(a for a, _b in pairs).isoformat(), max(b for _a, b in pairs).isoformat()


def as_data(value: Frozen) -> dict[str, JsonValue]:
    """As it is written: without fields that are None."""
    return value.model_dump(mode="json", exclude_none=True)
