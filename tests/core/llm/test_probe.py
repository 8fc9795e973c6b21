from __future__ import annotations

import pytest

import openai_server as fake
from cuecard.core.config_models import ModelConfig
from cuecard.core.llm.probe import ProbeReport, probe
from cuecard.core.parts import Usage
from openai_server import OpenAIServer, Reply

CALL = fake.calls(("search", {"query": "capital of Peru"}))


async def probed(reply: Reply, **settings: str) -> tuple[ProbeReport, int]:
    async with OpenAIServer(lambda request: reply) as server:
        report = await probe(ModelConfig(base_url=server.url, model="m", **settings))
    return report, len(server.requests)


async def test_a_server_that_can_do_everything() -> None:
    report, count = await probed(CALL)
    assert count == 1
    assert report.reachable
    assert report.streaming
    assert report.tool_calls
    assert report.usage == Usage(prompt=11, completion=7)
    assert report.model == "scripted-1"
    assert report.error == ""


async def test_a_server_that_can_do_little() -> None:
    report, _ = await probed(fake.json_reply({"choices": [{"message": {"content": "Lima"}}]}))
    assert not report.reachable
    report, _ = await probed(
        fake.json_reply({"choices": [{"message": {"content": "Lima"}, "finish_reason": "stop"}]})
    )
    assert report.reachable
    assert (report.streaming, report.tool_calls, report.usage) == (False, False, None)


@pytest.mark.parametrize("reply", [fake.error(500), fake.busy("60"), fake.drop(), fake.error(401)])
async def test_a_failing_server_is_asked_once_and_told(reply: Reply) -> None:
    report, count = await probed(reply)
    assert count == 1
    assert not report.reachable
    assert report.error


async def test_a_missing_key_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUECARD_TEST_KEY", raising=False)
    report, count = await probed(CALL, api_key_env="CUECARD_TEST_KEY")
    assert count == 0
    assert "CUECARD_TEST_KEY" in report.error
