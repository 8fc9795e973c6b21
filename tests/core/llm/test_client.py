from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import openai_server as fake
from cuecard.core.config_models import ModelConfig
from cuecard.core.engine.messages import ModelReply, ToolSpec, Usage
from cuecard.core.errors import ConfigError, ModelCallError, ModelPaused
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from openai_server import OpenAIServer, Reply, Request

SEARCH = ToolSpec(
    name="search",
    description="Look something up.",
    parameters={"type": "object", "properties": {"query": {"type": "string"}}},
)


def always(reply: Reply) -> Callable[[Request], Reply]:
    return lambda request: reply


def in_turn(*replies: Reply) -> Callable[[Request], Reply]:
    return lambda request: replies[min(request.number, len(replies) - 1)]


def client_of(server: OpenAIServer, **settings: Any) -> ChatClient:
    config = ModelConfig(base_url=server.url, model="scripted", **settings)
    return ChatClient(config, backoff=0.001)


async def ask(
    script: Callable[[Request], Any], tools: tuple[ToolSpec, ...] = (), **settings: Any
) -> tuple[ModelReply, OpenAIServer]:
    async with OpenAIServer(script) as server:
        reply = await client_of(server, **settings).chat([wire.user("Hello")], tools)
    return reply, server


async def failing(
    script: Callable[[Request], Any], error: type[Any] = ModelCallError, **settings: Any
) -> tuple[Any, OpenAIServer]:
    async with OpenAIServer(script) as server:
        with pytest.raises(error) as caught:
            await client_of(server, **settings).chat([wire.user("Hello")])
    return caught.value, server


async def test_a_streamed_text_with_usage() -> None:
    pieces: list[str] = []
    async with OpenAIServer(always(fake.text("Good morning, 早上好"))) as server:
        reply = await client_of(server).chat([wire.user("Hello")], on_text=pieces.append)
    assert reply.text == "".join(pieces) == "Good morning, 早上好"
    assert len(pieces) > 1
    assert reply.usage == Usage(prompt=11, completion=7)
    assert (reply.finish_reason, reply.model) == ("stop", "scripted-1")
    assert reply.latency_ms >= 0


async def test_what_is_sent() -> None:
    _, server = await ask(
        always(fake.text("Hi")),
        (SEARCH,),
        stream="always",
        temperature=0.25,
        max_tokens=99,
        extra={"top_k": 5},
    )
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.messages == [{"role": "user", "content": "Hello"}]
    assert request.body["model"] == "scripted"
    assert (request.body["temperature"], request.body["max_tokens"]) == (0.25, 99)
    assert request.body["top_k"] == 5
    assert request.body["stream_options"] == {"include_usage": True}
    assert request.body["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "search",
                "description": "Look something up.",
                "parameters": SEARCH.parameters,
            },
        }
    ]


async def test_the_model_can_be_told_not_to_call_tools() -> None:
    async with OpenAIServer(always(fake.text("Hi"))) as server:
        await client_of(server).chat([wire.user("Hello")], (SEARCH,), may_call=False)
    assert server.requests[0].body["tool_choice"] == "none"


async def test_parallel_tool_calls_in_pieces() -> None:
    reply, _ = await ask(
        always(fake.calls(("search", {"query": "crema"}), ("search", {"query": "磨豆"}))), (SEARCH,)
    )
    assert [(c.name, c.arguments, c.id) for c in reply.tool_calls] == [
        ("search", {"query": "crema"}, "c0"),
        ("search", {"query": "磨豆"}, "c1"),
    ]
    assert reply.finish_reason == "tool_calls"


async def test_a_server_that_does_not_stream() -> None:
    call = {"id": "x", "function": {"name": "search", "arguments": '{"query": "crema"}'}}
    reply, _ = await ask(always(fake.whole({"content": "One moment", "tool_calls": [call]})))
    assert reply.text == "One moment"
    assert reply.tool_calls[0].arguments == {"query": "crema"}
    assert reply.usage.prompt == 11


async def test_reasoning_is_set_apart() -> None:
    reply, _ = await ask(
        always(fake.stream({"reasoning_content": "Let me think."}, {"content": "Yes."}))
    )
    assert (reply.reasoning, reply.text) == ("Let me think.", "Yes.")
    reply, _ = await ask(always(fake.text("<think>\nHm.\n</think>\n\nYes.")))
    assert (reply.reasoning, reply.text) == ("Hm.", "Yes.")


@pytest.mark.parametrize("status", [429, 500, 503, 408])
async def test_a_passing_failure_is_tried_again(status: int) -> None:
    reply, server = await ask(
        in_turn(fake.error(status), fake.error(status, retry_after="0"), fake.text("At last"))
    )
    assert reply.text == "At last"
    assert len(server.requests) == 3


