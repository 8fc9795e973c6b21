from __future__ import annotations

import json
from collections.abc import Callable

import pytest

import openai_server as fake
from cuecard.core.config_models import ModelConfig
from cuecard.core.doctor import ProbeReport, probe
from cuecard.core.engine.messages import Usage
from openai_server import OpenAIServer, Reply, Request

CALL = fake.calls(("search", {"query": "capital of Peru"}))


Script = Callable[[Request], Reply]


async def probed(script: Script | Reply, **settings: str) -> tuple[ProbeReport, int]:
    answer = script if callable(script) else lambda request: script
    async with OpenAIServer(answer) as server:
        report = await probe(ModelConfig(base_url=server.url, model="m", **settings))
    assert report.calls == len(server.requests)
    return report, len(server.requests)


def able(request: Request) -> Reply:
    wanted = request.body.get("response_format")
    if not wanted:
        return CALL
    (field,) = wanted["json_schema"]["schema"]["required"]
    return fake.whole({"content": json.dumps({field: "Lima"})})


async def test_a_server_that_can_do_everything() -> None:
    report, count = await probed(able)
    assert count == 2
    assert report.reachable
    assert report.streaming
    assert report.tool_calls
    assert report.json_schema == "schema"
    assert report.usage == Usage(prompt=11, completion=7)
    assert report.model == "scripted-1"
    assert report.error == report.hint == report.tools_error == ""


async def test_a_server_that_can_do_little() -> None:
    report, _ = await probed(fake.json_reply({"choices": [{"message": {"content": "Lima"}}]}))
    assert not report.reachable
    report, _ = await probed(
        fake.json_reply({"choices": [{"message": {"content": "Lima"}, "finish_reason": "stop"}]})
    )
    assert report.reachable
    assert (report.streaming, report.tool_calls, report.usage) == (False, False, None)
    assert report.json_schema == "ignored"


@pytest.mark.parametrize(
    ("known", "support", "count"), [({"json_object"}, "object", 3), (set[str](), "none", 4)]
)
async def test_a_server_without_schemas(known: set[str], support: str, count: int) -> None:
    def script(request: Request) -> Reply:
        form = request.body.get("response_format", {}).get("type")
        return CALL if form is None or form in known else fake.error(400)

    report, sent = await probed(script)
    assert (report.json_schema, sent) == (support, count)


async def test_a_server_that_refuses_tools() -> None:
    def script(request: Request) -> Reply:
        return fake.error(400, "no tools here") if request.body.get("tools") else fake.text("Lima")

    report, _ = await probed(script)
    assert report.reachable
    assert not report.tool_calls
    assert "no tools here" in report.tools_error


@pytest.mark.parametrize("reply", [fake.error(500), fake.busy("60"), fake.drop(), fake.error(401)])
async def test_a_failing_server_is_asked_once_and_told(reply: Reply) -> None:
    report, count = await probed(reply)
    assert count == 1
    assert not report.reachable
    assert report.error
    assert report.json_schema == "unknown"


async def test_a_missing_key_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUECARD_TEST_KEY", raising=False)
    report, count = await probed(CALL, api_key_env="CUECARD_TEST_KEY")
    assert count == 0
    assert "CUECARD_TEST_KEY" in report.error
    assert report.hint
