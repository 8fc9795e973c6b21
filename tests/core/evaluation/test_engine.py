"""The engine as a whole: the papers' settings, a server full of faults, budgets, reruns, replays."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from cuecard.core.config import EMBEDDED
from cuecard.core.config_models import ModelConfig, Price
from cuecard.core.config_players import (
    AcpAgentConfig,
    ModelJudgeConfig,
    ReactAgentConfig,
    Settings,
    TeamAgentConfig,
)
from cuecard.core.config_schema import Config
from cuecard.core.engine.events import (
    Limits,
    Marked,
    ModelReplied,
    RunState,
    Termination,
    ToolAnswered,
)
from cuecard.core.engine.messages import CallsCut
from cuecard.core.engine.run_control import RunControl
from cuecard.core.errors import AgentPaused, BudgetSpent, ConfigError, ModelPaused
from cuecard.core.evaluation.plans import RunPlan, RunSettings, create_replay, create_run
from cuecard.core.evaluation.runs import resume_run, start_run
from cuecard.core.evaluation.scores import score_run
from cuecard.core.families.facts.family import world_text
from cuecard.store.workspace import Workspace
from lab_players import bodies
from openai_server import OpenAIServer, Reply, Request, error
from scripted_brain import Faulty, brain

GRAPH, TABLE = "espresso", "table-solar-terms-zh"
CHECKPOINTS, FACTS = "checkpoints-highest-mountain", "facts-night-train"


def config(url: str, *, model: dict[str, Any] | None = None, **agents: Any) -> Config:
    endpoint = ModelConfig.model_validate({"base_url": url, "model": "scripted", **(model or {})})
    named = {"live": ReactAgentConfig(model="m"), **agents}
    return EMBEDDED.model_copy(
        update={"models": {"m": endpoint}, "agents": {**EMBEDDED.agents, **named}}
    )


def with_settings(**settings: Any) -> ReactAgentConfig:
    return ReactAgentConfig(model="m", settings=Settings(**settings))


SETTINGS: list[tuple[str, str, Any]] = [
    ("end_to_end", FACTS, with_settings(facts="end_to_end")),
    ("guided", FACTS, with_settings(facts="guided")),
    ("few_shot", FACTS, with_settings(facts="few_shot")),
    ("oracle", FACTS, with_settings(facts="oracle")),
    ("neutral", CHECKPOINTS, with_settings(checkpoints="neutral")),
    ("guided", CHECKPOINTS, with_settings(checkpoints="guided")),
    ("no_search", CHECKPOINTS, with_settings(checkpoints="no_search")),
    ("no_ask", CHECKPOINTS, with_settings(checkpoints="no_ask")),
    ("simulated", GRAPH, with_settings(graph="simulated")),
    ("staged", GRAPH, with_settings(graph="staged")),
    ("direct", GRAPH, with_settings(graph="direct")),
    ("single", TABLE, ReactAgentConfig(model="m")),
    ("team", TABLE, TeamAgentConfig(model="m")),
]


@pytest.mark.parametrize(
    ("name", "task", "agent"), SETTINGS, ids=[f"{task}-{name}" for name, task, _a in SETTINGS]
)
async def test_every_setting_end_to_end(workspace: Workspace, name: str, task: str, agent: Any):
    async with OpenAIServer(brain) as server:
        plan = RunPlan(tasks=(task,), agents=("it",), limits=Limits(max_turns=6))
        outcome = await start_run(workspace, plan, by="ann", config=config(server.url, it=agent))
        assert outcome.run.state is RunState.DONE, outcome
        assert outcome.unjudged == ()
        (trial,) = workspace.runs.trials(outcome.run.id)
        assert trial.termination is not None
        assert not trial.termination.is_failure, trial.detail
        asked = server.requests
    system = str(asked[0].messages[0]["content"])
    used = [e.body for e in workspace.runs.events(trial.id) if isinstance(e.body, ToolAnswered)]
    facts = world_text(gold(workspace, task)) if task == FACTS else "-"
    if name == "oracle":
        assert facts in system
        assert not asked[0].tools
        assert not used
    elif task == FACTS:
        assert facts not in system
        assert "search" in asked[0].tools
    elif name == "no_search":
        assert asked[0].tools == ["ask", "answer"]
        assert not used
    elif name == "no_ask":
        assert "ask" not in asked[0].tools
        assert "answer" in asked[0].tools
    elif name == "direct":
        first = next(m for m in asked[0].messages if m["role"] == "user")
        assert first["content"] == workspace.tasks.revision(task).task.query
        assert trial.user.kind == "oneshot"
    elif name == "staged":
        assert trial.user.kind == "staged"
    scores = score_run(workspace, outcome.run.id)
    assert scores.trials[0].judge is not None


def gold(workspace: Workspace, task: str) -> Any:
    return workspace.tasks.revision(task).task.gold


ALL = (GRAPH, TABLE, CHECKPOINTS, FACTS)


async def play(workspace: Workspace, script: Any, retries: int) -> dict[tuple[str, int], Any]:
    """Scores by task and sample, with each trial's termination."""
    async with OpenAIServer(script) as server:
        settings = config(
            server.url, model={"retries": retries, "give_up_after": 1000, "stream": "auto"}
        )
        plan = RunPlan(
            tasks=ALL, agents=("live",), samples=2, concurrency=8, limits=Limits(max_turns=5)
        )
        outcome = await start_run(workspace, plan, by="ann", config=settings)
    assert outcome.run.finished == outcome.run.trials
    return {
        (s.trial.task_id, s.trial.sample): (s.trial.termination, s.trial.detail, s.scores)
        for s in score_run(workspace, outcome.run.id).trials
    }


