"""The parallel world: a model plays a search engine over a task's facts, and rules check its replies (Mind-ParaWorld)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from cuecard.core.config import Prompt, find_prompt
from cuecard.core.config_players import ParallelWorldConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.events import Event, ModelReplied, ToolAnswered
from cuecard.core.engine.messages import (
    Hit,
    ModelReply,
    PlayerRef,
    SearchEntry,
    ToolAnswer,
    ToolCall,
    ToolSpec,
)
from cuecard.core.engine.step_context import WorldContext
from cuecard.core.families.registry import chain_of
from cuecard.core.i18n import N_
from cuecard.core.llm import wire
from cuecard.core.llm.hub import ModelHub
from cuecard.core.tasks.models import Task, TaskLanguage
from cuecard.core.text import contains_term, normalise, one_line, storable
from cuecard.core.worlds.background import Noise, Secrets, digest, page
from cuecard.core.worlds.closed import SEARCH, ClosedWorld, as_text, search_refusal
from cuecard.core.worlds.parallel_facts import LABEL, AllowedText, FactSheet, Leaks, holds
from cuecard.core.worlds.statements import Statement

if TYPE_CHECKING:
    from cuecard.core.llm.client import ChatClient


class QueryContext:
    """A `CallContext` for the model calls that answer one query.

    When the same query is made twice concurrently, timing decides which of the two tool calls makes the model calls.
    In a trial that was killed meanwhile and is resumed it may be the other one, so recorded replies are looked up under
    every tool call before the model is called.
    """

    def __init__(self, context: WorldContext, place: str) -> None:
        self._context = context
        self._place = place
        self._calls = 0

    async def call_model(
        self, model: str, perform: Callable[[], Awaitable[ModelReply]], *, prompt: str = ""
    ) -> ModelReply:
        place = f"{self._place}/{self._calls}"
        self._calls += 1
        for event in self._context.log:
            body = event.body
            if isinstance(body, ModelReplied) and f"/{body.scope}".endswith(f"/{place}/"):
                return body.reply
        return await self._context.scope(place).call_model(model, perform, prompt=prompt)

    def scope(self, name: str) -> QueryContext:
        return QueryContext(self._context, f"{self._place}/{name}")


class EngineEntry(BaseModel):
    """One page of the result list, as it may be shown. `date`: when the page was published."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True, defer_build=True)

    title: str
    content: str
    date: str = ""

    @field_validator("date", mode="before")
    @classmethod
    def _no_date(cls, value: object) -> object:
        return "" if value is None else value

    # Cleaned before the rules are checked, so that removing a character cannot join what was apart.
    @field_validator("title", "date")
    @classmethod
    def _line(cls, value: str) -> str:
        return one_line(storable(value))

    @field_validator("content")
    @classmethod
    def _text(cls, value: str) -> str:
        return storable(value).strip()


