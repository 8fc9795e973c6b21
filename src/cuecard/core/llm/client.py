"""The client for models behind OpenAI-compatible endpoints, and what of a request a server was found to support."""

from __future__ import annotations

import io
import json
import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from pydantic import JsonValue

from cuecard.core.config_schema import ModelConfig
from cuecard.core.engine.messages import ModelReply, ToolSpec
from cuecard.core.llm.failures import (
    CONNECT_SECONDS,
    MAX_WAIT,
    Blame,
    Breaker,
    Failure,
    Overdue,
    Patience,
    of_exception,
    of_status,
)
from cuecard.core.llm.limiter import Forecast, Pool, RateLimiter, Slot, proxy_for
from cuecard.core.llm.replies import Assembler, read_answer
from cuecard.core.llm.wire import ChatMessage, ServerFailure, tool
from cuecard.core.text import storable
from cuecard.core.validation import read_refusal

JsonSchema = Mapping[str, JsonValue]
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_ABOUT_JSON = re.compile(r"response_format|json_?schema|json_object|schema|grammar", re.IGNORECASE)
_ABOUT_COUNT = re.compile(r"stream_options|include_usage", re.IGNORECASE)


class JsonMode(IntEnum):
    """How a server can be made to answer in JSON: not at all, as any object, by a schema."""

    NONE = 0
    OBJECT = 1
    SCHEMA = 2


@dataclass(frozen=True)
class Fallback:
    """Optional parts of a request, which older servers may refuse. `count`: ask for token counts in a stream."""

    json: JsonMode = JsonMode.SCHEMA
    count: bool = True


class Capabilities:
    """What a server was found to support; shared by all calls of a model.

    A server may refuse a request because of a part that it does not know. The request is then sent again without the
    part that its message names, else without parts that never worked so far. What succeeds is used from then on.
    """

    def __init__(self) -> None:
        self.fallback = Fallback()
        self._json_works = False
        self._count_works = False

    def plainer(self, fallback: Fallback, draft: Draft, words: str) -> Fallback | None:
        """What to ask for after a refusal of `fallback`; None if no part is left to leave out."""
        json_asked = draft.schema is not None and fallback.json > JsonMode.NONE
        count_asked = draft.streams and fallback.count
        about_count = count_asked and _ABOUT_COUNT.search(words) is not None
        if (
            json_asked
            and not about_count
            and (not self._json_works or _ABOUT_JSON.search(words) is not None)
        ):
            return replace(fallback, json=JsonMode(fallback.json - 1))
        if count_asked and (about_count or not self._count_works):
            return replace(fallback, count=False)
        return None

    def worked(self, fallback: Fallback, draft: Draft) -> None:
        """A request with `fallback` was accepted."""
        if draft.schema is not None:
            if not self._json_works:
                self.fallback = replace(self.fallback, json=fallback.json)
            self._json_works = self._json_works or fallback.json > JsonMode.NONE
        if draft.streams:
            if not self._count_works:
                self.fallback = replace(self.fallback, count=fallback.count)
            self._count_works = self._count_works or fallback.count


@dataclass(frozen=True)
class Draft:
    """One call's request without its optional parts (`Fallback`)."""

    config: ModelConfig
    messages: Sequence[ChatMessage]
    tools: Sequence[ToolSpec]
    may_call: bool
    schema: JsonSchema | None
    streams: bool

    def encoded(self, fallback: Fallback) -> bytes:
        """The JSON to be sent, in UTF-8."""
        config = self.config
        body: dict[str, object] = {**config.extra, "model": config.model, "stream": self.streams}
        body["messages"] = self.messages
        if config.temperature is not None:
            body["temperature"] = config.temperature
        if config.max_tokens is not None:
            body["max_tokens"] = config.max_tokens
        if self.tools:
            body["tools"] = [tool(spec) for spec in self.tools]
            if not self.may_call:
                body["tool_choice"] = "none"
        if self.streams and fallback.count:
            body["stream_options"] = {"include_usage": True}
        if self.schema is not None and fallback.json:
            # What a person configured for all calls has precedence.
            body.setdefault("response_format", _response_format(self.schema, fallback.json))
        text = _ENCODE(body)
        try:
            return text.encode()
        except UnicodeEncodeError:
            return storable(text).encode()


