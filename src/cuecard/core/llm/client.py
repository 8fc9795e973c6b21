"""The client for models behind OpenAI-compatible endpoints: attempts, waiting, and what is learned from them."""

from __future__ import annotations

import asyncio
import gc
import importlib
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.core.config_models import ModelConfig
from cuecard.core.engine.messages import ModelReply, ToolSpec
from cuecard.core.llm.failures import (
    MAX_WAIT,
    Blame,
    Breaker,
    CallTimeout,
    Failure,
    Overdue,
    of_exception,
    of_status,
)
from cuecard.core.llm.limiter import Forecast, RateLimiter, Slot
from cuecard.core.llm.pool import Pool
from cuecard.core.llm.replies import Assembler, as_dict, as_dicts, as_string
from cuecard.core.llm.requests import Capabilities, Draft, JsonSchema
from cuecard.core.llm.responses_api import ResponseAssembler
from cuecard.core.llm.streams import read_answer
from cuecard.core.llm.wire import ChatMessage, ServerFailure
from cuecard.core.secrets import scrub
from cuecard.core.text import one_line, storable
from cuecard.core.validation import read_body, read_json

if TYPE_CHECKING:
    from cuecard.core.llm.connection import Connection

_MAX_BACKOFF = 30.0
_USUAL_ANSWER = 500
_MOST_SERVED = 5_000


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
        self._forecast = Forecast(min(config.most_tokens or _USUAL_ANSWER, _USUAL_ANSWER))
        self.capabilities = Capabilities()
        self.sent = 0
        self._connection: Connection | None = None
        self._connecting = asyncio.Lock()

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
        patience = CallTimeout(self.config.timeout, self.config.total_timeout)
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

    async def served(self) -> tuple[str, ...]:
        """The names of the models that the server says it has, sorted, some thousands at most. Raises `ModelCallError`, and `ConfigError` for a
        key that is missing.
        """
        connection = self._connection or await self._connect()
        key = await connection.key()
        try:
            with CallTimeout(self.config.timeout, self.config.timeout).attempt():
                async with connection.ask(None, key) as answer:
                    if answer.body is None:
                        failure = of_status(answer.status, answer.headers, answer.said, self.config)
                        raise failure.without(key, answer.request_id).error
                    found = read_json(await read_body(answer.body))
        except (*connection.errors, OSError, ValueError) as error:
            raise of_exception(error, self.config).without(key).error from error
        # Some give the bare list.
        rows = as_dicts(found) or as_dicts(as_dict(found).get("data"))
        names = (storable(as_string(each.get("id"))) for each in rows[:_MOST_SERVED])
        return tuple(sorted({one_line(scrub(name), 200) for name in names if name}))

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
        self, body: bytes, shown: _Shown, patience: CallTimeout, attempts: int
    ) -> Call | Failure:
        connection = self._connection or await self._connect()
        key = await connection.key()
        began = time.perf_counter()
        failure, streamed, request_id = None, False, ""
        assembling = ResponseAssembler if self.config.api == "responses" else Assembler
        assembler = assembling()
        try:
            with patience.attempt() as attempt:
                assembler = assembling(shown, attempt.heard)
                async with connection.ask(body, key) as answer:
                    request_id = answer.request_id
                    if answer.body is None:
                        failure = of_status(answer.status, answer.headers, answer.said, self.config)
                    else:
                        streamed = await read_answer(answer.body, assembler)
        except Overdue as overdue:
            # The reply is complete; only the end mark was missing.
            streamed = True
            if not assembler.complete:
                failure = of_exception(overdue, self.config)
        except (*connection.errors, ServerFailure, OSError, ValueError) as error:
            failure = of_exception(error, self.config)
        if failure is None:
            try:
                return Call(
                    assembler.reply(
                        model=self.config.model,
                        latency_ms=round((time.perf_counter() - began) * 1000),
                        attempts=attempts,
                        price=self.config.price,
                        request_id=request_id,
                    ),
                    streamed,
                    counted=assembler.usage is not None,
                )
            except ValueError as error:
                failure = of_exception(error, self.config)
        shown.stop()
        return failure.without(key, request_id)

    async def _connect(self) -> Connection:
        # In a thread: importing `openai` and reading certificates would hold up the loop. One after the other, so that
        # calls keep their order.
        async with self._connecting:
            if self._connection is None:
                self._connection = await asyncio.to_thread(_connection, self.config, self._pool)
        return self._connection

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


def _connection(config: ModelConfig, pool: Pool) -> Connection:
    known = _CONNECTION in sys.modules
    module = importlib.import_module(_CONNECTION)
    if not known:
        # What was loaded stays. Searching it for garbage would stop all threads, a screen's too, for a tenth of a second.
        gc.freeze()
    return module.Connection(config, pool)


_CONNECTION = "cuecard.core.llm.connection"