async def test_faults_change_no_score(workspace: Workspace):
    expected = await play(workspace, brain, retries=0)
    assert not any(end.is_failure for end, _detail, _scores in expected.values())
    faulty = Faulty(0.3)
    assert await play(workspace, faulty, retries=12) == expected
    assert len(faulty.faults) == 5, faulty.faults
    # With few retries some trials fail: each says why, and the others score as before.
    rough = await play(workspace, Faulty(0.3, seed=1), retries=1)
    failed = {key for key, (end, _detail, _scores) in rough.items() if end.is_failure}
    assert failed
    for key, (end, detail, scores) in rough.items():
        if key in failed:
            assert end is Termination.API_ERROR
            assert detail
        else:
            assert scores == expected[key][2]


async def test_failed_trials_go_on_where_they_stopped(workspace: Workspace):
    broken = True

    def script(request: Request) -> Reply:
        return error(400) if broken and len(request.messages) > 5 else brain(request)

    async with OpenAIServer(script) as server:
        plan = RunPlan(tasks=(GRAPH,), agents=("live",), limits=Limits(max_turns=4))
        settings = config(server.url)
        outcome = await start_run(workspace, plan, by="ann", config=settings)
        (trial,) = workspace.runs.trials(outcome.run.id)
        assert trial.termination is Termination.API_ERROR
        before = workspace.runs.log(trial.id)
        paid = [e for e in before if isinstance(e.body, ModelReplied)]
        broken = False
        count = len(server.requests)
        again = await resume_run(workspace, outcome.run.id, config=settings, rerun_failed=True)
        assert again.run.state is RunState.DONE
    (trial,) = workspace.runs.trials(outcome.run.id)
    assert trial.termination is not None
    assert not trial.termination.is_failure
    whole = workspace.runs.log(trial.id)
    assert whole[: len(before)] == before
    effective = workspace.runs.events(trial.id)
    answered = [e for e in effective if isinstance(e.body, ModelReplied)]
    assert answered[: len(paid)] == paid
    assert len(server.requests) - count == len(answered) - len(paid)


