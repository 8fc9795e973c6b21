from __future__ import annotations

import asyncio
from typing import Any

import pytest

import openai_server as fake
from cuecard.core.engine.events import Event, ModelReplied
from cuecard.core.engine.trial_log import MemorySink, TrialLog
from cuecard.core.tasks.models import Task
from cuecard.core.users.scripted import scripted_user_for
from cuecard.core.worlds.closed import ClosedWorld
from openai_server import OpenAIServer, Reply, Request
from react_bench import CHAIN, GRAPH, TRIPLES, play_trial, script_of, searcher
from react_bench import Trial as Played

CHAIN_SCRIPT = script_of(
    fake.calls(("search", {"query": "Mercury"})),
    fake.text(""),
    fake.calls(("serch", {"query": "Mercury"}), ("search", {"query": "planet Mercury"})),
    fake.calls(("ask", {"question": "The planet or the element?"})),
    fake.calls(("answer", {"answer": "4879 km"})),
    fake.text("Final answer: 4879 km"),
)


def after(script: Any, answered: int) -> Any:
    """The script of a server that has already answered so many requests."""

    def later(request: Request) -> Reply:
        return script(
            Request(
                request.number + answered,
                request.method,
                request.path,
                request.headers,
                request.body,
            )
        )

    return later


def shape(events: list[Event]) -> dict[str, Any]:
    """Events by key, without what differs from run to run."""
    result: dict[str, Any] = {}
    for event in events:
        data = event.body.model_dump(mode="json")
        if isinstance(event.body, ModelReplied):
            data["reply"].pop("latency_ms")
        result[event.body.key] = data
    return result


def model_calls(events: list[Event]) -> int:
    return sum(isinstance(event.body, ModelReplied) for event in events)


@pytest.mark.parametrize(
    ("task", "script"), [(GRAPH, searcher(TRIPLES)), (CHAIN, CHAIN_SCRIPT)], ids=["graph", "chain"]
)
async def test_from_wherever_it_is_resumed_nothing_is_called_twice(task: Task, script: Any) -> None:
    whole = await play_trial(script, task)
    for cut in range(len(whole.events) + 1):
        past = whole.events[:cut]
        done = model_calls(past)
        resumed: Played = await play_trial(after(script, done), task, past=past)
        assert len(resumed.requests) == model_calls(whole.events) - done
        assert shape(resumed.events) == shape(whole.events)
        # The model sees exactly what it saw, or would have seen, without the interruption.
        again = [request.body for request in resumed.requests]
        assert again == [request.body for request in whole.requests[done:]]


async def test_a_trial_cancelled_in_the_middle_of_a_call_goes_on_from_there() -> None:
    reached = asyncio.Event()
    plain = searcher(TRIPLES)

    async def stalling(request: Request) -> Reply:
        if request.number == 2:
            reached.set()
            await asyncio.Event().wait()
        return plain(request)

    from cuecard.core.engine.trial import TrialSetup, play
    from react_bench import config_for, make_agent

    sink = MemorySink()
    async with OpenAIServer(stalling) as server:
        agent = make_agent("live", config_for(server.url), GRAPH)
        setup = TrialSetup(GRAPH, agent, scripted_user_for(GRAPH), ClosedWorld(GRAPH))
        trial = asyncio.create_task(play(setup, TrialLog(sink)))
        await reached.wait()
        trial.cancel()
        with pytest.raises(asyncio.CancelledError):
            await trial
    assert model_calls(sink.events) == 2
    resumed = await play_trial(plain, past=sink.events)
    assert len(resumed.requests) == 3
    assert not resumed.result.termination.is_failure


async def test_turns_that_another_agent_played_are_known_by_their_words() -> None:
    whole = await play_trial(searcher(TRIPLES))
    past = [e for e in whole.events if e.body.key in ("start", "user/0", "agent/0", "user/1")]
    past = [event.model_copy(update={"seq": i}) for i, event in enumerate(past)]
    resumed = await play_trial(searcher(TRIPLES), past=past)
    roles = [message["role"] for message in resumed.requests[0].messages]
    assert roles == ["system", "user", "assistant", "user"]
    assert not resumed.result.termination.is_failure
