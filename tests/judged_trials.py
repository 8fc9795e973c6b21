"""Ended trials in a workspace, without anything having been played; and a program that judges them until it
kills itself.

python judged_trials.py DB RUN URL CALLS     SIGKILL when that many calls of the judge are recorded
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from cuecard.core.engine.events import (
    Concluded,
    Event,
    Limits,
    Termination,
    TrialEnded,
    TrialRetried,
    TrialStarted,
)
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.evaluation.judging import judge_run
from cuecard.core.families.graph.gold import Graph, Triple
from cuecard.core.predictions import PredictedTriple, Prediction, TriplesPrediction
from cuecard.core.records import TrialCell
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace
from judge_scripts import model_judge

PLAYER = PlayerRef(name="nobody", kind="offline")
GOLD = tuple((f"maker {n}", "founded in", str(1900 + n)) for n in range(6))


def graph_task(id: str = "makers", gold: Sequence[tuple[str, str, str]] = GOLD) -> Task:
    triples = tuple(Triple(head=h, relation=r, tail=t) for h, r, t in gold)
    return Task(
        id=id, title="Makers", language="en", query="Since when?", gold=Graph(triples=triples)
    )


def triples(*found: tuple[str, str, str]) -> TriplesPrediction:
    return TriplesPrediction(
        triples=tuple(PredictedTriple(head=h, relation=r, tail=t) for h, r, t in found)
    )


def ended_run(workspace: Workspace, task: Task, predictions: Sequence[Prediction | None]) -> int:
    """A run of one task with a sample for each prediction; None: that trial is still open."""
    number = workspace.tasks.save(task, author="ann", message="").number
    run = workspace.runs.create(
        name="run", kind="grid", created_by="ann", samples=len(predictions), limits=Limits()
    )
    cells = [
        TrialCell(
            task_id=task.id,
            revision=number,
            agent=PLAYER,
            user=PLAYER,
            world=PLAYER,
            sample=sample,
        )
        for sample in range(len(predictions))
    ]
    for trial, prediction in zip(
        workspace.runs.add_trials(run.id, cells), predictions, strict=True
    ):
        begun = TrialStarted(
            task_id=task.id,
            revision=number,
            revision_hash="",
            agent=PLAYER,
            user=PLAYER,
            world=PLAYER,
        )
        bodies = [begun, *ending(prediction)] if prediction else [begun]
        events = [Event(seq=n, at=datetime.now(UTC), body=body) for n, body in enumerate(bodies)]
        workspace.runs.append_events([(trial.id, event) for event in events])
    return run.id


def ending(prediction: Prediction) -> tuple[Concluded, TrialEnded]:
    return Concluded(prediction=prediction), TrialEnded(termination=Termination.USER_DONE)


def play_again(workspace: Workspace, trial_id: int, prediction: Prediction) -> None:
    """The trial goes on, in a new attempt, and hands in something else."""
    seq = workspace.runs.log(trial_id)[-1].seq
    bodies = (TrialRetried(keep=False), *ending(prediction))
    events = [
        Event(seq=seq + n, at=datetime.now(UTC), body=body, take=1)
        for n, body in enumerate(bodies, 1)
    ]
    workspace.runs.append_events([(trial_id, event) for event in events])


async def _until_killed(db: Path, run_id: int, url: str, calls: int) -> None:
    left = calls

    def told(_call: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    with Workspace.open(db) as workspace:
        judge, hub = model_judge(url, batch=2)
        await judge_run(workspace, run_id, judge, on_call=told)
        await hub.close()


if __name__ == "__main__":
    where, which, server, count = sys.argv[1:]
    asyncio.run(_until_killed(Path(where), int(which), server, int(count)))
