from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from cuecard.core.engine.events import Event, ModelReplied, ToolAnswered
from cuecard.core.engine.messages import ToolAnswer, ToolCall
from cuecard.core.engine.step_context import TrialStepContext, World
from cuecard.core.engine.trial_log import MemorySink, TrialLog
from cuecard.core.errors import ModelCallError, StoppedByPerson
from offline_trials import FACTS
from openai_server import OpenAIServer, Request, error
from react_bench import ticking
from search_engine import engine, parallel_world, query_of, slowly

HILL = "daily loaves of Hill Bakery"
DUNMORE = "daily loaves of Dunmore Bakery"
AGAIN = f"  {HILL.upper()}? "


def call(query: str, **more: Any) -> ToolCall:
    return ToolCall(name="search", arguments={"query": query, **more})


def context_of(world: World, trial_log: TrialLog, scope: str = "") -> TrialStepContext:
    context = TrialStepContext(world, trial_log, "agent", 0)
    return context.scope(scope) if scope else context


def keys(events: Sequence[Event], kind: type[Any]) -> list[str]:
    return [event.body.key for event in events if isinstance(event.body, kind)]


def sloppy(times: int) -> Callable[[Request], Awaitable[Any]]:
    """An engine that breaks the rules in its first answers to each query."""
    seen: dict[str, int] = {}

    def spoil(told: dict[str, Any], request: Request) -> Any:
        query = query_of(request)
        seen[query] = seen.get(query, 0) + 1
        return {**told, "entries": told["entries"][:3]} if seen[query] <= times else told

    return slowly(engine(FACTS, spoil))


async def test_the_same_query_is_answered_once_in_a_trial() -> None:
    async with OpenAIServer(engine(FACTS)) as server:
        trial_log = TrialLog(MemorySink(), (), ticking())
        context = context_of(parallel_world(FACTS, server.url), trial_log)
        first = await context.call_tool(call(HILL))
        assert await context.call_tool(call(AGAIN, topn=9)) == first
        # A world made anew, for a trial that is resumed, knows it from the log.
        context = TrialStepContext(parallel_world(FACTS, server.url), trial_log, "agent", 1)
        assert await context.call_tool(call(HILL)) == first
        assert await context.call_tool(call(DUNMORE)) != first
        assert len(server.requests) == 2


async def test_refused_calls_are_no_answers() -> None:
    async with OpenAIServer(engine(FACTS)) as server:
        context = context_of(
            parallel_world(FACTS, server.url), TrialLog(MemorySink(), (), ticking())
        )
        assert not (await context.call_tool(call(HILL, topn=0))).ok
        assert (await context.call_tool(call(HILL))).ok


async def test_of_the_same_queries_at_the_same_time_only_one_asks_the_model() -> None:
    async with OpenAIServer(sloppy(1)) as server:
        trial_log = TrialLog(MemorySink(), (), ticking())
        context = context_of(parallel_world(FACTS, server.url), trial_log)
        asked = (HILL, DUNMORE, AGAIN, HILL)
        answers = await asyncio.gather(*(context.call_tool(call(query)) for query in asked))
        assert answers[0] == answers[2] == answers[3] != answers[1]
        assert len(server.requests) == 4
    assert len(keys(trial_log.events, ToolAnswered)) == 4
    made = sorted(key.split("/query-")[0] for key in keys(trial_log.events, ModelReplied))
    assert made == [*["agent/0/tool/0"] * 2, *["agent/0/tool/1"] * 2]


class KilledSink(MemorySink):
    """Keeps so many events; then the process is gone."""

    def __init__(self, events: int) -> None:
        super().__init__()
        self._left = events

    async def append(self, event: Event) -> None:
        if self._left == 0:
            raise asyncio.CancelledError
        self._left -= 1
        await super().append(event)


async def played(
    url: str, sink: MemorySink, scopes: Sequence[str] = ("", "", "")
) -> list[ToolAnswer]:
    """Three calls at the same time, two of them the same, then a repeat."""
    trial_log = TrialLog(sink, list(sink.events), ticking())
    world = parallel_world(FACTS, url)
    own = context_of(world, trial_log)
    contexts = [context_of(world, trial_log, scope) if scope else own for scope in scopes]
    queries = (HILL, DUNMORE, AGAIN)
    calls = [context.call_tool(call(q)) for context, q in zip(contexts, queries, strict=True)]
    tasks = [asyncio.create_task(step) for step in calls]
    await asyncio.wait(tasks)
    answers = [task.result() for task in tasks]
    last = TrialStepContext(world, trial_log, "agent", 1)
    return [*answers, await last.call_tool(call(HILL))]


