"""What is sent, and the forms in which an answer may come back."""

from __future__ import annotations

import asyncio
import json
import shutil
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import openai_server as fake
from cuecard.core.config_models import ModelConfig
from cuecard.core.errors import ConfigError, ModelCallError, ModelPaused
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.requests import JsonMode
from openai_server import OpenAIServer, Reply, Request

HELLO = [wire.user("Hello")]
SCHEMA: dict[str, Any] = {
    "title": "Big answer!",
    "type": "object",
    "properties": {"a": {"type": "integer"}},
}
KEY = "sk-very-secret-0123456789"


def client_of(server: OpenAIServer, **settings: Any) -> ChatClient:
    return ChatClient(ModelConfig(base_url=server.url, model="m", **settings), backoff=0.001)


def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    return fake.event({"choices": [{"delta": delta, "finish_reason": finish}]})


@pytest.mark.parametrize(
    ("mode", "watched", "streams"),
    [
        ("auto", False, False),
        ("auto", True, True),
        ("always", False, True),
        ("never", True, False),
    ],
)
async def test_when_it_streams(mode: str, watched: bool, streams: bool) -> None:
    pieces: list[str] = []
    async with OpenAIServer(lambda request: fake.text("Good morning")) as server:
        client = client_of(server, stream=mode)
        reply = await client.chat(HELLO, on_text=pieces.append if watched else None)
    body = server.requests[0].body
    assert body["stream"] is streams
    assert ("stream_options" in body) is streams
    assert reply.text == "Good morning"
    assert "".join(pieces) == ("Good morning" if watched else "")


async def test_json_in_place_of_a_stream_and_the_other_way_round() -> None:
    whole = fake.whole({"content": "Hi"})
    stream = fake.text("Hi")
    forms = [
        whole,
        stream,
        # Whatever the server says that it is.
        Reply(headers={**whole.headers, "content-type": "text/event-stream"}, chunks=whole.chunks),
        Reply(headers={**stream.headers, "content-type": "application/json"}, chunks=stream.chunks),
        fake.body_reply(b"\n\n  " + whole.chunks[0], "text/plain"),
    ]
    async with OpenAIServer(lambda request: forms[request.number % len(forms)]) as server:
        client = client_of(server, retries=0)
        for on_text in (None, lambda text: None):
            for _ in forms:
                assert (await client.chat(HELLO, on_text=on_text)).text == "Hi"


async def test_a_stream_cut_anywhere() -> None:
    whole = b"".join(
        (
            b": wait\r\n\r\n",
            event({"content": "早上好, "}).replace(b"\\u", b"\\u"),
            'data: {"choices": [{"delta": {"content": "磨豆"}}]}\r\n\r\n'.encode(),
            event({}, "stop"),
            b"data: [DONE]\n\n",
        )
    )
    single = fake.raw_stream(*(bytes([byte]) for byte in whole))
    async with OpenAIServer(lambda request: single) as server:
        reply = await client_of(server, stream="always").chat(HELLO)
    assert reply.text == "早上好, 磨豆"


@pytest.mark.parametrize(
    "end",
    [
        [b"data: [DONE]\n\n"],
        [event({}, "stop")],
        [event({}, "stop")[:-2]],
        [b"data:[DONE]"],
        # What comes after the end is nothing to us.
        [b"data: [DONE]\n\n", b"data: {oops\n\n"],
    ],
)
async def test_how_a_stream_may_end(end: list[bytes]) -> None:
    stream = fake.raw_stream(event({"content": "Whole"}), *end)
    async with OpenAIServer(lambda request: stream) as server:
        assert (await client_of(server, stream="always", retries=0).chat(HELLO)).text == "Whole"


async def test_a_connection_lost_after_the_end_costs_nothing() -> None:
    for end in (b"data: [DONE]\n\n", event({}, "stop")):
        stream = fake.raw_stream(event({"content": "Whole"}), end, cut=True)
        async with OpenAIServer(lambda request, stream=stream: stream) as server:
            assert (await client_of(server, stream="always").chat(HELLO)).text == "Whole"
        assert len(server.requests) == 1


