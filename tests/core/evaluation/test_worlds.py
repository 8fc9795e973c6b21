"""Runs in worlds that a model plays or a recording answers for, and what is replayed of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cuecard.core.config import EMBEDDED
from cuecard.core.config_models import ModelConfig
from cuecard.core.config_players import ParallelWorldConfig, ReactAgentConfig, ReplayWorldConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.events import Limits, ModelReplied, Termination, ToolAnswered
from cuecard.core.evaluation.plans import RunPlan, RunSettings, create_replay
from cuecard.core.evaluation.runs import resume_run, start_run
from cuecard.core.records import RunRecord
from cuecard.core.text import one_line
from cuecard.core.worlds.statements import compile_statements
from cuecard.store.workspace import Workspace
from openai_server import OpenAIServer, Reply, Request
from scripted_brain import brain
from search_engine import engine

FACTS = "facts-night-train"
MIXED = (FACTS, "espresso", "table-us-states", "checkpoints-highest-mountain")


def config(url: str, *, replay: int = 1) -> Config:
    models = {n: ModelConfig(base_url=url, model=n, retries=0) for n in ("scripted", "engine")}
    worlds = {
        **EMBEDDED.worlds,
        "pw": ParallelWorldConfig(kind="parallel", model="engine"),
        "again": ReplayWorldConfig(kind="replay", run=replay),
    }
    agents = {**EMBEDDED.agents, "live": ReactAgentConfig(model="scripted")}
    return EMBEDDED.model_copy(update={"models": models, "worlds": worlds, "agents": agents})


def plan_in(world: str, *tasks: str, samples: int = 1) -> RunPlan:
    settings = RunSettings(world=world)
    limits = Limits(max_turns=3)
    return RunPlan(tasks=tasks, agents=("live",), samples=samples, limits=limits, settings=settings)


def bodies(workspace: Workspace, run: RunRecord) -> list[list[str]]:
    return [
        [e.body.model_dump_json() for e in workspace.runs.events(trial.id)]
        for trial in workspace.runs.trials(run.id)
    ]


def both(workspace: Workspace) -> Callable[[Request], Reply]:
    """The agent and, under another name, the search engine of the task whose facts it is given."""
    engines = {
        one_line(compile_statements(task)[0].value): engine(task)
        for task in (workspace.tasks.revision(name).task for name in MIXED)
    }

    def script(request: Request) -> Reply:
        if request.body["model"] == "scripted":
            return brain(request)
        sheet = request.messages[0]["content"].split("fact-2")[0]
        return next(play for value, play in engines.items() if f"| {value}" in sheet)(request)

    return script


async def test_mixed_families_in_a_parallel_world_are_replayed_without_a_server(
    workspace: Workspace,
) -> None:
    async with OpenAIServer(both(workspace)) as server:
        settings = config(server.url)
        outcome = await start_run(workspace, plan_in("pw", *MIXED), by="ann", config=settings)
        asked = len(server.requests)
    assert asked
    trials = workspace.runs.trials(outcome.run.id)
    assert not any(t.termination is None or t.termination.is_failure for t in trials)
    events = [e.body for t in trials for e in workspace.runs.events(t.id)]
    assert any(isinstance(b, ModelReplied) and b.payer == "world" for b in events)

    replay = create_replay(workspace, outcome.run.id, by="ann")
    again = await resume_run(workspace, replay.id, config=settings)
    assert again.run.id == replay.id
    assert bodies(workspace, again.run) == bodies(workspace, outcome.run)


@pytest.mark.parametrize("samples", [1, 2])
async def test_a_live_agent_in_the_recorded_world(workspace: Workspace, samples: int) -> None:
    async with OpenAIServer(both(workspace)) as server:
        settings = config(server.url)
        plan = plan_in("pw", FACTS, samples=samples)
        first = await start_run(workspace, plan, by="ann", config=settings)
        settings = config(server.url, replay=first.run.id)
        plan = plan_in("again", FACTS, samples=samples)
        server.requests.clear()
        second = await start_run(workspace, plan, by="ann", config=settings)
        assert {r.body["model"] for r in server.requests} == {"scripted"}
    for run in (first.run, second.run):
        for trial in workspace.runs.trials(run.id):
            assert trial.termination is Termination.ANSWERED, trial.detail
    answers = [
        [
            e.body.answer
            for trial in workspace.runs.trials(run.id)
            for e in workspace.runs.events(trial.id)
            if isinstance(e.body, ToolAnswered)
        ]
        for run in (first.run, second.run)
    ]
    assert answers[0] == answers[1]
    assert answers[0]