async def test_retry_after_is_honoured() -> None:
    waited: list[float] = []

    def script(request: Request) -> Reply:
        waited.append(asyncio.get_running_loop().time())
        return fake.text("Hi") if request.number else fake.busy(retry_after="0.2")

    await ask(script)
    assert waited[1] - waited[0] >= 0.2


async def test_tries_come_to_an_end() -> None:
    error, server = await failing(always(fake.error(503, "overloaded")), retries=2)
    assert len(server.requests) == 3
    assert "overloaded" in str(error)
    assert "503" in str(error)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (fake.error(401, "bad key"), "bad key"),
        (fake.error(404, "no such model"), "no such model"),
        (fake.error(429, "pay first", code="insufficient_quota"), "pay first"),
        (fake.body_reply(b"<html>Welcome</html>", "text/html"), "base_url"),
    ],
)
async def test_a_lasting_failure_is_not_tried_again(reply: Reply, words: str) -> None:
    error, server = await failing(always(reply), ModelPaused)
    assert len(server.requests) == 1
    assert words in str(error)


@pytest.mark.parametrize(
    "reply",
    [
        fake.error(400, "too long", code="context_length_exceeded"),
        fake.error(400, "This model's maximum context length is 8192 tokens."),
        fake.error(400, "the request exceeds the available context size. try increasing it"),
        fake.error(500, "input is too long: exceeds the context window"),
        fake.raw_stream(fake.event({"error": {"message": "context length exceeded", "code": 400}})),
    ],
)
async def test_too_long_a_conversation_is_told_apart(reply: Reply) -> None:
    error, _ = await failing(always(reply))
    assert error.context_overflow


async def test_a_busy_server_that_counts_tokens_is_no_overflow() -> None:
    error, server = await failing(
        always(fake.error(429, "Rate limit: context length budget used up")), retries=1
    )
    assert not error.context_overflow
    assert len(server.requests) == 2


async def test_a_server_that_cannot_count_in_a_stream_is_asked_without() -> None:
    def script(request: Request) -> Reply:
        if "stream_options" in request.body:
            return fake.error(400, "unknown field: stream_options")
        return fake.text("Hi", usage=None)

    async with OpenAIServer(script) as server:
        client = client_of(server, stream="always")
        assert (await client.chat([wire.user("Hello")])).text == "Hi"
        assert (await client.chat([wire.user("Hello")])).usage == Usage()
    asked = ["stream_options" in request.body for request in server.requests]
    assert asked == [True, False, False]


async def test_a_request_refused_for_another_reason_is_sent_twice_at_most() -> None:
    refusal = always(fake.error(400, "tools are not supported"))
    error, server = await failing(refusal, stream="always")
    assert "tools are not supported" in str(error)
    assert len(server.requests) == 2


