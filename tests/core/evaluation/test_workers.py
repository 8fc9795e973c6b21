"""Workers that share a run: real processes on PostgreSQL, agents over a model's endpoint."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Iterator
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest

import worker_process
from cuecard.core.archive import POISON, BeingPlayed
from cuecard.core.config import Config, load_config
from cuecard.core.engine.events import Limits, RunState, Termination
from cuecard.core.engine.run import RunControl
from cuecard.core.evaluation.plans import RunPlan, create_run
from cuecard.core.evaluation.runs import resume_run, start_run
from cuecard.core.evaluation.workers import Worker, follow_run, offer_run
from cuecard.core.records import Handout
from cuecard.store.workspace import Workspace
from openai_server import OpenAIServer, Reply, Request
from scripted_brain import brain

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([worker_process.__name__])
CONFIG = """
models:
  m: {{base_url: '{url}', model: m}}
agents:
  live: {{kind: react, model: m, memory: {memory}}}
"""
SHORT = Limits(max_turns=3)
TASKS = ("espresso", "facts-night-train")


@pytest.fixture
def dialect() -> str:
    return "postgres"


def configured(folder: Path, url: str, memory: str = "none", more: str = "") -> tuple[str, Config]:
    path = folder / "cuecard.yaml"
    path.write_text(CONFIG.format(url=url, memory=memory) + more, encoding="utf-8")
    return str(path), load_config(path)


def worker(*arguments: Any) -> ForkServerProcess:
    process = PROCESSES.Process(target=worker_process.work, args=arguments, daemon=True)
    process.start()
    return process


def told(workspace: Workspace, run: int) -> dict[tuple[str, int], Any]:
    """What was recorded of each trial, without times: its whole log, and its verdicts."""
    return {
        (trial.task_id, trial.sample): (
            [
                event.body.model_dump(mode="json", exclude={"reply": {"latency_ms"}})
                for event in log
            ],
            [record.judgement.verdicts for record in workspace.verdicts.of_trial(trial.id)],
        )
        for trial in workspace.runs.trials(run)
        for log in [workspace.runs.log(trial.id)]
    }


def handed(workspace: Workspace, run: int) -> Handout:
    found = workspace.workers.handout(run)
    assert found is not None
    return found


async def test_a_worker_that_is_killed_leaves_no_trace_in_what_was_played(
    workspace: Workspace, tmp_path: Path
) -> None:
    async with OpenAIServer(brain) as server:
        path, config = configured(tmp_path, server.url)
        plan = RunPlan(tasks=TASKS, agents=("live",), samples=4, limits=SHORT)
        undisturbed = await start_run(workspace, plan, by="ann", config=config)
        asked = len(server.requests)

        async def slowly(request: Request) -> Reply:
            await asyncio.sleep(0.02)
            return brain(request)

        server.script = slowly
        run = create_run(workspace, plan, by="ann", config=config)
        assert await offer_run(workspace, run.id, by="ann") == 8
        assert await offer_run(workspace, run.id, by="ann") == 8
        first, second = (worker(workspace.url, path, name, 2) for name in ("Al", "Bo"))
        await server.arrived(asked + 12)
        first.kill()
        halt = await follow_run(
            workspace,
            run.id,
            config=config,
            by="ann",
            control=RunControl(),
            on_event=lambda _event: None,
        )
        await asyncio.to_thread(second.join, 20)
    assert (halt, first.exitcode, second.exitcode) == (None, -signal.SIGKILL, 0)
    assert workspace.runs.get(run.id).state is RunState.DONE
    assert told(workspace, run.id) == told(workspace, undisturbed.run.id)
    assert len(server.requests) - 2 * asked <= 2  # Those that were under way.
    found = handed(workspace, run.id)
    people = {one.id: one.person for one in found.workers}
    assert {people[take.before or ""] for take in found.lost} <= {"Al"}
    assert (found.waiting, found.held, found.done) == (0, 0, 8)
    assert sum(one.calls for one in found.workers) >= asked - 12


async def test_a_worker_that_was_stopped_too_long_loses_its_trial_and_goes_on_with_others(
    workspace: Workspace, tmp_path: Path
) -> None:
    stopped = asyncio.Event()

    async def held_up(request: Request) -> Reply:
        if request.number == 0:
            await stopped.wait()
        return brain(request)

    async with OpenAIServer(held_up) as server:
        path, config = configured(tmp_path, server.url)
        plan = RunPlan(tasks=TASKS, agents=("live",), limits=SHORT)
        run = create_run(workspace, plan, by="ann", config=config)
        await offer_run(workspace, run.id, by="ann")
        sleeper = worker(workspace.url, path, "Al", 1)
        await server.arrived(1)
        with pytest.raises(BeingPlayed, match="1 worker plays it since"):
            await resume_run(workspace, run.id, config=config, by="ann")
        os.kill(sleeper.pid or 0, signal.SIGSTOP)
        other = Worker(workspace, config, "Bo", 1, lapse=0.3)
        control = RunControl()
        working = asyncio.create_task(other.work(control))
        while handed(workspace, run.id).done < len(TASKS):  # noqa: ASYNC110 - another process's work
            await asyncio.sleep(0.05)
        control.pause()
        await working
        again = create_run(workspace, plan, by="ann", config=config)
        await offer_run(workspace, again.id, by="ann")
        os.kill(sleeper.pid or 0, signal.SIGCONT)
        stopped.set()
        await asyncio.to_thread(sleeper.join, 20)
    assert sleeper.exitcode == 0
    found = handed(workspace, run.id)
    people = {one.id: one.person for one in found.workers}
    assert [(people[t.before or ""], people[t.worker]) for t in found.lost] == [("Al", "Bo")]
    assert {people[one.id] for one in handed(workspace, again.id).workers} == {"Al"}
    assert told(workspace, run.id) == told(workspace, again.id)


async def test_a_trial_that_workers_die_of_ends_with_its_reason(
    workspace: Workspace, tmp_path: Path
) -> None:
    _path, config = configured(tmp_path, "http://127.0.0.1:9/v1")
    run = create_run(workspace, RunPlan(tasks=TASKS[:1]), by="ann", config=config)
    await offer_run(workspace, run.id, by="ann")
    for _each in range(POISON):
        dying = PROCESSES.Process(
            target=worker_process.take_and_die, args=(workspace.url, run.id), daemon=True
        )
        dying.start()
        await asyncio.to_thread(dying.join, 20)
        assert dying.exitcode == 9
    await Worker(workspace, config, "Bo", 1).work(RunControl(), until_done=True)
    (trial,) = workspace.runs.trials(run.id)
    assert (trial.termination, trial.detail) == (
        Termination.INTERNAL_ERROR,
        "3 workers died while they played it",
    )
    assert workspace.runs.get(run.id).state is RunState.DONE
    assert len(handed(workspace, run.id).lost) == POISON


async def test_a_worker_with_another_configuration_is_told_what_differs(
    workspace: Workspace, tmp_path: Path
) -> None:
    _path, config = configured(tmp_path, "http://127.0.0.1:9/v1")
    run = create_run(workspace, RunPlan(tasks=TASKS, agents=("live",)), by="ann", config=config)
    await offer_run(workspace, run.id, by="ann")
    _path, elsewhere = configured(tmp_path, "http://127.0.0.1:7/v1", memory="local")
    other = Worker(workspace, elsewhere, "Bo", 1)
    await other.work(RunControl(), until_done=True)
    said = 'agents/live: memory is "local" here and "none" in the run'
    assert other.refused == {run.id: said}
    assert handed(workspace, run.id).waiting == len(TASKS)
    (row,) = workspace.workers.all()
    assert row.note == f"{run.id}: {said}"


async def test_a_memory_from_task_to_task_goes_to_one_worker_in_order(
    workspace: Workspace, tmp_path: Path
) -> None:
    async with OpenAIServer(brain) as server:
        _path, config = configured(tmp_path, server.url, memory="lifelong")
        plan = RunPlan(tasks=TASKS, agents=("live", "offline"), limits=SHORT)
        run = create_run(workspace, plan, by="ann", config=config)
        await offer_run(workspace, run.id, by="ann")
        workers = [Worker(workspace, config, name, 4) for name in ("Al", "Bo")]
        await asyncio.gather(*(one.work(RunControl(), until_done=True) for one in workers))
    assert workspace.runs.get(run.id).state is RunState.DONE
    trials = [trial for trial in workspace.runs.trials(run.id) if trial.agent.name == "live"]
    assert trials == sorted(trials, key=lambda trial: trial.ended_at or trial.created_at)
    judged = [len(workspace.verdicts.of_trial(trial.id)) for trial in trials]
    assert judged == [1] * len(trials)


@pytest.fixture(autouse=True)
def no_orphans() -> Iterator[None]:
    yield
    for child in multiprocessing.active_children():
        child.kill()
