"""What servers answer to the question which models they have: real ones, odd ones and hostile ones."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

import openai_server as fake
from cuecard.core.config_models import ModelConfig
from cuecard.core.config_schema import Config
from cuecard.core.doctor import ServedModel, served_models
from cuecard.core.errors import ModelCallError
from cuecard.core.llm.client import ChatClient
from openai_server import OpenAIServer, Reply

# As llama.cpp answers: two lists, of which the second is OpenAI's.
LLAMA: dict[str, Any] = {
    "models": [{"name": "qwen-0.5b", "model": "qwen-0.5b", "tags": [""], "details": {}}],
    "object": "list",
    "data": [{"id": "qwen-0.5b", "aliases": ["qwen-0.5b"], "object": "model", "meta": {}}],
}
# As LiteLLM's proxy answers.
LITELLM = {
    "data": [
        {"id": name, "object": "model", "created": 1677610602, "owned_by": "openai"}
        for name in ("qwen", "bridge")
    ],
    "object": "list",
}


async def served(reply: Reply) -> tuple[str, ...]:
    async with OpenAIServer(lambda _request: reply) as server:
        client = ChatClient(ModelConfig(base_url=server.url, model="m", timeout=10))
        try:
            return await client.served()
        finally:
            await client.close()
            assert {(r.method, r.path) for r in server.requests} == {("GET", "/v1/models")}


@pytest.mark.parametrize(
    ("said", "names"),
    [
        (LLAMA, ("qwen-0.5b",)),
        (LITELLM, ("bridge", "qwen")),
        ([{"id": "bare"}], ("bare",)),
        ({"data": None}, ()),
        ({"data": {"id": "m"}}, ()),
        ("models", ()),
        (7, ()),
        ({"data": [None, 3, [], {"id": None}, {"id": 5}, {"id": ""}, {"id": ["m"]}]}, ()),
        ({"data": [{"id": "m"}, {"id": "m"}, {"id": "a\n\x1b[31mb"}]}, ("a b", "m")),
        ({"data": [{"id": "x" * 1_000_000}]}, ("x" * 199 + "…",)),
    ],
)
async def test_names(said: object, names: tuple[str, ...]) -> None:
    assert await served(fake.json_reply(said)) == names


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (fake.body_reply(b"<html>hello</html>", "text/html"), "not valid JSON"),
        (fake.body_reply(b'{"data": [{"id": "m"}', "application/json"), "not valid JSON"),
        (fake.body_reply(b"\xff\xfe", "application/json"), "not valid JSON"),
        (fake.body_reply(b"[" * 100_000, "application/json"), "nested too deeply"),
        (fake.body_reply(b" " * 9_000_000, "application/json"), "longer than 8,000,000 bytes"),
        (fake.body_reply(b"[" + b"1," * 700_000 + b"1]", "application/json"), "500,000 values"),
        # llama.cpp while it loads, with a wrong key; LiteLLM without one.
        (fake.error(503, "Loading model", "503"), "Loading model"),
        (fake.error(401, "Invalid API Key", "401"), "refused the key"),
        (fake.body_reply(b"Internal Server Error", "text/plain", 500), "Internal Server Error"),
        (fake.drop(), "broke off"),
    ],
)
async def test_reasons(reply: Reply, reason: str) -> None:
    with pytest.raises(ModelCallError, match=reason):
        await served(reply)


async def test_very_many_are_read_in_a_moment_and_not_all_kept() -> None:
    said = json.dumps({"data": [{"id": f"model-{n:06}"} for n in range(150_000)]}).encode()
    began = time.process_time()
    assert len(await served(fake.body_reply(said, "application/json"))) == 5_000
    assert time.process_time() - began < 5


async def test_one_server_that_says_nothing_hides_no_other() -> None:
    async with OpenAIServer(lambda _request: fake.json_reply(LITELLM)) as server:
        models = {
            "proxy": ModelConfig(base_url=server.url, model="qwen"),
            "gone": ModelConfig(base_url="http://127.0.0.1:9/v1", model="m"),
        }
        rows = await served_models(Config(models=models))
    first, second, third = rows
    assert first == ServedModel(entry="proxy", url=server.url, model="qwen", chosen=True)
    assert (second.model, second.chosen) == ("bridge", False)
    assert third.entry == "gone"
    assert "connection to the model failed" in third.trouble