async def test_a_budget_stops_and_goes_on(workspace: Workspace):
    price = Price(prompt=1_000_000, completion=0)
    async with OpenAIServer(brain) as server:
        settings = config(server.url, model={"price": price})
        # Every call costs 11, as the server counts 11 prompt tokens.
        plan = RunPlan(
            tasks=(GRAPH,),
            agents=("live",),
            samples=3,
            limits=Limits(max_turns=3),
            settings=RunSettings(budget=50),
        )
        outcome = await start_run(workspace, plan, by="ann", config=settings)
        assert isinstance(outcome.halt, BudgetSpent)
        assert outcome.run.state is RunState.PAUSED
        assert "50" in outcome.run.reason
        spent = sum(used.cost or 0 for used in workspace.runs.usage(outcome.run.id))
        assert spent == 11 * len(server.requests)
        assert 50 <= spent <= 50 + 11 * plan.concurrency
        resumed = await resume_run(workspace, outcome.run.id, config=settings, budget=100_000)
        assert resumed.run.state is RunState.DONE
        total = sum(used.cost or 0 for used in workspace.runs.usage(outcome.run.id))
        assert total == 11 * len(server.requests)
        unpriced = plan.model_copy(update={"name": "no price"})
        with pytest.raises(ConfigError, match="m"):
            create_run(workspace, unpriced, by="ann", config=config(server.url))


async def test_a_model_that_refuses_everybody_pauses_the_run(workspace: Workspace):
    refused = True

    def script(request: Request) -> Reply:
        return error(401) if refused else brain(request)

    async with OpenAIServer(script) as server:
        plan = RunPlan(tasks=ALL, agents=("live",), samples=4, limits=Limits(max_turns=2))
        settings = config(server.url)
        outcome = await start_run(workspace, plan, by="ann", config=settings)
        assert isinstance(outcome.halt, ModelPaused)
        assert outcome.run.state is RunState.PAUSED
        assert outcome.run.finished == 0
        assert len(server.requests) <= plan.concurrency
        refused = False
        resumed = await resume_run(workspace, outcome.run.id, config=settings)
        assert resumed.run.state is RunState.DONE


async def test_a_run_is_replayed_byte_for_byte_without_a_call(workspace: Workspace):
    async with OpenAIServer(brain) as server:
        settings = config(server.url)
        plan = RunPlan(tasks=ALL, agents=("live",), limits=Limits(max_turns=3))
        outcome = await start_run(workspace, plan, by="ann", config=settings)
        count = len(server.requests)
        replay = create_replay(workspace, outcome.run.id, by="ann")
        replayed = await resume_run(workspace, replay.id, config=settings)
        assert replayed.run.state is RunState.DONE
        assert len(server.requests) == count

    def logs(run_id: int) -> list[list[str]]:
        trials = workspace.runs.trials(run_id)
        return [bodies(workspace.runs.events(trial.id)) for trial in trials]

    assert logs(replay.id) == logs(outcome.run.id)