class EngineReply(BaseModel):
    """FORMATS, paraworld: search result. `reason` comes first: it is thought out before the rest."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True, defer_build=True)

    reason: str
    is_compound_query: bool
    hit: Annotated[int, Field(ge=0, le=1)]
    matched_fact_keys: tuple[str, ...] = ()
    entries: tuple[EngineEntry, ...]


ENTRIES = 4
MAX_TITLE, MAX_CONTENT = 300, 3000
_SAID: dict[TaskLanguage, dict[str, str]] = {
    "en": {
        "count": "`entries` must have exactly {wanted} entries, not {n}.",
        "blank": "Entry {n} has no title or no content.",
        "long": "Entry {n} is too long: at most {title} characters of title, {content} of content.",
        "compound": "A compound query is never a hit: `hit` must be 0.",
        "several": "`matched_fact_keys` may have one label at most. A query that needs several facts"
        " is compound.",
        "missing": "`hit` is 1, so `matched_fact_keys` must have the label of the fact.",
        "idle": "`hit` is 0, so `matched_fact_keys` must be empty.",
        "unknown": "There is no fact with the label {label}.",
        "unnamed": "{label} may be stated only to a query that names {names}. This one does not: it"
        " is no hit.",
        "unsaid": "No entry states the value of {label}. Exactly one must, word for word: {value}",
        "leak": "Entry {n} contains “{value}”, which it must not. Apart from the one entry that states"
        " the matched fact, no entry may hold a value of any fact; leave out figures.",
        "label": "Entry {n} contains a label of the fact sheet. Labels are never shown.",
    },
    "zh": {
        "count": "`entries` 必须恰好有 {wanted} 条，而不是 {n} 条。",
        "blank": "第 {n} 条没有标题或没有内容。",
        "long": "第 {n} 条太长：标题最多 {title} 个字符，内容最多 {content} 个字符。",
        "compound": "复合查询不算命中，`hit` 必须为 0。",
        "several": "`matched_fact_keys` 最多只能有一个标签。需要多条事实的查询是复合查询。",
        "missing": "`hit` 为 1 时，`matched_fact_keys` 必须写出该事实的标签。",
        "idle": "`hit` 为 0 时，`matched_fact_keys` 必须为空。",
        "unknown": "没有标签为 {label} 的事实。",
        "unnamed": "只有查询点名 {names} 时才能说出 {label}。这次的查询没有点名，不算命中。",
        "unsaid": "没有一条写出 {label} 的值。必须恰好有一条照原文写出：{value}",
        "leak": "第 {n} 条含有“{value}”，这是不允许的。除了写出命中事实的那一条，任何一条都不能含有"
        "任何事实的值；不要写数字。",
        "label": "第 {n} 条含有事实表的标签。标签绝不能出现。",
    },
}


class Rules:
    """Checks the model's replies to queries of one world, deterministically."""

    def __init__(self, sheet: FactSheet, leaks: Leaks, language: TaskLanguage) -> None:
        self._sheet = sheet
        self._leaks = leaks
        self._said = _SAID[language]

    def complaint(self, query: str, reply: EngineReply) -> str:
        """Everything that is wrong with a reply, as sentences for the model; empty if nothing is."""
        return "\n".join(dict.fromkeys((*self._flags(query, reply), *self._entries(query, reply))))

    def matched(self, reply: EngineReply) -> Statement | None:
        """The one statement that a reply claims to have matched; None if there is not exactly one."""
        labels = _labels(reply)
        return self._sheet.find(labels[0]) if reply.hit and len(labels) == 1 else None

    def stating(self, reply: EngineReply) -> int | None:
        """The index of the entry that states the matched statement's value."""
        matched = self.matched(reply)
        if matched is None:
            return None
        places = (n for n, entry in enumerate(reply.entries) if holds(_text(entry), matched))
        return next(places, None)

    def _flags(self, query: str, reply: EngineReply) -> Iterator[str]:
        labels = _labels(reply)
        if len(labels) > 1:
            yield self._said["several"]
        for label in labels:
            if self._sheet.find(label) is None:
                yield self._said["unknown"].format(label=one_line(label, 80))
        if reply.is_compound_query and reply.hit:
            yield self._said["compound"]
        if reply.hit and not labels:
            yield self._said["missing"]
        if not reply.hit and labels:
            yield self._said["idle"]
        matched = self.matched(reply)
        if matched and matched.step and matched.step.anchors:
            anchors = matched.step.anchors
            if not any(contains_term(query, name) for names in anchors for name in names):
                wanted = " / ".join(one_line(name, 80) for name, *_aliases in anchors)
                yield self._said["unnamed"].format(label=_labels(reply)[0], names=wanted)

    def _entries(self, query: str, reply: EngineReply) -> Iterator[str]:
        if len(reply.entries) != ENTRIES:
            yield self._said["count"].format(wanted=ENTRIES, n=len(reply.entries))
        matched, stating = self.matched(reply), self.stating(reply)
        if matched and stating is None:
            value = one_line(matched.value, 400)
            yield self._said["unsaid"].format(label=_labels(reply)[0], value=value)
        excuse = self._leaks.excused(query)
        for place, entry in enumerate(reply.entries):
            told = excuse
            if matched and place == stating:
                told = self._leaks.stating(excuse, matched)
            yield from self._entry(place + 1, entry, told)

    def _entry(self, n: int, entry: EngineEntry, excuse: AllowedText) -> Iterator[str]:
        if not entry.title.strip() or not entry.content.strip():
            yield self._said["blank"].format(n=n)
        if len(entry.title) > MAX_TITLE or len(entry.content) > MAX_CONTENT:
            yield self._said["long"].format(n=n, title=MAX_TITLE, content=MAX_CONTENT)
            return
        if LABEL.search(_text(entry)):
            yield self._said["label"].format(n=n)
        if value := self._leaks.found_in(_text(entry), excuse):
            yield self._said["leak"].format(n=n, value=one_line(value, 200))


