"""An agent behind a web address: it is POSTed the conversation and answers. See docs/agents.md."""

from __future__ import annotations

import asyncio
import importlib
import json
import random
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from pydantic import JsonValue

from cuecard.core.agents.acp_pipe import redact
from cuecard.core.agents.http_answer import Want, prediction_of, read_answer
from cuecard.core.agents.notes import Note, say
from cuecard.core.agents.tools import ending
from cuecard.core.config_agents import HttpAgentConfig
from cuecard.core.errors import ModelCallError
from cuecard.core.events import TrialStarted
from cuecard.core.i18n import _
from cuecard.core.parts import AgentReply, Desk, Dialogue, EmptyReply, ModelReply, PlayerRef
from cuecard.core.prediction import Prediction, UnusablePrediction
from cuecard.core.prompts import Prompt
from cuecard.core.tasks import Family, TaskLanguage
from cuecard.core.text import one_line

if TYPE_CHECKING:
    from aiohttp import ClientSession

_FIRST_PAUSE_S: Final = 0.5
_LONGEST_PAUSE_S: Final = 60.0
_TRY_AGAIN: Final = 429
_FAILED: Final = 500
_OK: Final = 200
_SPACE: Final = uuid.UUID("9a0f5d0e-6c0b-4a55-9a5c-5a1f7d1d7c11")


@dataclass(eq=False)
class HttpAgent:
    """Plays an agent's part by POSTing. Each answered POST is a model call of the log: it is never
    sent again.

    `role`: what the agent is told of its part. `headers` hold secrets.
    """

    name: str
    config: HttpAgentConfig
    headers: Mapping[str, str]
    role: str
    role_prompt: Prompt
    conclusion: Prompt
    family: Family
    language: TaskLanguage
    _session: ClientSession | None = field(default=None, init=False)

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(
            name=self.name,
            kind="http",
            model=self.config.model,
            version=f"{self.role_prompt.hash[:8]}-{self.conclusion.hash[:8]}",
        )

    async def reply(self, dialogue: Dialogue, desk: Desk) -> AgentReply:
        """One turn. Raises `ModelCallError` and `EmptyReply`."""
        said = await self._ask(Want.REPLY, self.role, self.role_prompt, dialogue, desk)
        for call in said.tool_calls:
            if found := ending(call):
                return AgentReply(text=found[1], act=found[0])
        if not said.text.strip():
            raise EmptyReply(_("The agent replied with nothing"))
        return AgentReply(text=said.text.strip())

    async def conclude(self, dialogue: Dialogue, desk: Desk) -> Prediction:
        """What the agent hands in; where that cannot be read, it is asked once more.

        Raises `ModelCallError`.
        """
        told = self.conclusion.render()
        said = await self._ask(Want.PREDICTION, told, self.conclusion, dialogue, desk)
        prediction = prediction_of(self.family, said)
        if isinstance(prediction, UnusablePrediction):
            told = f"{told}\n\n{say(self.language, Note.UNREADABLE)}"
            said = await self._ask(Want.PREDICTION, told, self.conclusion, dialogue, desk)
            prediction = prediction_of(self.family, said)
        return prediction

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _ask(
        self, want: Want, told: str, prompt: Prompt, dialogue: Dialogue, desk: Desk
    ) -> ModelReply:
        body: dict[str, JsonValue] = {
            "version": 1,
            "session": _session_of(desk, self.name),
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
            attempts, found = await self._post(body)
            answered = read_answer(want, found)
            took = round((time.monotonic() - began) * 1000)
            return answered.model_copy(
                update={"model": model, "attempts": attempts, "latency_ms": took}
            )

        return await desk.call_model(model, perform, prompt=prompt.hash)

    async def _post(self, body: dict[str, JsonValue]) -> tuple[int, str]:
        """The number of attempts and the body of the answer. Tried again only where the agent cannot
        have worked on it, or says that it did not: no connection, 429, 5xx.
        """
        import aiohttp

        session = await self._opened()
        data = json.dumps(body, ensure_ascii=True)
        problem = ""
        for attempt in range(1, self.config.retries + 2):
            pause = _FIRST_PAUSE_S * 2 ** (attempt - 1) * random.uniform(0.8, 1.2)
            try:
                async with session.post(self.config.url, data=data) as response:
                    text = await response.text(errors="replace")
                    if response.status == _OK:
                        return attempt, text
                    problem = f"HTTP {response.status}: {self._safe(text)}"
                    again = response.status == _TRY_AGAIN or response.status >= _FAILED
                    pause = _retry_after(response.headers.get("retry-after", "")) or pause
            except aiohttp.ClientConnectorError as error:
                problem, again = self._safe(str(error)), True
            except TimeoutError:
                problem, again = (
                    _("no answer within {n} seconds").format(n=f"{self.config.timeout:g}"),
                    False,
                )
            except (aiohttp.ClientError, ValueError) as error:
                problem, again = self._safe(f"{type(error).__name__}: {error}"), False
            if not again:
                break
            if attempt <= self.config.retries:
                await asyncio.sleep(min(pause, _LONGEST_PAUSE_S))
        raise ModelCallError(_("The agent's address did not give an answer"), problem)

    async def _opened(self) -> ClientSession:
        if self._session is None:
            await asyncio.to_thread(importlib.import_module, "aiohttp")
            import aiohttp

            here = urlsplit(self.config.url).hostname in ("127.0.0.1", "localhost", "::1")
            self._session = aiohttp.ClientSession(
                headers={**self.headers, "content-type": "application/json"},
                timeout=aiohttp.ClientTimeout(total=self.config.timeout),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=not here,
            )
        return self._session

    def _safe(self, text: str) -> str:
        return one_line(redact(text, self.headers), 300)


def _retry_after(value: str) -> float | None:
    try:
        return max(float(value), 0.001)
    except ValueError:
        return None


def _session_of(desk: Desk, name: str) -> str:
    """A name for this course of this trial: the same after a resume, another after a fresh start and
    after words were taken back.
    """
    for event in desk.log:
        if isinstance(started := event.body, TrialStarted):
            where = f"{name}/{started.task_id}/{started.revision_hash}/{started.sample}"
            back = f"/{desk.rewound}" if desk.rewound else ""
            return uuid.uuid5(_SPACE, f"{where}/{event.at.isoformat()}{back}").hex
    return uuid.uuid5(_SPACE, name).hex
