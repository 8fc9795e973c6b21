"""Our own lines: everything that is recorded of a trial, whole. `SCHEMA` is raised with every change that a
reader would notice; docs/results.md says what the fields are.
"""

from __future__ import annotations

from pydantic import JsonValue

from cuecard.core.formats.trajectories.messages import as_openai, chat_of
from cuecard.core.formats.trajectories.model import Judged, Trajectory

SCHEMA = "cuecard.trial/2"
_PLAYERS = ("agent", "user", "world")


def line_of(trajectory: Trajectory) -> dict[str, JsonValue]:
    """One trial as an object. Texts are never cut."""
    data = trajectory.model_dump(mode="json", include=set(_PLAYERS))
    task = trajectory.task
    return {
        "schema": SCHEMA,
        "run": {"name": trajectory.run, "uid": trajectory.run_uid},
        "trial": trajectory.uid,
        "task": task.id,
        "title": task.title,
        "family": trajectory.family,
        "language": task.language,
        "revision": {"number": trajectory.revision, "hash": trajectory.revision_hash},
        "sample": trajectory.sample,
        "seed": trajectory.seed,
        **{part: data[part] for part in _PLAYERS},
        "termination": {"reason": trajectory.termination.value, "detail": trajectory.detail},
        "created_at": trajectory.created_at.isoformat(),
        "ended_at": trajectory.ended_at.isoformat(),
        "takes": trajectory.takes,
        "messages": [as_openai(m) for m in chat_of(trajectory.events, trajectory.prompts)],
        "events": [event.model_dump(mode="json") for event in trajectory.events],
        "prediction": trajectory.prediction.model_dump(mode="json"),
        "response": trajectory.response,
        "judgements": [_judged(judged) for judged in trajectory.judged],
        "usage": [payment.model_dump(mode="json") for payment in trajectory.payments],
        "prompts": dict(trajectory.prompts),
    }


def _judged(judged: Judged) -> dict[str, JsonValue]:
    data = judged.judgement.model_dump(mode="json")
    for verdict, given in zip(data["verdicts"], judged.judgement.verdicts, strict=True):
        verdict["key"] = given.item.key
    measures: dict[str, JsonValue] = {
        m.name: {"value": m.value, "n": m.n, **({"reason": m.reason} if m.value is None else {})}
        for m in judged.measures
    }
    return {**data, "measures": measures}
