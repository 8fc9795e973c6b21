"""An agent behind a web address: it is POSTed the conversation and answers. See docs/agents.md for the protocol."""

from __future__ import annotations

import asyncio
import importlib
import json
import random
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from cuecard.core.agents.briefing import ANSWER, ASK, Note, ending, say
from cuecard.core.config import Prompt
from cuecard.core.config_players import HttpAgentConfig
from cuecard.core.engine.events import TrialStarted
from cuecard.core.engine.messages import (
    AgentReply,
    Dialogue,
    EmptyReply,
    ModelReply,
    PlayerRef,
    ToolCall,
    Usage,
    token_count,
)
from cuecard.core.engine.step_context import StepContext
from cuecard.core.errors import ModelCallError
from cuecard.core.families.common import parse_prediction
from cuecard.core.families.registry import CORE
from cuecard.core.i18n import _
from cuecard.core.llm.failures import (
    CONNECT_SECONDS,
    MAX_WAIT,
    AgentBreaker,
    Blame,
    CallTimeout,
    Failure,
    Overdue,
    retry_after,
)
from cuecard.core.predictions import Prediction, UnusablePrediction
from cuecard.core.secrets import guard, scrub, scrub_model
from cuecard.core.tasks.models import Family, TaskLanguage
from cuecard.core.text import one_line, storable
from cuecard.core.validation import TooLarge, check_values, read_body, read_refusal

if TYPE_CHECKING:
    from aiohttp import ClientSession


_STRUCTURED = "prediction"


class Want(StrEnum):
    REPLY = "reply"
    PREDICTION = "prediction"


class _Answer(BaseModel):
    """Unknown fields are the agent's own business."""

    model_config = ConfigDict(extra="ignore")

    reply: str | None = None
    act: Literal["reply", "ask", "answer"] = "reply"
    text: str | None = None
    prediction: JsonValue = None
    usage: dict[str, JsonValue] | None = None


def read_answer(want: Want, body: str) -> ModelReply:
    """The answer in a response body. Raises `ModelCallError` if it is not what was asked for."""
    try:
        found = _Answer.model_validate_json(storable(body))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        reason = f"{place}: {first['msg']}" if place else first["msg"]
        raise ModelCallError(
            _("The agent's address answered with something else"), one_line(reason, 300)
        ) from error
    given = found.usage or {}
    usage = Usage(**{name: token_count(given.get(name)) for name in Usage.model_fields})
    if want is Want.PREDICTION and found.prediction is not None:
        text = json.dumps(found.prediction, ensure_ascii=False)
        return ModelReply(text=text, finish_reason=_STRUCTURED, usage=usage)
    text = found.reply if want is Want.REPLY else found.text
    if text is None:
        missing = "reply" if want is Want.REPLY else "text, prediction"
        raise ModelCallError(
            _("The agent's address answered with something else"),
            _("missing: {fields}").format(fields=missing),
        )
    calls: tuple[ToolCall, ...] = ()
    if want is Want.REPLY and found.act == "ask":
        calls = (ToolCall(name=ASK.name, arguments={"question": text}),)
    elif want is Want.REPLY and found.act == "answer":
        calls = (ToolCall(name=ANSWER.name, arguments={"answer": text}),)
    return ModelReply(text=text, tool_calls=calls, usage=usage)


def prediction_of(family: Family, said: ModelReply) -> Prediction:
    """The prediction in a recorded answer: its `prediction`, or what is parsed from its text."""
    if said.finish_reason != _STRUCTURED:
        return parse_prediction(family, said.text)
    try:
        return CORE[family].read_json(said.text)
    except ValidationError:
        return parse_prediction(family, said.text)


_FIRST_PAUSE_S: Final = 0.5
_TRY_AGAIN: Final = 429
_FAILED: Final = 500
_OK: Final = 200
# HTTP statuses of an address that has no agent, for other trials either.
_NO_AGENT: Final = frozenset((401, 402, 403, 404, 405, 410))
_SPACE: Final = uuid.UUID("9a0f5d0e-6c0b-4a55-9a5c-5a1f7d1d7c11")