BROKEN = {
    "not JSON": fake.body_reply(b"{oops", "application/json"),
    "no choices": fake.json_reply({"id": 1}),
    "a list": fake.json_reply([1, 2]),
    "an empty body": fake.body_reply(b"", "application/json"),
    "an empty stream": fake.raw_stream(),
    "only the end": fake.raw_stream(b"data: [DONE]\n\n"),
    "a broken chunk": fake.raw_stream(b'data: {"choices": [{"del\n\n'),
    "a chunk that is a list": fake.raw_stream(b"data: [1]\n\n"),
    "not UTF-8": fake.raw_stream(b"data: \xff\xfe\n\n"),
    "a truncated stream": fake.text("Half of", finish=None, usage=None, done=False),
    "a truncated call": fake.stream(
        {"tool_calls": [{"index": 0, "function": {"name": "search", "arguments": '{"qu'}}]},
        finish=None,
        usage=None,
        done=False,
    ),
    "a stream cut off": fake.text("Half of", finish=None, usage=None, done=False, cut=True),
    "a dropped connection": fake.drop(),
    "an error in the stream": fake.raw_stream(
        fake.event({"choices": [{"delta": {"content": "Hal"}}]}),
        fake.event({"error": {"message": "the worker died"}}),
    ),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_an_unusable_answer_is_an_error_after_all_tries(name: str) -> None:
    error, server = await failing(always(BROKEN[name]), retries=1)
    assert len(server.requests) == 2
    assert error.title
    assert error.message
    assert not error.context_overflow


@pytest.mark.parametrize("name", BROKEN)
async def test_an_unusable_answer_may_pass(name: str) -> None:
    reply, _ = await ask(in_turn(BROKEN[name], fake.text("Whole")))
    assert reply.text == "Whole"


async def test_a_second_attempt_is_not_shown_after_half_a_first_one() -> None:
    pieces: list[str] = []
    script = in_turn(BROKEN["a stream cut off"], fake.text("All of it"))
    async with OpenAIServer(script) as server:
        reply = await client_of(server).chat([wire.user("Hello")], on_text=pieces.append)
    assert reply.text == "All of it"
    assert "".join(pieces) in ("", "Half of")


async def test_a_stream_without_finish_but_with_its_count_is_whole() -> None:
    reply, _ = await ask(always(fake.text("Fine", finish=None)))
    assert reply.text == "Fine"


async def test_a_server_that_never_answers() -> None:
    async def script(request: Request) -> Reply:
        await asyncio.sleep(60)
        return fake.text("Too late")

    error, server = await failing(script, timeout=0.1, retries=1)
    assert "0.1" in str(error)
    assert len(server.requests) == 2


async def test_a_stream_that_stalls() -> None:
    for mode in ("always", "never"):
        slow = always(fake.text("Slow", pause=5))
        error, _ = await failing(slow, timeout=0.1, retries=0, stream=mode)
        assert "time" in error.title


async def test_a_slow_stream_is_waited_for() -> None:
    reply, _ = await ask(always(fake.text("Slow " * 8, pause=0.03)), timeout=0.15, stream="always")
    assert reply.text == "Slow " * 8


async def test_a_stream_that_only_says_that_it_is_still_there() -> None:
    pings = fake.raw_stream(*[b": still busy\n\n"] * 100, pause=0.02)
    error, _ = await failing(always(pings), timeout=0.04, retries=0, stream="always")
    assert "time" in error.title


async def test_a_stream_that_goes_on_and_on_ends_with_the_calls_time() -> None:
    trickle = fake.stream(*[{"content": "x"}] * 1000, pause=0.02)
    error, server = await failing(
        always(trickle), timeout=0.2, total_timeout=0.4, retries=4, stream="always"
    )
    assert "time" in error.title
    assert "0.4" in error.message
    assert len(server.requests) == 1


async def test_all_attempts_of_a_call_share_its_time() -> None:
    silent = always(fake.text("Too late", pause=5))
    error, server = await failing(silent, timeout=0.1, total_timeout=0.25, retries=20)
    assert "time" in error.title
    assert len(server.requests) == 3


NO_WORD = {
    "empty deltas": fake.stream(*[{"content": ""}] * 1000, pause=0.02),
    "a role again and again": fake.stream(*[{"role": "assistant"}] * 1000, pause=0.02),
    "a name again and again": fake.stream(
        *[{"tool_calls": [{"index": 0, "function": {"name": "search", "arguments": ""}}]}] * 1000,
        pause=0.02,
    ),
    "no choices": fake.raw_stream(*[fake.event({"choices": []})] * 1000, pause=0.02),
    "a byte at a time": fake.raw_stream(b"{", *[b" "] * 1000, pause=0.02),
    "a delta, a byte at a time": fake.raw_stream(
        b"data: ", *[b" "] * 1000, fake.event({"choices": []}), pause=0.02
    ),
}


@pytest.mark.parametrize("mode", ["always", "never"])
@pytest.mark.parametrize("name", NO_WORD)
async def test_only_words_count_as_going_on(name: str, mode: str) -> None:
    error, _ = await failing(always(NO_WORD[name]), timeout=0.2, retries=0, stream=mode)
    assert "time" in error.title


@pytest.mark.parametrize(
    "delta",
    [
        {"content": "a"},
        {"reasoning_content": "a"},
        {"tool_calls": [{"index": 0, "function": {"name": "search", "arguments": " "}}]},
    ],
)
async def test_thoughts_and_arguments_are_words(delta: dict[str, Any]) -> None:
    slow = fake.stream(*[delta] * 12, pause=0.05)
    reply, _ = await ask(always(slow), timeout=0.25, stream="always")
    assert len(reply.text + reply.reasoning) == 12 or reply.tool_calls


async def test_a_reply_that_was_said_is_kept_although_its_stream_does_not_end() -> None:
    events = [fake.event({"choices": [{"delta": {"content": "All"}, "finish_reason": "stop"}]})]
    open_end = fake.raw_stream(*events, *[b": still here\n\n"] * 1000, pause=0.02)
    reply, _ = await ask(always(open_end), timeout=0.3, retries=0, stream="always")
    assert reply.text == "All"


async def test_a_refusal_without_end_is_read_for_a_moment() -> None:
    endless = Reply(
        500, {"content-type": "text/plain", "transfer-encoding": "chunked"}, [b"no "] * 1000
    )
    slow = Reply(endless.status, endless.headers, endless.chunks, pause=0.05)
    error, _ = await failing(always(slow), timeout=0.6, retries=0)
    assert "500: no no" in error.message


async def test_a_flood_of_tool_calls_is_bounded_with_a_reason() -> None:
    flood = [
        {"tool_calls": [{"id": f"c{n}", "function": {"name": "search", "arguments": "{}"}}]}
        for n in range(20_000)
    ]
    error, server = await failing(always(fake.stream(*flood)), stream="always")
    assert "500 tool calls" in error.message
    assert len(server.requests) == 1
    message = {"tool_calls": [delta["tool_calls"][0] for delta in flood]}
    error, server = await failing(always(fake.whole(message)))
    assert "500 tool calls" in error.message


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"choices": [' + b"{}," * 600_000 + b"{}]}", "values"),
        (b'{"choices": ' + b"[" * 50_000 + b"]" * 50_000 + b"}", "nested"),
        (b'{"choices": "' + b"x" * 8_000_001 + b'"}', "bytes"),
        (b" " * 8_000_001, "bytes"),
    ],
    ids=["values", "nested", "bytes", "blanks"],
)
async def test_a_body_beyond_all_bounds_is_refused_with_a_reason(body: bytes, words: str) -> None:
    reply = fake.body_reply(body, "application/json")
    error, server = await failing(always(reply))
    assert "too large" in error.title
    assert words in error.message
    assert len(server.requests) == 1


