"""Several who play runs of one workspace: limits and budgets over all of them, and orders from elsewhere."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import forked
from cuecard.core.config import EMBEDDED
from cuecard.core.config_models import ModelConfig, Price, RateLimits
from cuecard.core.config_players import ModelJudgeConfig, ReactAgentConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.events import Limits
from cuecard.core.engine.run_control import RunControl
from cuecard.core.errors import BudgetSpent, CuecardError, ModelPaused
from cuecard.core.evaluation.judging import judge_run
from cuecard.core.evaluation.offering import give_order
from cuecard.core.evaluation.plans import RunPlan, RunSettings, create_run
from cuecard.core.evaluation.runs import RunOutcome, budget_of, judges_of, resume_run, spent_on
from cuecard.core.evaluation.sharing import within_limits
from cuecard.core.llm.hub import ModelHub
from cuecard.core.records import RunState
from cuecard.store.workspace import Workspace
from judge_scripts import good
from judged_trials import GOLD, ended_run, graph_task, triples
from openai_server import OpenAIServer, Reply, Request, error
from scripted_brain import brain

pytestmark = pytest.mark.both_databases


def config(url: str, limits: RateLimits | None = None) -> Config:
    model = ModelConfig(
        base_url=url,
        model="scripted",
        retries=0,
        limits=limits or RateLimits(),
        price=Price(prompt=1000, completion=0),
    )
    agents = {**EMBEDDED.agents, "live": ReactAgentConfig(model="m")}
    return EMBEDDED.model_copy(update={"models": {"m": model}, "agents": agents})


def entered(workspace: Workspace, config: Config, samples: int = 6, **settings: float) -> int:
    plan = RunPlan(
        tasks=("espresso",),
        agents=("live",),
        samples=samples,
        limits=Limits(max_turns=3),
        settings=RunSettings.model_validate(settings),
    )
    return create_run(workspace, plan, by="ann", config=config).id


async def slow(request: Request) -> Reply:
    await asyncio.sleep(0.05)
    return brain(request)


async def both(workspace: Workspace, config: Config, *runs: int) -> list[RunOutcome]:
    """The runs, each played by somebody with connections of their own."""

    async def play(run: int) -> RunOutcome:
        with Workspace.open(workspace.url) as own:
            return await resume_run(own, run, config=config, concurrency=6)

    return await asyncio.gather(*map(play, runs))


async def test_calls_at_the_same_time_are_limited_over_all_who_play(workspace: Workspace) -> None:
    async with OpenAIServer(slow) as server:
        limited = config(server.url, RateLimits(in_flight=4))
        runs = [entered(workspace, limited) for _ in range(2)]
        outcomes = await both(workspace, limited, *runs)
        assert [outcome.run.state for outcome in outcomes] == [RunState.DONE] * 2
        assert server.peak == 4


async def test_calls_a_minute_are_limited_over_all_who_play(workspace: Workspace) -> None:
    async with OpenAIServer(slow) as server:
        limited = config(server.url, RateLimits(calls_per_minute=10))
        runs = [entered(workspace, limited) for _ in range(2)]
        playing = asyncio.create_task(both(workspace, limited, *runs))
        await server.arrived(10)
        for run in runs:
            give_order(workspace, run, "cancel", "ben")
        outcomes = await playing
        assert len(server.requests) == 10
        assert {outcome.run.state for outcome in outcomes} == {RunState.CANCELLED}


async def test_a_model_that_refuses_one_is_left_alone_by_the_others(workspace: Workspace) -> None:
    refuses = asyncio.Event()

    async def script(request: Request) -> Reply:
        if request.number >= 12:
            refuses.set()
        if refuses.is_set() and request.number % 2 == 0:
            return error(402, "pay first")
        await asyncio.sleep(0.05)
        return brain(request)

    async with OpenAIServer(script) as server:
        found = config(server.url)
        runs = [entered(workspace, found, 40), entered(workspace, found, 40)]
        outcomes = await both(workspace, found, *runs)
        assert all(isinstance(outcome.halt, ModelPaused) for outcome in outcomes)
        assert {outcome.run.state for outcome in outcomes} == {RunState.PAUSED}


async def test_a_spent_budget_is_spent_by_the_cost_of_calls_under_way_at_most(
    workspace: Workspace,
) -> None:
    async with OpenAIServer(slow) as server:
        found = config(server.url)
        run = entered(workspace, found, 100, budget=0.5)
        (outcome,) = await both(workspace, found, run)
        assert isinstance(outcome.halt, BudgetSpent)
        most = 0.011 * 6
        assert 0.5 <= spent_on(workspace, run) <= 0.5 + most


@asynccontextmanager
async def elsewhere(
    workspace: Workspace, url: str, folder: Path, run: int
) -> AsyncGenerator[forked.Popen]:
    """A process of its own that plays the run."""
    (folder / "cuecard.yaml").write_text(
        f"models: {{m: {{base_url: '{url}', model: scripted, price: {{prompt: 1, completion: 1}}}}}}\n"
        "agents: {live: {kind: react, model: m}}\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "cuecard", "--db", workspace.url, "--as", "ann",
               "run", "--resume", run, "--concurrency", 1]  # fmt: skip
    with forked.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        try:
            yield program
        finally:
            program.kill()


async def test_whoever_plays_a_run_elsewhere_obeys(workspace: Workspace, tmp_path: Path) -> None:
    """More trials at the same time, another budget, and a pause, given to another process."""
    busy = asyncio.Event()

    async def script(request: Request) -> Reply:
        if server.in_flight >= 3:
            busy.set()
        await asyncio.sleep(0.3)
        return brain(request)

    async with OpenAIServer(script) as server:
        found = config(server.url)
        run = entered(workspace, found, 200)
        with pytest.raises(CuecardError, match="Nobody plays this run"):
            give_order(workspace, run, "pause", "ben")
        async with elsewhere(workspace, server.url, tmp_path, run) as program:
            await server.arrived(1)
            give_order(workspace, run, "concurrency", "ben", 3)
            await busy.wait()
            give_order(workspace, run, "budget", "ben", 900, config=found)
            with pytest.raises(CuecardError, match="being played"):
                give_order(workspace, run, "resume", "ben")
            give_order(workspace, run, "pause", "ben")
            _out, said = await asyncio.to_thread(program.communicate)
        assert "ben asked for it at" in said
        record = workspace.runs.get(run)
        assert (record.state, budget_of(record)) == (RunState.PAUSED, 900)
        assert "ben asked for it at" in record.reason
        assert [order.kind for order in workspace.orders.of(run)] == [
            "concurrency",
            "budget",
            "pause",
        ]
        with pytest.raises(CuecardError, match=f"run --resume {run}"):
            give_order(workspace, run, "resume", "ben")


async def test_judging_keeps_to_the_limits_and_the_budget_of_all(workspace: Workspace) -> None:
    async def slowly(request: Request) -> Reply:
        await asyncio.sleep(0.05)
        return good(request)

    async with OpenAIServer(slowly) as server:
        limited = config(server.url, RateLimits(in_flight=4)).model_copy(
            update={"judges": {"sage": ModelJudgeConfig(kind="model", model="m")}}
        )

        async def judge(run: int) -> int:
            with Workspace.open(workspace.url) as own:
                hub, control = ModelHub(limited), RunControl()
                (sage,) = judges_of(("sage",), limited, hub)
                async with within_limits(own, hub, run_id=run, control=control) as meter:
                    failed = await judge_run(
                        own, run, sage, concurrency=6, on_call=meter.judged, control=control
                    )
                await hub.close()
                return len(failed)

        runs = [ended_run(workspace, graph_task(), [triples(*GOLD)] * 12) for _ in range(2)]
        assert await asyncio.gather(*map(judge, runs)) == [0, 0]
        assert server.peak == 4
        run = ended_run(workspace, graph_task(), [triples(*GOLD)] * 12)
        budget = 3 * spent_on(workspace, runs[0]) / 12
        workspace.runs.set_plan(run, RunSettings(budget=budget).model_dump(mode="json"))
        asked = len(server.requests)
        assert 12 - 4 - 3 <= await judge(run) < 12
    assert len(server.requests) - asked <= 3 + 4  # Those under way when it was spent.