@dataclass(eq=False)
class HttpAgent:
    """An agent behind a web address. Each answered POST is recorded as a model call and never sent again.

    `role`: what the agent is told of its part. `headers` hold secrets. `breaker`: shared by all trials of
    the run.
    """

    name: str
    config: HttpAgentConfig
    breaker: AgentBreaker
    headers: Mapping[str, str]
    role: str
    role_prompt: Prompt
    conclusion: Prompt
    family: Family
    language: TaskLanguage
    _session: ClientSession | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        for name, value in self.headers.items():
            guard(self.config.headers.get(name, name), value)

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(
            name=self.name,
            kind="http",
            model=self.config.model,
            version=f"{self.role_prompt.hash[:8]}-{self.conclusion.hash[:8]}",
        )

    async def reply(self, dialogue: Dialogue, context: StepContext) -> AgentReply:
        """One turn. Raises `ModelCallError`, `AgentPaused` and `EmptyReply`."""
        said = await self._ask(Want.REPLY, self.role, self.role_prompt, dialogue, context)
        for call in said.tool_calls:
            if found := ending(call):
                return AgentReply(text=found[1], act=found[0])
        if not said.text.strip():
            raise EmptyReply(_("The agent replied with nothing"))
        return AgentReply(text=said.text.strip())

    async def conclude(self, dialogue: Dialogue, context: StepContext) -> Prediction:
        """The agent's prediction; if that cannot be parsed, it is asked once more.

        Raises `ModelCallError` and `AgentPaused`.
        """
        told = self.conclusion.render()
        said = await self._ask(Want.PREDICTION, told, self.conclusion, dialogue, context)
        prediction = prediction_of(self.family, said)
        if isinstance(prediction, UnusablePrediction):
            told = f"{told}\n\n{say(self.language, Note.UNREADABLE)}"
            said = await self._ask(Want.PREDICTION, told, self.conclusion, dialogue, context)
            prediction = prediction_of(self.family, said)
        return prediction

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _ask(
        self, want: Want, told: str, prompt: Prompt, dialogue: Dialogue, context: StepContext
    ) -> ModelReply:
        body: dict[str, JsonValue] = {
            "version": 1,
            "session": _session_of(context, self.name),
            "turn": dialogue.turn,
            "want": want.value,
            "family": self.family,
            "language": self.language,
            "instructions": told,
            "conversation": [
                {"role": "user" if m.role == "user" else "assistant", "content": m.text}
                for m in dialogue.messages
            ],
        }
        model = self.config.model or self.name

        async def perform() -> ModelReply:
            began = time.monotonic()
            try:
                attempts, found = await self._post(body)
                answered = scrub_model(read_answer(want, scrub(found)))
            except ModelCallError as error:
                failure = Failure(error.title, error.message, error.hint)
                failure = error.failure if isinstance(error, _Unanswered) else failure
                if halt := self.breaker.failed(failure, last=True):
                    raise halt from None
                raise
            self.breaker.succeeded()
            took = round((time.monotonic() - began) * 1000)
            return answered.model_copy(
                update={"model": model, "attempts": attempts, "latency_ms": took}
            )

        return await context.call_model(model, perform, prompt=prompt.hash)

    async def _post(self, body: dict[str, JsonValue]) -> tuple[int, str]:
        """The number of attempts and the body of the answer. A request is repeated only if the agent cannot have worked
        on it, or says so: no connection, 429, 5xx.
        """
        data = json.dumps(body, ensure_ascii=True)
        patience = CallTimeout(self.config.timeout, self.config.timeout)
        attempt = 0
        while True:
            attempt += 1
            outcome = await self._attempt(data, patience)
            if isinstance(outcome, str):
                return attempt, outcome
            wait = outcome.failure.wait
            last = not outcome.again or patience.used_up or attempt > self.config.retries
            if last or (wait is not None and wait > MAX_WAIT):
                raise _Unanswered(outcome.failure)
            backoff = _FIRST_PAUSE_S * 2 ** (attempt - 1) * random.uniform(0.8, 1.2)
            await asyncio.sleep(min(wait or backoff, MAX_WAIT))

    async def _attempt(self, data: str, patience: CallTimeout) -> str | _Failed:
        import aiohttp

        session = await self._opened()
        again, wait, blame = False, None, Blame.PASSING
        try:
            # A redirect would carry the headers to wherever it points.
            with patience.attempt():
                async with session.post(
                    self.config.url, data=data, allow_redirects=False
                ) as response:
                    status = response.status
                    if status == _OK:
                        found = await read_body(response)
                        check_values(found)
                        return found.decode("utf-8", "replace")
                    said = (await read_refusal(response, self.config.timeout)).decode(
                        "utf-8", "replace"
                    )
                    problem = f"HTTP {status}: {self._safe(said)}"
                    again = status == _TRY_AGAIN or status >= _FAILED
                    wait = retry_after(response.headers) if again else None
                    blame = Blame.LASTING if status in _NO_AGENT or status // 100 == 3 else blame
        except aiohttp.ClientConnectorError as error:
            problem, again = self._safe(str(error)), True
            # No agent ever answered here, so other trials would fail too.
            blame = blame if self.breaker.worked else Blame.LASTING
        except Overdue:
            problem = _("no answer within {n} seconds").format(n=f"{self.config.timeout:g}")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            problem = self._safe(f"{type(error).__name__}: {error}")
            blame = Blame.REQUEST if isinstance(error, TooLarge) else blame
        title = _("The agent's address did not give an answer")
        return _Failed(Failure(title, problem, blame=blame, wait=wait), again)

    async def _opened(self) -> ClientSession:
        await asyncio.to_thread(importlib.import_module, "aiohttp")
        if self._session is None:
            import aiohttp

            here = urlsplit(self.config.url).hostname in ("127.0.0.1", "localhost", "::1")
            self._session = aiohttp.ClientSession(
                headers={**self.headers, "content-type": "application/json"},
                timeout=aiohttp.ClientTimeout(
                    total=None, connect=CONNECT_SECONDS, sock_connect=CONNECT_SECONDS
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=not here,
            )
        return self._session

    def _safe(self, text: str) -> str:
        return one_line(scrub(storable(text)), 300)


@dataclass(frozen=True)
class _Failed:
    """One POST that failed; `again`: the agent did not work on it."""

    failure: Failure
    again: bool


class _Unanswered(ModelCallError):
    """All attempts failed."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.title, failure.message, failure.hint)
        self.failure = failure


def _session_of(context: StepContext, name: str) -> str:
    """An id of the conversation for the agent: the same after a resume, another after the trial started over or words
    were taken back.
    """
    for event in context.log:
        if isinstance(started := event.body, TrialStarted):
            where = f"{name}/{started.task_id}/{started.revision_hash}/{started.sample}"
            back = f"/{context.rewound}" if context.rewound else ""
            return uuid.uuid5(_SPACE, f"{where}/{event.at.isoformat()}{back}").hex
    return uuid.uuid5(_SPACE, name).hex
