"""The Responses API: what is sent, and that its answers are recorded as those of chat completions are."""

from __future__ import annotations

import json
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


async def test_items_without_an_index_are_told_apart_by_name() -> None:
    """llama.cpp's events: no index, a call's item without an id, and all ends at the end."""
    events: list[dict[str, Any]] = [{"type": "response.created", "response": {"id": "resp_1"}}]
    names = ("Peru", "Chile")
    calls = [
        {
            "type": "function_call",
            "status": "completed",
            "arguments": f'{{"query": "{name}"}}',
            "call_id": f"fc_{name}",
            "name": "search",
        }
        for name in names
    ]
    for call in calls:
        begun = {**call, "arguments": "", "status": "in_progress"}
        events.append({"type": "response.output_item.added", "item": begun})
    kind = "response.function_call_arguments.delta"
    for pieces in zip(*(call["arguments"] for call in calls), strict=False):
        events += [
            {"type": kind, "item_id": call["call_id"], "delta": piece}
            for call, piece in zip(calls, pieces, strict=True)
        ]
    events.append({"type": kind, "item_id": "fc_Chile", "delta": "}"})
    events += [{"type": "response.output_item.done", "item": call} for call in calls]
    end = {"status": "completed", "model": "qwen", "output": calls, "usage": {"input_tokens": 3}}
    events.append({"type": "response.completed", "response": end})
    raw = (f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events)
    reply, _body = await asked(fake.raw_stream(*raw))
    assert [call.arguments for call in reply.tool_calls] == [{"query": name} for name in names]
    assert [call.id for call in reply.tool_calls] == ["fc_Peru", "fc_Chile"]


async def test_hostile_items_end_in_a_reply_or_a_reason() -> None:
    delta = {"type": "response.output_text.delta", "output_index": [], "item_id": {}, "delta": "Hi"}
    end = {"type": "response.completed", "response": {"output": 5, "usage": [], "model": {}}}
    item = {"type": "response.output_item.added", "item": {"type": [], "id": 3}, "output_index": {}}
    raw = [f"data: {json.dumps(each)}\n\n".encode() for each in (item, delta, end)]
    assert (await asked(fake.raw_stream(*raw)))[0].text == "Hi"
    many = b"".join(
        b'data: {"type": "response.output_text.delta", "item_id": "%d", "delta": ""}\n\n' % n
        for n in range(2_000)
    )
    with pytest.raises(ModelCallError, match="too large"):
        await asked(fake.raw_stream(many, *raw))


async def test_words_of_a_reply_go_back_in_the_form_that_llama_knows() -> None:
    async with OpenAIServer(lambda _request: whole(MESSAGE)) as server:
        client = ChatClient(ModelConfig(base_url=server.url, model="m", api="responses"))
        await client.chat([wire.user("Hello"), wire.assistant("Hi"), wire.user("And?")])
        assert server.requests[0].body["input"][1] == {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Hi"}],
        }


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