async def test_lines_without_blank_lines_between_them() -> None:
    lines = event({"content": "Wh"}), event({"content": "ole"}), event({}, "stop")
    stream = fake.raw_stream(b"".join(line[:-1] for line in lines))
    async with OpenAIServer(lambda request: stream) as server:
        assert (await client_of(server, stream="always").chat(HELLO)).text == "Whole"


@pytest.mark.parametrize(
    ("error", "attempts"),
    [
        ({"message": "overloaded", "code": 502}, 3),
        ({"message": "slow down", "code": "429"}, 3),
        ("the worker died", 3),
        ({"message": "no such tool", "code": 400}, 1),
    ],
)
async def test_an_error_in_place_of_an_answer(error: Any, attempts: int) -> None:
    for reply in (fake.json_reply({"error": error}), fake.raw_stream(fake.event({"error": error}))):
        async with OpenAIServer(lambda request, reply=reply: reply) as server:
            words = error if isinstance(error, str) else error["message"]
            with pytest.raises(ModelCallError, match=words):
                await client_of(server, retries=2).chat(HELLO)
        assert len(server.requests) == attempts


async def test_large_and_odd_messages_arrive_whole() -> None:
    large = "磨豆 crema\x00\u2028" * 120_000
    async with OpenAIServer(lambda request: fake.text("Hi")) as server:
        await client_of(server).chat([wire.user(large), wire.user("half: \ud83d")])
    first, second = server.requests[0].messages
    assert first["content"] == large
    assert second["content"] == "half: \ufffd"


async def test_no_redirect_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUECARD_TEST_KEY", KEY)
    async with OpenAIServer(lambda request: fake.text("Stolen")) as elsewhere:
        away = Reply(status=307, headers={"location": elsewhere.url, "content-length": "0"})
        async with OpenAIServer(lambda request: away) as server:
            with pytest.raises(ModelPaused, match=elsewhere.url):
                await client_of(server, api_key_env="CUECARD_TEST_KEY").chat(HELLO)
        assert not elsewhere.requests


async def test_netrc_and_cookies_are_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text(f"machine 127.0.0.1 login me password {KEY}\n")
    monkeypatch.setenv("NETRC", str(netrc))
    hi = fake.text("Hi")
    cookie = Reply(headers={**hi.headers, "set-cookie": "trial=1"}, chunks=hi.chunks)
    async with OpenAIServer(lambda request: cookie) as server:
        client = client_of(server)
        for _ in range(2):
            await client.chat(HELLO)
    for request in server.requests:
        assert {"authorization", "cookie"} & set(request.headers) == set()


async def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with OpenAIServer(lambda request: fake.text("Hi")) as proxy:
        where = proxy.url.removeprefix("http://").removesuffix("/v1")
        monkeypatch.setenv("http_proxy", f"http://me:pass%20word@{where}")
        monkeypatch.setenv("no_proxy", "direct.invalid")
        config = ModelConfig(base_url="http://model.invalid/v1", model="m", retries=0)
        assert (await ChatClient(config).chat(HELLO)).text == "Hi"
        (request,) = proxy.requests
        assert request.path == "http://model.invalid/v1/chat/completions"
        assert request.headers["proxy-authorization"].startswith("Basic ")
        config = ModelConfig(base_url="http://direct.invalid/v1", model="m", retries=0)
        with pytest.raises(ModelCallError, match=r"direct\.invalid"):
            await ChatClient(config).chat(HELLO)
        monkeypatch.setenv("http_proxy", "gopher://me:word@localhost:1")
        with pytest.raises(ConfigError, match="gopher") as caught:
            await ChatClient(config.model_copy(update={"base_url": "http://x.invalid"})).chat(HELLO)
        assert "word" not in str(caught.value)


@pytest.fixture
def own_certificate(tmp_path: Path) -> ssl.SSLContext:
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    make = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout k.pem -out c.pem"
    subprocess.run(["openssl", *make.split()], cwd=tmp_path, check=True, capture_output=True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "c.pem", tmp_path / "k.pem")
    return context