@pytest.mark.parametrize("kept", range(9))
async def test_a_trial_killed_anywhere_never_asks_for_a_recorded_answer_again(kept: int) -> None:
    async with OpenAIServer(sloppy(1)) as server:
        whole = MemorySink()
        expected = await played(server.url, whole)
        assert len(server.requests) == 4
        assert len(whole.events) == 8

    async with OpenAIServer(sloppy(1)) as server:
        sink: MemorySink = KilledSink(kept)
        try:
            assert await played(server.url, sink) == expected
        except asyncio.CancelledError:
            assert kept < 8
        recorded = len(keys(sink.events, ModelReplied))
        again = MemorySink()
        again.events = list(sink.events)
        sent = len(server.requests)
        # A good engine from now on, so that a query that was begun ends as it would have.
        server.script = engine(FACTS)
        answers = await played(server.url, again)
        assert answers[0] == answers[2] == answers[3]
        asked_again = len(server.requests) - sent
        assert asked_again <= 4 - recorded
    found = keys(again.events, ToolAnswered)
    assert sorted(found) == sorted(keys(whole.events, ToolAnswered))
    assert len(set(found)) == 4


async def test_a_resumed_trial_may_have_another_lead() -> None:
    """Sub-agents run as timing has it: who came first before need not come first again."""
    async with OpenAIServer(sloppy(0)) as server:
        sink = MemorySink()
        trial_log = TrialLog(sink, (), ticking())
        one = context_of(parallel_world(FACTS, server.url), trial_log, "sub/0")
        answer = await one.call_tool(call(HILL))
        assert len(server.requests) == 1
        killed = [e for e in sink.events if isinstance(e.body, ModelReplied)]

        trial_log = TrialLog(MemorySink(), killed, ticking())
        world = parallel_world(FACTS, server.url)
        contexts = [context_of(world, trial_log, scope) for scope in ("sub/1", "sub/0")]
        answers = await asyncio.gather(*(context.call_tool(call(HILL)) for context in contexts))
        assert answers == [answer, answer]
        assert len(server.requests) == 1
        assert len(keys(trial_log.events, ModelReplied)) == 1


async def test_a_query_that_was_asked_again_goes_on_from_there() -> None:
    async with OpenAIServer(sloppy(1)) as server:
        sink = MemorySink()
        context = context_of(parallel_world(FACTS, server.url), TrialLog(sink, (), ticking()))
        answer = await context.call_tool(call(HILL))
        first = sink.events[:1]
        assert isinstance(first[0].body, ModelReplied)
        server.script = engine(FACTS)
        trial_log = TrialLog(MemorySink(), first, ticking())
        # Also under another tool call.
        other = context_of(parallel_world(FACTS, server.url), trial_log, "sub/7")
        assert await other.call_tool(call(HILL)) == answer
        assert len(server.requests) == 3
        assert [m["role"] for m in server.requests[2].messages][-2:] == ["assistant", "user"]


async def test_a_failure_is_everybody_s_who_waited() -> None:
    async with OpenAIServer(slowly(lambda _request: error(400))) as server:
        context = context_of(
            parallel_world(FACTS, server.url), TrialLog(MemorySink(), (), ticking())
        )
        calls = [context.call_tool(call(HILL)) for _ in range(3)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert all(outcome is outcomes[0] for outcome in outcomes)
        assert isinstance(outcomes[0], ModelCallError)


async def test_when_the_one_who_asked_is_cancelled_the_next_one_asks() -> None:
    came, gate = asyncio.Event(), asyncio.Event()

    async def script(request: Request) -> Any:
        if request.number == 0:
            came.set()
            await gate.wait()
        return engine(FACTS)(request)

    async with OpenAIServer(script) as server:
        trial_log = TrialLog(MemorySink(), (), ticking())
        context = context_of(parallel_world(FACTS, server.url), trial_log)
        tasks = [asyncio.create_task(context.call_tool(call(HILL))) for _ in range(3)]
        await came.wait()
        tasks[0].cancel()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        gate.set()
    assert isinstance(answers[0], asyncio.CancelledError)
    assert answers[1] == answers[2]
    assert isinstance(answers[1], ToolAnswer)
    assert len(server.requests) == 2


async def test_who_is_cancelled_while_waiting_disturbs_nobody() -> None:
    async with OpenAIServer(slowly(engine(FACTS))) as server:
        context = context_of(
            parallel_world(FACTS, server.url), TrialLog(MemorySink(), (), ticking())
        )
        tasks = [asyncio.create_task(context.call_tool(call(HILL))) for _ in range(3)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(answers[1], asyncio.CancelledError)
    assert answers[0] == answers[2]
    assert isinstance(answers[0], ToolAnswer)
    assert len(server.requests) == 1


async def test_a_run_that_is_to_stop_halts_before_the_next_call() -> None:
    halted: list[bool] = []

    def check() -> None:
        if halted:
            raise StoppedByPerson("stop")

    def spoil(told: dict[str, Any], _request: Request) -> Any:
        halted.append(True)
        return {**told, "entries": []}

    async with OpenAIServer(engine(FACTS, spoil)) as server:
        trial_log = TrialLog(MemorySink(), (), ticking())
        trial_log.attach(check, lambda _event: None)
        with pytest.raises(StoppedByPerson):
            await context_of(parallel_world(FACTS, server.url), trial_log).call_tool(call(HILL))
        assert len(server.requests) == 1
    assert len(keys(trial_log.events, ModelReplied)) == 1
    assert keys(trial_log.events, ToolAnswered) == []