def _labels(reply: EngineReply) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label.strip() for label in reply.matched_fact_keys))


def _text(entry: EngineEntry) -> str:
    return f"{entry.title}\n{entry.content}"


# Recorded as it stands here, translated where a screen shows it.
FELL_BACK = N_("the model's entries broke the rules; the closed world answered instead")
_LONGEST_DATE = 40


class ParallelWorld:
    """Answers `search` with four entries that a model writes from the task's facts.

    The model is given the facts and the query, but neither the task's question nor its answer. It decides whether the
    query is compound (then it is no hit) and which one fact it asks for, if any. Its entries are checked: on a hit
    exactly one of them states that fact's value, and nothing else gives any value away. A reply that breaks a rule is
    sent back with the complaint, up to `attempts` replies; then the closed world answers, and the hit's reason says so.

    For other families the facts are the gold's atomic statements. The statement of a facts task's final answer is not
    shown to the model.

    The same query, normalised, gets the same answer within a trial.
    """

    def __init__(
        self, name: str, task: Task, client: ChatClient, prompt: Prompt, attempts: int
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
        told = [s for s in self._secrets.statements if not s.secret or chain_of(self._task)]
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

    async def answer(self, call: ToolCall, context: WorldContext) -> ToolAnswer:
        """Answer a call of `search`; an unusable call gets an answer that says why. Raises `ModelCallError`, `Halt`."""
        refusal = search_refusal(call, self._task.language)
        if refusal:
            return ToolAnswer(text=refusal, ok=False)
        key = _key_of(call)
        while True:
            known = _answered(context.log, key)
            if known is not None:
                return known
            flying = self._flying.get(key)
            if flying is None:
                return await self._lead(key, call, context)
            await asyncio.wait({flying})
            # No result: the call that was to answer for all was cancelled, so another one has to.
            if not flying.cancelled():
                return flying.result()

    async def _lead(self, key: str, call: ToolCall, context: WorldContext) -> ToolAnswer:
        """Answer a query for all concurrent calls that make it."""
        future = asyncio.get_running_loop().create_future()
        self._flying[key] = future
        try:
            answer = await self._ask(call, QueryContext(context, f"query-{digest(key):024x}"))
            future.set_result(answer)
        except Exception as error:
            future.set_exception(error)
            future.exception()  # Retrieved, since perhaps no other call waits for it.
            raise
        finally:
            # An answer may be needed again before it is in the log; a failed query is tried again.
            if future.cancel() or future.exception():
                del self._flying[key]
        return answer

    async def _ask(self, call: ToolCall, context: QueryContext) -> ToolAnswer:
        from cuecard.core.llm.structured import ask_structured

        query = str(call.arguments["query"]).strip()
        asked = json.dumps({"query": query}, ensure_ascii=False)
        structured = await ask_structured(
            self._client,
            [wire.system(self._system), wire.user(asked)],
            EngineReply,
            context,
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
        """A reply that passed the rules, as the agent sees it. The entry that states the fact is moved to a place that
        is a hash of the query, since models put it first.
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
    """The earlier answer to this query in the log, or None."""
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


def make_world(
    name: str,
    parallel: ParallelWorldConfig,
    config: Config,
    hub: ModelHub,
    task: Task,
    *_rest: object,
) -> ParallelWorld:
    """The world for one trial of `task`. Raises `ConfigError`."""
    prompt = find_prompt("parallel_search", task.language, config, parallel.prompts)
    return ParallelWorld(name, task, hub.client(parallel.model), prompt, parallel.attempts)
