"""The Responses API: what is sent, and that its answers are recorded as those of chat completions are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import openai_server as fake
from cuecard.core.config_models import ModelConfig
from cuecard.core.engine.messages import ModelReply, ToolSpec, Usage
from cuecard.core.errors import ModelCallError
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from openai_server import OpenAIServer
from responses_server import CALL, MESSAGE, REASONING, streamed, whole

SEARCH = ToolSpec(name="search", description="Look up.", parameters={"type": "object"})


async def asked(reply: fake.Reply, **settings: Any) -> tuple[ModelReply, dict[str, Any]]:
    async with OpenAIServer(lambda _request: reply) as server:
        config = ModelConfig(
            base_url=server.url, model="m", api="responses", retries=0, stream="always", **settings
        )
        client = ChatClient(config)
        try:
            said = await client.chat([wire.system("Be brief."), wire.user("Hello")], [SEARCH])
        finally:
            await client.close()
        assert server.requests[0].path == "/v1/responses"
        return said, server.requests[0].body


@pytest.mark.parametrize("made", [streamed, whole])
async def test_one_shape_whichever_way_it_comes(made: Callable[..., fake.Reply]) -> None:
    reply, _body = await asked(made(REASONING, MESSAGE, CALL))
    assert reply.text == "Let me see."
    assert reply.reasoning == "Look it up."
    (call,) = reply.tool_calls
    assert (call.id, call.name, call.arguments) == ("call_1", "search", {"query": "espresso"})
    assert (reply.finish_reason, reply.model) == ("tool_calls", "scripted-1")
    assert reply.usage == Usage(prompt=11, completion=7, cached=3, reasoning=5)
    assert reply.carried == (REASONING,)


@pytest.mark.parametrize("made", [streamed, whole])
async def test_why_it_ended(made: Callable[..., fake.Reply]) -> None:
    cut = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    assert (await asked(made(MESSAGE, **cut)))[0].finish_reason == "length"
    assert (await asked(made(MESSAGE)))[0].finish_reason == "stop"
    failed = {"status": "failed", "error": {"code": "server_error", "message": "out of order"}}
    with pytest.raises(ModelCallError, match="out of order"):
        await asked(made(MESSAGE, **failed))


async def test_a_stream_that_breaks_off_is_no_reply() -> None:
    broken = streamed(MESSAGE)
    with pytest.raises(ModelCallError, match="broke off"):
        await asked(fake.raw_stream(*list(broken.chunks)[:-1]))


async def test_what_is_sent() -> None:
    _reply, body = await asked(
        whole(MESSAGE), max_tokens=50, reasoning_effort="low", temperature=0.5
    )
    assert body["input"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
    ]
    assert (body["store"], body["include"]) == (False, ["reasoning.encrypted_content"])
    assert (body["max_output_tokens"], body["temperature"]) == (50, 0.5)
    assert body["reasoning"] == {"effort": "low"}
    (tool,) = body["tools"]
    assert (tool["type"], tool["name"]) == ("function", "search")
    assert not {"messages", "max_tokens", "stream_options", "reasoning_effort"} & set(body)


async def test_reasoning_goes_back_with_the_tools_answers() -> None:
    def script(request: fake.Request) -> fake.Reply:
        return streamed(REASONING, CALL) if request.number == 0 else whole(MESSAGE)

    async with OpenAIServer(script) as server:
        client = ChatClient(ModelConfig(base_url=server.url, model="m", api="responses"))
        thread = [wire.user("Hello")]
        reply = await client.chat(thread, [SEARCH])
        calls = [(call.id, call) for call in reply.tool_calls]
        thread += [wire.assistant(reply.text, calls, reply.carried)]
        await client.chat([*thread, wire.tool_answer("call_1", "It is coffee.")], [SEARCH])
        items = server.requests[1].body["input"]
        assert items[1] == REASONING
        assert items[2:] == [
            {k: CALL[k] for k in ("type", "call_id", "name", "arguments")},
            {"type": "function_call_output", "call_id": "call_1", "output": "It is coffee."},
        ]
        # The same thread for chat completions, which know nothing of it.
        other = ChatClient(ModelConfig(base_url=server.url, model="m", stream="never", retries=0))
        with pytest.raises(ModelCallError):
            await other.chat(thread)
        assert wire.CARRIED not in server.requests[2].messages[1]


async def test_a_schema_and_a_server_without() -> None:
    schema = {"title": "City", "type": "object"}

    def script(request: fake.Request) -> fake.Reply:
        form = request.body.get("text", {}).get("format", {}).get("type")
        return fake.error(400, "no schema") if form == "json_schema" else whole(MESSAGE)

    async with OpenAIServer(script) as server:
        client = ChatClient(ModelConfig(base_url=server.url, model="m", api="responses"))
        await client.chat([wire.user("Hello")], schema=schema)
        first, second = (request.body["text"]["format"] for request in server.requests)
        assert (first["name"], first["schema"]) == ("City", schema)
        assert second == {"type": "json_object"}
