"""Runs with many agents of known skill on copies of the sample tasks, made from what the embedded players played
once: for looking at results, and for tests of what does not follow by hand.

python planted_results.py DB [COPIES] [SAMPLES]
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cuecard.annotate.samples import load_samples
from cuecard.core.engine.events import (
    Concluded,
    Event,
    EventBody,
    Limits,
    Marked,
    ModelReplied,
    RunState,
    Termination,
    ToolAnswered,
    TrialEnded,
    TrialStarted,
    UserSpoke,
)
from cuecard.core.engine.messages import (
    CheckpointStatus,
    Compaction,
    Hit,
    ModelReply,
    PlayerRef,
    Usage,
)
from cuecard.core.evaluation.judging import judge_run
from cuecard.core.evaluation.plans import PlayerConfigs, RunPlan
from cuecard.core.evaluation.runs import start_run
from cuecard.core.predictions import (
    AnswerPrediction,
    PredictedTriple,
    Prediction,
    TablePrediction,
    TriplesPrediction,
    UnusablePrediction,
)
from cuecard.core.records import TrialCell
from cuecard.core.tasks.gold import FAMILIES, Family
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace

DOMAINS = ("travel", "science", "culture")
DIFFICULTIES = ("easy", "medium", "hard")
START = datetime(2026, 11, 1, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Planted:
    """An agent: the share of the gold that it finds, what a call costs, how it is set."""

    name: str
    skill: float
    cost: float
    kind: str = "react"
    setting: str = ""
    memory: str = "none"
    compacts: float = 0.2


AGENTS = (
    Planted("alpha", 0.85, 0.004, compacts=0.5),
    Planted("beta", 0.6, 0.001),
    Planted("gamma", 0.75, 0.002, kind="team"),
)
GUIDED = (
    Planted("alpha", 0.9, 0.004, setting="guided", compacts=0.5),
    Planted("beta", 0.7, 0.001, setting="guided", memory="local"),
)


def plant(
    workspace: Workspace,
    name: str = "main",
    agents: Sequence[Planted] = AGENTS,
    *,
    copies: int = 1,
    samples: int = 2,
    seed: int = 0,
    unended: int = 0,
    families: Collection[Family] = FAMILIES,
) -> int:
    """A judged run of `agents` on `copies` of every sample task of these families; the last `unended` trials are still
    open.
    """
    samples_of = [task for task in load_samples() if task.family in families]
    tasks = _tasks(samples_of, copies)
    for task in tasks:
        workspace.tasks.save(task, author="ann", message="")
    logs = _logs_by_task(workspace, tasks, [task.id for task in samples_of])
    roster: PlayerConfigs = {}
    for agent in agents:
        roster[f"agents/{agent.name}"] = {
            "kind": agent.kind,
            "model": f"{agent.name}-model",
            "memory": agent.memory,
            "settings": {
                "facts": agent.setting or "end_to_end",
                "checkpoints": agent.setting or "neutral",
                "graph": "simulated",
            },
        }
        roster[f"models/{agent.name}-model"] = {"model": f"{agent.name}-7b", "temperature": 0.6}
    run = workspace.runs.create(
        name=name,
        kind="grid",
        created_by="ann",
        samples=samples,
        limits=Limits(),
        plan={"roster": dict(roster)},
    )
    plan = [(task, agent, s) for task in tasks for agent in agents for s in range(samples)]
    cells = [
        TrialCell(
            task_id=task.id,
            revision=1,
            agent=PlayerRef(name=agent.name, kind=agent.kind, model=f"{agent.name}-7b"),
            user=logs[task.id][0].body.user,
            world=logs[task.id][0].body.world,
            sample=sample,
            seed=sample,
        )
        for task, agent, sample in plan
    ]
    trials = workspace.runs.add_trials(run.id, cells)
    for (task, agent, sample), trial in list(zip(plan, trials, strict=True))[
        : len(trials) - unended
    ]:
        rng = random.Random(f"{seed}/{task.id}/{agent.name}/{agent.setting}/{sample}")
        bodies = _played(logs[task.id], agent, rng)
        events = [
            Event(seq=seq, at=START + timedelta(seconds=seq), body=body)
            for seq, body in enumerate(bodies)
        ]
        workspace.runs.append_events([(trial.id, event) for event in events])
    asyncio.run(judge_run(workspace, run.id))
    if not unended:
        workspace.runs.set_state(run.id, RunState.DONE)
    return run.id


def _tasks(samples: Sequence[Task], copies: int) -> list[Task]:
    found: list[Task] = []
    for n in range(copies):
        for at, task in enumerate(samples):
            found.append(
                task.model_copy(
                    update={
                        "id": f"{task.id}-{n}" if n else task.id,
                        "title": f"{task.title} {n}" if n else task.title,
                        "domain": task.domain or DOMAINS[(n + at) % 3],
                        "difficulty": task.difficulty or DIFFICULTIES[(n + at) % 3],
                    }
                )
            )
    return found


def _logs_by_task(
    workspace: Workspace, tasks: Sequence[Task], samples: Sequence[str]
) -> dict[str, tuple[Event, ...]]:
    """What the embedded players make of each of these samples, for all of its copies."""
    known = workspace.runs.all()
    source = next((run for run in known if run.name == "source"), None)
    if source is None:
        plan = RunPlan(tasks=tuple(samples), name="source")
        source = asyncio.run(start_run(workspace, plan, by="ann")).run
    logs = {t.task_id: tuple(workspace.runs.events(t.id)) for t in workspace.runs.trials(source.id)}
    return {
        task.id: next(
            logs[s] for s in sorted(samples, key=len, reverse=True) if task.id.startswith(s)
        )
        for task in tasks
    }


def _played(effective: Sequence[Event], agent: Planted, rng: random.Random) -> list[EventBody]:
    """The effective log as an agent of this skill would have had it."""
    bodies: list[EventBody] = []
    steps: dict[tuple[str, int], int] = {}
    cut = rng.random() < agent.compacts
    skill = min(1.0, max(0.05, rng.gauss(agent.skill, 0.15)))
    for event in effective:
        body = event.body
        match body:
            case TrialStarted():
                ref = PlayerRef(name=agent.name, kind=agent.kind, model=f"{agent.name}-7b")
                body = body.model_copy(update={"agent": ref})
            case ToolAnswered():
                n = steps[body.part, body.turn] = steps.get((body.part, body.turn), -1) + 1
                bodies.append(_called(agent, body.part, body.turn, n, rng))
                if cut and n == 1 and body.turn <= 1 and body.part == "agent":
                    mark = Compaction(strategy="summary", before=240_000, limit=230_400, kept=6)
                    bodies.append(Marked(part="agent", turn=body.turn, step=0, mark=mark))
                    cut = False
                if body.answer.hit and body.answer.hit.hit and rng.random() > skill:
                    missed = Hit(is_compound=False, hit=False, reason="nothing matches")
                    answer = body.answer.model_copy(update={"hit": missed})
                    body = body.model_copy(update={"answer": answer})
            case UserSpoke():
                body = _said(body, skill, rng)
            case Concluded():
                if rng.random() < 0.04:
                    ended = {
                        "termination": Termination.API_ERROR,
                        "detail": "HTTP 503 from the server",
                    }
                    return [*bodies, TrialEnded(**ended)]
                bodies.append(_called(agent, "conclusion", 0, 0, rng))
                body = Concluded(prediction=_handed_in(body.prediction, skill, rng))
            case _:
                pass
        bodies.append(body)
    return bodies


def _called(agent: Planted, part: str, turn: int, step: int, rng: random.Random) -> ModelReplied:
    usage = Usage(prompt=rng.randint(800, 6000), completion=rng.randint(40, 600))
    reply = ModelReply(text="", model=f"{agent.name}-7b", usage=usage, cost=agent.cost)
    return ModelReplied(part=part, turn=turn, step=step, model=f"{agent.name}-7b", reply=reply)


def _said(body: UserSpoke, skill: float, rng: random.Random) -> UserSpoke:
    """A responder's readings, of which an agent without skill gets the worse ones."""
    worse = {
        CheckpointStatus.AMBIGUITY_DETECTED: CheckpointStatus.WRONG_AMBIGUITY_DETECTED,
        CheckpointStatus.CORRECT_ANSWER: CheckpointStatus.MISSED_AMBIGUITY_CORRECT,
    }
    status = body.reply.status
    if status in worse and rng.random() > skill:
        return body.model_copy(
            update={"reply": body.reply.model_copy(update={"status": worse[status]})}
        )
    return body


