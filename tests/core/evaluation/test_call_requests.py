"""A request that is made again from the record is the one that the server got."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cuecard.annotate.samples import import_samples
from cuecard.core.config_models import ModelConfig
from cuecard.core.config_players import (
    ClosedWorldConfig,
    ModelJudgeConfig,
    ReactAgentConfig,
    SimulatorConfig,
)
from cuecard.core.config_schema import Config
from cuecard.core.engine.events import ModelReplied
from cuecard.core.errors import ConfigError
from cuecard.core.evaluation.call_requests import judge_calls, judge_request, request_of
from cuecard.core.evaluation.plans import RunPlan, RunSettings
from cuecard.core.evaluation.runs import start_run
from cuecard.store.workspace import Workspace
from openai_server import OpenAIServer, Reply, Request, calls, text


def answered(request: Request) -> Reply:
    said = str(request.messages)
    if request.tools and request.number % 3 == 0:
        return calls(("search", {"query": f"number {request.number}"}))
    if "verdicts" in said or "<material>" in said:
        return text('{"verdicts": []}')
    if "triple" in str(request.last):
        return text('[{"head": "espresso machine", "relation": "first patented by", "tail": "X"}]')
    return text(f"Reply number {request.number}.")


async def test_requests_of_agent_user_and_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRIPTED_KEY", "sk-a-secret-of-this-test")
    async with OpenAIServer(answered) as server:
        model = ModelConfig(
            base_url=server.url, model="scripted", retries=0, api_key_env="SCRIPTED_KEY"
        )
        config = Config(
            models={"scripted": model},
            agents={"live": ReactAgentConfig(model="scripted")},
            users={"simulated": SimulatorConfig(kind="simulator", model="scripted")},
            worlds={"closed": ClosedWorldConfig(kind="closed")},
            judges={"careful": ModelJudgeConfig(kind="model", model="scripted")},
        )
        with Workspace.open(tmp_path / "cuecard.db") as workspace:
            import_samples(workspace, by="Ann")
            settings = RunSettings(user="simulated", judges=("careful",))
            plan = RunPlan(tasks=("espresso",), agents=("live",), settings=settings)
            await start_run(workspace, plan, by="Ann", config=config)
            (trial,) = workspace.runs.trials(1)
            monkeypatch.delenv("SCRIPTED_KEY")
            got: list[dict[str, Any]] = [request.body for request in server.requests]
            replied = [
                event
                for event in workspace.runs.log(trial.id)
                if isinstance(event.body, ModelReplied)
            ]
            parts = {event.body.part for event in replied if isinstance(event.body, ModelReplied)}
            assert parts == {"agent", "user", "conclusion"}
            for number in (0, 1, len(replied) // 2, len(replied) - 1):
                sent = await request_of(workspace, config, trial.id, replied[number].seq)
                assert sent.body == got[number]
                assert sent.url == server.url
            keys = list(judge_calls(workspace, trial.id, "careful"))
            assert keys
            judged = await judge_request(workspace, config, trial.id, "careful", keys[0])
            assert judged.body in got[len(replied) :]
            assert len(server.requests) == len(got)
            other = model.model_copy(update={"model": "another"})
            changed = config.model_copy(update={"models": {"scripted": other}})
            with pytest.raises(ConfigError):
                await request_of(workspace, changed, trial.id, replied[0].seq)