def test_the_cli_streams_what_happens(tmp_path: Path):
    """Each line is an object; the last one sums up."""
    import sys

    import forked

    command = [sys.executable, "-m", "cuecard", "--db", str(tmp_path / "w.db"), "--as", "ann"]
    assert forked.run([*command, "init"], capture_output=True, cwd=tmp_path).returncode == 0
    done = forked.run(
        [*command, "run", FACTS, "--json-lines"], capture_output=True, text=True, cwd=tmp_path
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[0]["event"] == "run_began"
    assert {"trial_began", "turn_played", "tool_used", "trial_finished"} <= {
        line["event"] for line in lines
    }
    assert lines[-1]["event"] == "run_finished"
    assert lines[-1]["finished"] == 1
    assert all(line["run"] == 1 for line in lines)


async def test_a_harness_that_is_not_there_is_told_before_the_run(workspace: Workspace):
    settings = config("http://127.0.0.1:1", outside=AcpAgentConfig(command=("no-such-harness",)))
    plan = RunPlan(tasks=(GRAPH,), agents=("live", "outside"))
    with pytest.raises(ConfigError, match="no-such-harness"):
        create_run(workspace, plan, by="ann", config=settings)
    assert workspace.runs.all() == []


async def test_a_harness_that_cannot_start_pauses_the_run(workspace: Workspace):
    settings = config("http://127.0.0.1:1", outside=AcpAgentConfig(command=("true",)))
    plan = RunPlan(tasks=(GRAPH, FACTS), agents=("outside",), samples=3, concurrency=2)
    outcome = await start_run(workspace, plan, by="ann", config=settings)
    assert outcome.run.state is RunState.PAUSED
    assert isinstance(outcome.halt, AgentPaused)
    assert "outside" in str(outcome.halt)
    trials = workspace.runs.trials(outcome.run.id)
    assert [trial.termination for trial in trials] == [None] * 6
    # Gone on with, its program is looked for again.
    gone = config("http://127.0.0.1:1", outside=AcpAgentConfig(command=("no-such-harness",)))
    with pytest.raises(ConfigError, match="no-such-harness"):
        await resume_run(workspace, outcome.run.id, config=gone)


def cuts(workspace: Workspace, trial_id: int) -> list[CallsCut]:
    marks = [e.body.mark for e in workspace.runs.events(trial_id) if isinstance(e.body, Marked)]
    return [mark for mark in marks if isinstance(mark, CallsCut)]


async def test_stopped_a_run_waits_for_its_calls_only_so_long(workspace: Workspace):
    hanging = True

    async def script(request: Request) -> Reply:
        if hanging:
            await asyncio.sleep(600)
        return brain(request)

    async with OpenAIServer(script) as server:
        settings = config(server.url)
        plan = RunPlan(tasks=(GRAPH,), agents=("live",), samples=2, limits=Limits(max_turns=3))
        run = create_run(workspace, plan, by="ann", config=settings)

        async def stopped(drained: bool) -> None:
            control = RunControl(grace=0.2 if drained else 600)
            playing = asyncio.create_task(
                resume_run(workspace, run.id, config=settings, control=control)
            )
            await server.arrived(len(server.requests) + 2)
            assert control.seconds_left is None
            control.drain()
            if not drained:
                control.cancel()
            outcome = await playing
            assert outcome.run.state is RunState.CANCELLED
            assert outcome.summary.left_open == 2

        await stopped(drained=True)
        await stopped(drained=False)
        trials = workspace.runs.trials(run.id)
        for trial in trials:
            told = cuts(workspace, trial.id)
            assert [[call.what for call in cut.calls] for cut in told] == [["scripted"]] * 2
            assert told[0].calls[0].seconds >= 0.1
        hanging = False
        outcome = await resume_run(workspace, run.id, config=settings)
    assert outcome.run.state is RunState.DONE
    assert all(len(cuts(workspace, trial.id)) == 2 for trial in trials)


async def test_a_run_that_is_being_judged_can_be_stopped(workspace: Workspace):
    """What a resumed run judges after its trials is cut off, told, and judged another time."""
    judging = False
    hanging = asyncio.Event()

    async def script(request: Request) -> Reply:
        if request.body["model"] == "judge":
            if not judging:
                return error(400)
            hanging.set()
            await asyncio.sleep(600)
        return brain(request)

    async with OpenAIServer(script) as server:
        settings = config(server.url)
        strict = {
            "models": {**settings.models, "j": ModelConfig(base_url=server.url, model="judge")},
            "judges": {**settings.judges, "strict": ModelJudgeConfig(kind="model", model="j")},
        }
        settings = settings.model_copy(update=strict)
        plan = RunPlan(tasks=(FACTS,), agents=("live",), settings=RunSettings(judges=("strict",)))
        control = RunControl(grace=0.2)
        first = await start_run(workspace, plan, by="ann", config=settings)
        assert first.run.finished == 1
        judging = True
        again = asyncio.create_task(
            resume_run(workspace, first.run.id, config=settings, control=control)
        )
        await hanging.wait()
        control.drain()
        outcome = await again
    assert [failure.halted for failure in outcome.unjudged] == [True]
    assert "Cut off" in outcome.unjudged[0].reason