def _handed_in(found: Prediction, skill: float, rng: random.Random) -> Prediction:
    if rng.random() < 0.05:
        return UnusablePrediction(
            reason="no JSON array in the text", raw="Here is what I found about it: several things."
        )
    match found:
        case TriplesPrediction():
            kept = [t for t in found.triples if rng.random() < skill]
            extra = [
                PredictedTriple(
                    head=t.head, relation=rng.choice(("rumoured to be", "near")), tail="?"
                )
                for t in found.triples
                if rng.random() < (1 - skill) / 2
            ]
            return found.model_copy(update={"triples": (*kept, *extra)})
        case TablePrediction():
            rows = tuple(
                tuple(
                    cell if i == 0 or rng.random() < 0.5 + skill / 2 else "–"
                    for i, cell in enumerate(row)
                )
                for row in found.rows
                if rng.random() < 0.3 + 0.7 * skill
            )
            return found.model_copy(update={"rows": rows})
        case AnswerPrediction():
            return (
                found
                if rng.random() < skill
                else found.model_copy(update={"answer": "I cannot tell"})
            )
        case _:
            return found


if __name__ == "__main__":
    with Workspace.open(sys.argv[1]) as opened:
        many = int(sys.argv[2]) if len(sys.argv) > 2 else 3
        each = int(sys.argv[3]) if len(sys.argv) > 3 else 2
        print(plant(opened, "main table", AGENTS, copies=many, samples=each))
        print(plant(opened, "guided", GUIDED, copies=many, samples=each, seed=1))
        print(plant(opened, "still going", AGENTS[:2], copies=1, samples=each, unended=7))
