"""The one way to call a model: any OpenAI-compatible endpoint, streamed."""

from __future__ import annotations

import asyncio
import importlib
import json
import random
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from cuecard.core.config_models import ModelConfig
from cuecard.core.i18n import _
from cuecard.core.llm.assemble import Assembler
from cuecard.core.llm.failures import Failure, WebPage, failure_of
from cuecard.core.llm.wire import ChatMessage, tool
from cuecard.core.parts import ModelReply, ToolSpec

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream

_MAX_BACKOFF = 30.0
_CONNECT_SECONDS = 10.0


@dataclass(frozen=True)
class Call:
    """One call as it went: the reply, and what the server did to give it."""

    reply: ModelReply
    streamed: bool
    counted: bool


class ChatClient:
    """Calls one model. Holds no connection and no key: both live for one call only.

    `backoff`: seconds before the first further attempt; they double from then on.
    Raises `ConfigError` at once if the key that the configuration names is missing.
    """

    def __init__(self, config: ModelConfig, *, backoff: float = 0.5) -> None:
        config.api_key()
        self.config = config
        self._backoff = backoff
        self._ask_usage = True

    def __repr__(self) -> str:
        return f"ChatClient({self.config.model!r} at {self.config.base_url})"

    async def chat(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSpec] = (),
        on_text: Callable[[str], None] | None = None,
        *,
        may_call: bool = True,
    ) -> ModelReply:
        """One reply to `messages`; `on_text` receives its text piece by piece.

        Without `may_call` the model sees the tools but is told not to call them. Busy servers,
        time-outs and lost connections are tried again; then, and for everything else, raises
        `ModelCallError`, with `context_overflow` when the messages are too long.
        """
        return (await self.call(messages, tools, on_text, may_call=may_call)).reply

    async def call(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSpec] = (),
        on_text: Callable[[str], None] | None = None,
        *,
        may_call: bool = True,
    ) -> Call:
        """`chat`, with what the server did. Raises `ModelCallError`."""
        body = self._body(messages, tools, may_call)
        shown = _Shown(on_text)
        attempt = 0
        doubted: Failure | None = None
        while True:
            failure = await self._attempt(body, shown)
            if isinstance(failure, Call):
                return failure
            if failure.refused and doubted is None and self._ask_usage:
                # Perhaps only because older servers do not know how to count tokens in a stream.
                doubted, self._ask_usage = failure, False
                continue
            if doubted is not None and failure.refused:
                self._ask_usage = True
            if not failure.transient or attempt >= self.config.retries:
                raise failure.error
            await asyncio.sleep(self._wait(attempt, failure.wait))
            attempt += 1

    def _body(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec], may_call: bool
    ) -> dict[str, JsonValue]:
        config = self.config
        body: dict[str, JsonValue] = {**config.extra, "model": config.model, "stream": True}
        body["messages"] = list(messages)
        if config.temperature is not None:
            body["temperature"] = config.temperature
        if config.max_tokens is not None:
            body["max_tokens"] = config.max_tokens
        if tools:
            body["tools"] = [tool(spec) for spec in tools]
            if not may_call:
                body["tool_choice"] = "none"
        return body

    async def _attempt(self, body: dict[str, JsonValue], shown: _Shown) -> Call | Failure:
        key = self.config.api_key()
        if self._ask_usage:
            body = {**body, "stream_options": {"include_usage": True}}
        # Importing takes half a second: elsewhere than on the loop that other trials run on.
        openai: Any = await asyncio.to_thread(importlib.import_module, "openai")
        began = time.perf_counter()
        try:
            async with _session(self.config, key) as client:
                stream: AsyncStream[object] = await client.post(
                    "/chat/completions",
                    cast_to=object,
                    body=body,
                    stream=True,
                    stream_cls=openai.AsyncStream[object],
                )
                async with stream:
                    call = await _read(stream, shown)
        except (openai.OpenAIError, ValueError) as error:
            shown.stop()
            return failure_of(error, self.config, key)
        latency = round((time.perf_counter() - began) * 1000)
        reply = call.reply.model_copy(
            update={"latency_ms": latency, "model": call.reply.model or self.config.model}
        )
        return Call(reply, call.streamed, call.counted)

    def _wait(self, attempt: int, wanted: float | None) -> float:
        if wanted is not None:
            return wanted
        # Trials that failed together must not come back together.
        return min(self._backoff * 2**attempt, _MAX_BACKOFF) * random.uniform(0.75, 1.0)


class _Shown:
    """What the screen saw of the reply. A further attempt begins anew and is not shown: the finished
    reply takes the place of the pieces anyway.
    """

    def __init__(self, on_text: Callable[[str], None] | None) -> None:
        self._on_text = on_text
        self._any = False

    def __call__(self, text: str) -> None:
        if self._on_text:
            self._any = True
            self._on_text(text)

    def stop(self) -> None:
        if self._any:
            self._on_text = None


async def _read(stream: AsyncStream[object], shown: _Shown) -> Call:
    """The reply in a stream, or in the one piece that a server sends which cannot stream.

    Raises what the `openai` client raises, and `ValueError`.
    """
    assembler = Assembler(shown)
    kind = stream.response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "text/html":
        raise WebPage(_("the address answers with a web page"))
    streamed = kind != "application/json"
    if streamed:
        async for chunk in stream:
            assembler.add(chunk)
    else:
        assembler.add_whole(json.loads(await _whole(stream)))
    return Call(assembler.reply(), streamed, assembler.usage is not None)


async def _whole(stream: AsyncStream[object]) -> bytes:
    from openai import APIConnectionError

    try:
        return await stream.response.aread()
    except _http().RequestError as error:
        raise APIConnectionError(request=stream.response.request) from error


@asynccontextmanager
async def _session(config: ModelConfig, key: str) -> AsyncGenerator[AsyncOpenAI, None]:
    """A client for one call: nothing to close later, nothing bound to an event loop."""
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

    timeout = Timeout(config.timeout, connect=min(config.timeout, _CONNECT_SECONDS))
    http = DefaultAsyncHttpxClient(verify=_certificates(), timeout=timeout)
    # Without a key the library would take OPENAI_API_KEY, which may belong to another server.
    client = AsyncOpenAI(
        api_key=key or "none",
        base_url=config.base_url,
        http_client=http,
        timeout=timeout,
        max_retries=0,
    )
    # Nor are that account's other details for anyone else.
    client.admin_api_key = None
    if client.base_url.host != "api.openai.com":
        client.organization = client.project = None
    async with client:
        yield client


@cache
def _certificates() -> Any:
    """One TLS context for all calls: making it takes twenty milliseconds."""
    return _http().create_ssl_context()


def _http() -> Any:
    """The HTTP library that this version of `openai` speaks through."""
    from openai import DefaultAsyncHttpxClient

    base = next(c for c in DefaultAsyncHttpxClient.__mro__ if c.__name__ == "AsyncClient")
    return importlib.import_module(base.__module__.partition(".")[0])