def _response_format(schema: JsonSchema, mode: JsonMode) -> dict[str, object]:
    if mode is JsonMode.OBJECT:
        return {"type": "json_object"}
    name = _NO_NAME.sub("_", str(schema.get("title", "")))[:64] or "answer"
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": False}}


_MAX_BACKOFF = 30.0
_USUAL_ANSWER = 500
# aiohttp warns of larger bodies in one piece, which would hold up the loop.
_LARGE_BODY = 2**20


@dataclass(frozen=True)
class Call:
    """The result of a call: the reply, and whether the server streamed it and counted its tokens."""

    reply: ModelReply
    streamed: bool
    counted: bool


class ChatClient:
    """Calls one model. It stores no key: the key is only in the headers of each request.

    `sent` counts requests. `backoff`: seconds before the second attempt; they double from then on. `name`: the model's
    in the configuration. Clients of a hub share its `pool`; any other has its own, which `close` or the end of the
    event loop closes. Raises `ConfigError` at once if the key that the configuration names is missing.
    """

    def __init__(
        self,
        config: ModelConfig,
        *,
        backoff: float = 0.5,
        name: str = "",
        pool: Pool | None = None,
        limiter: RateLimiter | None = None,
    ) -> None:
        config.api_key()
        self.config = config
        self.limiter = limiter or RateLimiter(config.limits)
        self.backoff = backoff
        self._pool = pool or Pool()
        label = f"{name} ({config.model})" if name not in ("", config.model) else config.model
        self._breaker = Breaker(label, config.give_up_after)
        self._forecast = Forecast(min(config.max_tokens or _USUAL_ANSWER, _USUAL_ANSWER))
        self.capabilities = Capabilities()
        self.sent = 0
        self._url = f"{config.base_url}/chat/completions"
        self._fixed: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"ChatClient({self.config.model!r} at {self.config.base_url})"

    async def chat(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSpec] = (),
        on_text: Callable[[str], None] | None = None,
        *,
        may_call: bool = True,
        schema: JsonSchema | None = None,
    ) -> ModelReply:
        """One reply to `messages`; `on_text` receives its text piece by piece.

        Without `may_call` the model sees the tools but is told not to call them. `schema`: a JSON schema that the text
        should fulfil; servers without schemas ignore it. Busy servers, time-outs and lost connections are tried again
        within the call's total time; if that fails, and for other errors, raises `ModelCallError`, with
        `context_overflow` if the messages are too long. Raises `ModelPaused` if the model keeps failing for reasons
        unrelated to the request, or its server asks for a long pause, and any other `Halt` with which the hub was stopped.
        """
        call = await self.call(messages, tools, on_text, may_call=may_call, schema=schema)
        return call.reply

    async def call(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSpec] = (),
        on_text: Callable[[str], None] | None = None,
        *,
        may_call: bool = True,
        schema: JsonSchema | None = None,
    ) -> Call:
        """`chat`, with what the server did. Raises what `chat` raises."""
        mode = self.config.stream
        streams = mode == "always" or (mode == "auto" and on_text is not None)
        draft = Draft(self.config, messages, tools, may_call, schema, streams)
        shown = _Shown(on_text)
        fallback = self.capabilities.fallback
        body = draft.encoded(fallback)
        ticket = self.limiter.ticket()
        patience = Patience(self.config.timeout, self.config.total_timeout)
        attempts = retries = 0
        doubted: Failure | None = None
        while True:
            slot = await self.limiter.enter(ticket, self._forecast.tokens(len(body)))
            attempts += 1
            self.sent += 1
            try:
                outcome = await self._attempt(body, shown, patience, attempts)
                last = retries >= self.config.retries or patience.used_up
                self._learn(outcome, slot, len(body), last=last)
            finally:
                slot.leave()
            if isinstance(outcome, Call):
                self.capabilities.worked(fallback, draft)
                return outcome
            if outcome.refused:
                plainer = self.capabilities.plainer(fallback, draft, outcome.message)
                if plainer is not None:
                    doubted = doubted or outcome
                    fallback, body = plainer, draft.encoded(plainer)
                    continue
                # The optional parts were not the reason for the refusal.
                outcome = doubted or outcome
            if outcome.blame is Blame.REQUEST:
                raise outcome.error
            if outcome.blame is Blame.LASTING or last:
                # A halt leaves the trial open, while this failure would end it.
                self.limiter.check()
                raise outcome.error
            await self.limiter.sleep(self._wait(retries, outcome.wait))
            retries += 1

    async def close(self) -> None:
        """Close the connections of a client that has no hub. It opens new ones if it is used again."""
        await self._pool.close()

    def reset(self) -> None:
        """Forget all failures and halts."""
        self.limiter.reset()
        self._breaker.reset()

    def _learn(self, outcome: Call | Failure, slot: Slot, size: int, *, last: bool) -> None:
        """Tell the limiter and the breaker how the request went, before the next one. `last`: no further attempt follows."""
        if isinstance(outcome, Call):
            self.limiter.succeeded()
            self._breaker.succeeded()
            if outcome.counted:
                usage = outcome.reply.usage
                slot.used(usage.prompt + usage.completion)
                self._forecast.learn(size, usage)
            return
        if outcome.busy:
            # For longer waits the breaker pauses the model.
            self.limiter.busy(outcome.wait if (outcome.wait or 0) <= MAX_WAIT else None)
        if not outcome.billed:
            slot.used(0)
        paused = self._breaker.failed(outcome, last=last)
        if paused is not None:
            self.limiter.pause(paused)

    async def _attempt(
        self, body: bytes, shown: _Shown, patience: Patience, attempts: int
    ) -> Call | Failure:
        key = self.config.api_key()
        session = await self._pool.session()
        import aiohttp  # Only now: the pool loaded it beside the loop.

        fixed = self._fixed or self._prepare()
        headers: dict[str, str] = fixed["headers"]
        if key:
            headers = {**headers, "Authorization": f"Bearer {key}"}
        began = time.perf_counter()
        failure, streamed, assembler = None, False, Assembler()
        try:
            with patience.attempt() as attempt:
                assembler = Assembler(shown, attempt.heard)
                async with session.post(
                    self._url,
                    data=body if len(body) < _LARGE_BODY else io.BytesIO(body),
                    headers=headers,
                    timeout=fixed["timeout"],
                    # A redirect would carry the key to wherever it points.
                    allow_redirects=False,
                    proxy=fixed["proxy"],
                    proxy_headers=fixed["proxy_headers"],
                ) as response:
                    if response.status // 100 == 2:
                        streamed = await read_answer(response, assembler)
                    else:
                        said = await read_refusal(response, self.config.timeout)
                        failure = of_status(response.status, response.headers, said, self.config)
        except Overdue as overdue:
            # The reply is complete; only the end mark was missing.
            streamed = True
            if not assembler.complete:
                failure = of_exception(overdue, self.config)
        except (aiohttp.ClientError, ServerFailure, OSError, ValueError) as error:
            failure = of_exception(error, self.config)
        if failure is None:
            try:
                return Call(
                    assembler.reply(
                        model=self.config.model,
                        latency_ms=round((time.perf_counter() - began) * 1000),
                        attempts=attempts,
                        price=self.config.price,
                    ),
                    streamed,
                    counted=assembler.usage is not None,
                )
            except ValueError as error:
                failure = of_exception(error, self.config)
        shown.stop()
        return failure.without(key)

    def _prepare(self) -> dict[str, Any]:
        """What is the same in all requests; only now, because it needs aiohttp."""
        import aiohttp

        proxy = proxy_for(self._url)
        self._fixed = {
            "headers": {
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
            },
            "timeout": aiohttp.ClientTimeout(
                total=None, connect=CONNECT_SECONDS, sock_connect=CONNECT_SECONDS
            ),
            "proxy": proxy.url if proxy else None,
            "proxy_headers": proxy.headers if proxy else None,
        }
        return self._fixed

    def _wait(self, retries: int, wanted: float | None) -> float:
        # Random, so that calls that failed together are not repeated together.
        if wanted:
            return wanted * random.uniform(1.0, 1.1)
        return min(self.backoff * 2**retries, _MAX_BACKOFF) * random.uniform(0.75, 1.0)


class _Shown:
    """What a screen was shown of the reply. A further attempt begins again and is not shown, since the finished reply
    replaces the pieces anyway.
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