async def test_a_count_of_tokens_that_cannot_be_is_none() -> None:
    usage = {"prompt_tokens": 10**30, "completion_tokens": 7}
    reply, _ = await ask(always(fake.text("Hi", usage=usage)), stream="always")
    assert (reply.usage.prompt, reply.usage.completion) == (0, 7)


@pytest.mark.parametrize("header", ["3600", "1e999"])
async def test_a_server_that_wants_to_be_left_alone_for_long_is(header: str) -> None:
    error, server = await failing(always(fake.busy(retry_after=header)), ModelPaused)
    assert len(server.requests) == 1
    assert "slow down" in error.message
    if header == "3600":
        assert "1:00:00, until 20" in error.message


async def test_nobody_listens() -> None:
    async with OpenAIServer(always(fake.text("Hi"))) as server:
        url = server.url
    client = ChatClient(ModelConfig(base_url=url, model="m", retries=1), backoff=0.001)
    with pytest.raises(ModelCallError, match=url):
        await client.chat([wire.user("Hello")])


async def test_cancellation_passes_through() -> None:
    arrived = asyncio.Event()

    async def script(request: Request) -> Reply:
        arrived.set()
        await asyncio.sleep(60)
        return fake.text("Too late")

    async with OpenAIServer(script) as server:
        task = asyncio.create_task(client_of(server).chat([wire.user("Hello")]))
        await arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


KEY = "sk-very-secret-0123456789"


async def test_a_key_reaches_the_server_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("CUECARD_TEST_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    async with OpenAIServer(always(fake.error(401, f"Wrong key: {KEY}"))) as server:
        client = client_of(server, api_key_env="CUECARD_TEST_KEY")
        with pytest.raises(ModelPaused) as caught:
            await client.chat([wire.user("Hello")])
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    shown = repr(client) + repr(client.config) + str(caught.value) + repr(caught.value)
    assert KEY not in shown + caplog.text + json.dumps(server.requests[0].body)
    assert "CUECARD_TEST_KEY" in str(caught.value)
    # Not even along the chain that a traceback would print.
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


async def test_other_accounts_details_stay_here(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, KEY)
    _, server = await ask(always(fake.text("Hi")))
    assert KEY not in str(server.requests[0].headers)


async def test_a_missing_key_is_told_before_any_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUECARD_TEST_KEY", raising=False)
    config = ModelConfig(base_url="http://localhost", model="m", api_key_env="CUECARD_TEST_KEY")
    with pytest.raises(ConfigError, match="CUECARD_TEST_KEY"):
        ChatClient(config)


async def test_control_characters_and_half_characters_are_replaced() -> None:
    first, second = json.loads('"\\ud83d"'), json.loads('"\\ude00 \\udc00 \\u0000"')
    reply, _ = await ask(always(fake.stream({"content": first}, {"content": second})))
    assert reply.text == "😀 � �"
    assert ModelReply.model_validate_json(reply.model_dump_json()) == reply


def test_importing_the_room_does_not_import_what_is_heavy() -> None:
    code = (
        "import sys, cuecard.core.config, cuecard.core.engine.run, cuecard.core.agents.react,"
        " cuecard.core.llm.client, cuecard.core.doctor;"
        "print(sorted({'openai', 'aiohttp', 'json_repair', 'sqlmodel', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