async def test_a_certificate_that_nobody_knows(own_certificate: ssl.SSLContext) -> None:
    server = await asyncio.start_server(
        lambda _reader, writer: writer.close(), "127.0.0.1", ssl=own_certificate
    )
    async with server:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        with pytest.raises(ModelPaused, match="cannot be trusted") as caught:
            await ChatClient(ModelConfig(base_url=url, model="m")).chat(HELLO)
    assert "SSL_CERT_FILE" in caught.value.hint


def json_server(*known: str, words: str = "unknown field") -> Callable[[Request], Reply]:
    """A server that knows only these forms of `response_format`."""

    def script(request: Request) -> Reply:
        form = request.body.get("response_format", {}).get("type", "none")
        return fake.whole({"content": form}) if form in known else fake.error(400, words)

    return script


@pytest.mark.parametrize(
    ("known", "forms", "mode"),
    [
        (("json_schema",), ["json_schema"], JsonMode.SCHEMA),
        (("json_object", "none"), ["json_schema", "json_object"], JsonMode.OBJECT),
        (("none",), ["json_schema", "json_object", None], JsonMode.NONE),
    ],
)
async def test_a_server_is_asked_for_the_json_that_it_knows(
    known: tuple[str, ...], forms: list[str | None], mode: JsonMode
) -> None:
    async with OpenAIServer(json_server(*known)) as server:
        client = client_of(server)
        reply = await client.chat(HELLO, schema=SCHEMA)
        assert reply.attempts == len(forms)
        # From then on at once.
        assert (await client.chat(HELLO, schema=SCHEMA)).attempts == 1
        assert client.capabilities.fallback.json is mode
    asked = [request.body.get("response_format", {}).get("type") for request in server.requests]
    assert asked == [*forms, forms[-1]]


async def test_the_schema_as_it_is_sent() -> None:
    async with OpenAIServer(json_server("json_schema", "none")) as server:
        await client_of(server).chat(HELLO, schema=SCHEMA)
        await client_of(server).chat(HELLO)
    first, second = (request.body for request in server.requests)
    assert first["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "Big_answer_", "schema": SCHEMA, "strict": False},
    }
    assert "response_format" not in second


async def test_a_format_that_a_person_configured_stays() -> None:
    extra = {"response_format": {"type": "text"}}
    async with OpenAIServer(lambda request: fake.text("Hi")) as server:
        await client_of(server, extra=extra).chat(HELLO, schema=SCHEMA)
    assert server.requests[0].body["response_format"] == {"type": "text"}


async def test_what_once_worked_is_not_doubted_for_other_reasons() -> None:
    def script(request: Request) -> Reply:
        if request.number == 0:
            return fake.whole({"content": "{}"})
        bad = "response_format" in request.body and request.last["content"] == "odd schema"
        words = "response_format: $ref is not supported" if bad else "too many tools"
        return fake.error(400, words) if bad or request.number == 1 else fake.text("plain")

    async with OpenAIServer(script) as server:
        client = client_of(server)
        await client.chat(HELLO, schema=SCHEMA)
        with pytest.raises(ModelCallError, match="too many tools"):
            await client.chat(HELLO, schema=SCHEMA)
        assert len(server.requests) == 2
        # A schema that the server cannot read is its own trouble, not that of all others.
        odd = await client.chat([wire.user("odd schema")], schema=SCHEMA)
        assert (odd.text, odd.attempts) == ("plain", 3)
        assert client.capabilities.fallback.json is JsonMode.SCHEMA


async def test_both_counting_and_json_may_be_unknown() -> None:
    def script(request: Request) -> Reply:
        odd = {"stream_options", "response_format"} & set(request.body)
        return fake.error(422, f"unknown: {json.dumps(sorted(odd))}") if odd else fake.text("Hi")

    async with OpenAIServer(script) as server:
        client = client_of(server, stream="always")
        assert (await client.chat(HELLO, schema=SCHEMA)).attempts == 4
        assert (await client.chat(HELLO, schema=SCHEMA)).attempts == 1


async def test_the_first_refusal_is_the_one_that_is_told() -> None:
    def script(request: Request) -> Reply:
        return fake.error(400, f"refused {request.number}")

    async with OpenAIServer(script) as server:
        with pytest.raises(ModelCallError, match="refused 0"):
            await client_of(server).chat(HELLO, schema=SCHEMA)
    assert len(server.requests) == 3
