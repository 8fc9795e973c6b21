"""A parallel world: a model plays a search engine over a task's facts (Mind-ParaWorld)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from cuecard.core.events import Event, ToolAnswered
from cuecard.core.i18n import N_
from cuecard.core.llm import wire
from cuecard.core.parts import (
    Hit,
    PlayerRef,
    SearchEntry,
    ToolAnswer,
    ToolCall,
    ToolSpec,
    WorldDesk,
)
from cuecard.core.prompts import Prompt
from cuecard.core.tasks import CheckpointChain, Task
from cuecard.core.text import normalise, storable
from cuecard.core.worlds.closed import SEARCH, ClosedWorld, as_text
from cuecard.core.worlds.noise import Noise, digest, page
from cuecard.core.worlds.parallel_desk import QueryDesk
from cuecard.core.worlds.parallel_leaks import Leaks
from cuecard.core.worlds.parallel_rules import Rules
from cuecard.core.worlds.parallel_shape import EngineEntry, EngineReply
from cuecard.core.worlds.parallel_sheet import FactSheet
from cuecard.core.worlds.refusals import search_refusal
from cuecard.core.worlds.secrets import Secrets

if TYPE_CHECKING:
    from cuecard.core.llm.client import ChatClient

# Recorded as it stands here, translated where a screen shows it.
FELL_BACK = N_("the model's entries broke the rules; the closed world answered instead")
_LONGEST_DATE = 40


class ParallelWorld:
    """Answers `search` with four entries that a model writes from the task's facts.

    The model gets the facts and the query, but neither the task's question nor its answer. It decides
    whether the query is compound (then it is no hit) and which one fact it asks for, if any. What it
    writes is checked: on a hit exactly one entry states that fact's value, and nothing else gives any
    value away. A reply that breaks a rule is complained about, up to `attempts` replies to a query;
    then the closed world answers, and the hit's reason says so.

    Tasks of other families are worlds of facts too: their gold as atomic statements. A facts task's
    statement of the final answer is not on the model's sheet.

    The same query, normalised, gets the same answer within a trial.
    """

    def __init__(
        self, *, name: str, task: Task, client: ChatClient, prompt: Prompt, attempts: int
    ) -> None:
        self._name = name
        self._task = task
        self._client = client
        self._prompt = prompt
        self._attempts = attempts
        self._secrets = Secrets(task)
        self._leaks = Leaks(task, self._secrets)
        self._flying: dict[str, asyncio.Future[ToolAnswer]] = {}

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(
            name=self._name,
            kind="parallel",
            model=self._client.config.model,
            version=self._prompt.hash[:8],
        )

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return (SEARCH,)

    @cached_property
    def _sheet(self) -> FactSheet:
        chain = isinstance(self._task.gold, CheckpointChain)
        told = [s for s in self._secrets.statements if chain or not s.secret]
        return FactSheet(told, self._task.language)

    @cached_property
    def _rules(self) -> Rules:
        return Rules(self._sheet, self._leaks, self._task.language)

    @cached_property
    def _noise(self) -> Noise:
        return Noise(self._task.language, self._secrets.guard, ())

    @cached_property
    def _system(self) -> str:
        return self._prompt.render(facts=self._sheet.text)

    async def answer(self, call: ToolCall, desk: WorldDesk) -> ToolAnswer:
        """Raises `ModelCallError` and `Halt`; whatever is wrong with the call is said in the answer."""
        refusal = search_refusal(call, self._task.language)
        if refusal:
            return ToolAnswer(text=refusal, ok=False)
        key = _key_of(call)
        while True:
            known = _answered(desk.log, key)
            if known is not None:
                return known
            flying = self._flying.get(key)
            if flying is None:
                return await self._lead(key, call, desk)
            await asyncio.wait({flying})
            # Without a result the one who led was cancelled, and somebody else has to.
            if not flying.cancelled():
                return flying.result()

    async def _lead(self, key: str, call: ToolCall, desk: WorldDesk) -> ToolAnswer:
        """Answer for all who make the same query at the same time."""
        future = asyncio.get_running_loop().create_future()
        self._flying[key] = future
        try:
            answer = await self._ask(call, QueryDesk(desk, f"query-{digest(key):024x}"))
            future.set_result(answer)
        except Exception as error:
            future.set_exception(error)
            future.exception()  # Perhaps nobody waits for it.
            raise
        finally:
            # An answer may be wanted again before it is in the log; a failure is tried again.
            if future.cancel() or future.exception():
                del self._flying[key]
        return answer

    async def _ask(self, call: ToolCall, desk: QueryDesk) -> ToolAnswer:
        from cuecard.core.llm.structured import ask_structured

        query = str(call.arguments["query"]).strip()
        asked = json.dumps({"query": query}, ensure_ascii=False)
        structured = await ask_structured(
            self._client,
            [wire.system(self._system), wire.user(asked)],
            EngineReply,
            desk,
            prompt=self._prompt,
            language=self._task.language,
            attempts=self._attempts,
            check=lambda reply: self._rules.complaint(query, reply),
        )
        if structured.value is None:
            return await self._fall_back(call)
        return self._told(query, structured.value)

    async def _fall_back(self, call: ToolCall) -> ToolAnswer:
        answer = await ClosedWorld(self._task).answer(call)
        hit = answer.hit and answer.hit.model_copy(update={"reason": FELL_BACK})
        return answer.model_copy(update={"hit": hit})

    def _told(self, query: str, reply: EngineReply) -> ToolAnswer:
        """A reply that keeps the rules, as the agent sees it. The place of the entry that states the
        fact follows from the query: models put it first.
        """
        entries = [self._entry(entry) for entry in reply.entries]
        stating = self._rules.stating(reply)
        if stating is not None:
            stated = entries.pop(stating)
            entries.insert(digest(normalise(query)) % (len(entries) + 1), stated)
        matched = self._rules.matched(reply)
        hit = Hit(
            is_compound=reply.is_compound_query,
            hit=matched is not None,
            matched_fact_keys=(matched.key,) if matched else (),
            reason=storable(reply.reason).strip(),
        )
        told = tuple(entries)
        return ToolAnswer(text=as_text(told), entries=told, hit=hit)

    def _entry(self, entry: EngineEntry) -> SearchEntry:
        date = entry.date
        if len(date) > _LONGEST_DATE or self._leaks.found_in(date):
            date = self._noise.date(entry.title + entry.content)
        return page(entry.title, entry.content, date)


def _key_of(call: ToolCall) -> str:
    return normalise(str(call.arguments.get("query", "")))


def _answered(log: Sequence[Event], key: str) -> ToolAnswer | None:
    """What this query was answered before."""
    for event in log:
        body = event.body
        if (
            isinstance(body, ToolAnswered)
            and body.call.name == SEARCH.name
            and body.answer.ok
            and _key_of(body.call) == key
        ):
            return body.answer
    return None
