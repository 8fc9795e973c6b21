from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

import search_engine
from cuecard.core.agents.briefing import public_task
from cuecard.core.agents.offline import OfflineAgent
from cuecard.core.config_models import ModelConfig
from cuecard.core.config_players import TeamAgentConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.events import (
    AgentSpoke,
    Concluded,
    Event,
    ModelReplied,
    Termination,
    ToolAnswered,
    TrialEnded,
    UserSpoke,
)
from cuecard.core.engine.messages import AgentReply, Dialogue, ToolAnswer, ToolCall, UserReply
from cuecard.core.engine.trial import RecordedLog, TrialResult, TrialSetup, play
from cuecard.core.engine.trial_log import MemorySink, TrialLog
from cuecard.core.tasks.models import Task
from cuecard.core.users.scripted import scripted_user_for
from cuecard.core.worlds.closed import ClosedWorld
from cuecard.core.worlds.replay import EventTape
from offline_trials import TASKS, play_offline
from openai_server import OpenAIServer, Reply, Request, calls, error, text
from react_bench import (
    CHAIN,
    GRAPH,
    TABLE,
    TRIPLES,
    concluding,
    config_for,
    make_agent,
    searcher,
    ticking,
)
from responses_server import CALL, REASONING, message, streamed


def bodies(events: Sequence[Event]) -> list[str]:
    return [event.body.model_dump_json() for event in events]


class Unplugged:
    """A world that must not be asked."""

    def __init__(self, task: Task) -> None:
        self.ref = ClosedWorld(task).ref
        self.tools = ClosedWorld(task).tools

    async def answer(self, call: ToolCall, context: Any) -> ToolAnswer:
        raise AssertionError(f"asked {call}")


async def replay(
    recording: Sequence[Event],
    task: Task,
    agent: Any,
    past: Sequence[Event] = (),
    user: Any = None,
) -> tuple[TrialResult, list[Event]]:
    sink = MemorySink()
    sink.events.extend(past)
    trial_log = TrialLog(sink, past, ticking(), RecordedLog(recording))
    setup = TrialSetup(task, agent, user or scripted_user_for(task), Unplugged(task))
    return await play(setup, trial_log), sink.events


async def live(
    script: Any, task: Task = GRAPH, sink: MemorySink | None = None
) -> tuple[Any, TrialResult, list[Event]]:
    """A trial of a model agent; the server is stopped when this returns."""
    sink = sink or MemorySink()
    async with OpenAIServer(script) as server:
        agent = make_agent("live", config_for(server.url), task)
        setup = TrialSetup(task, agent, scripted_user_for(task), ClosedWorld(task))
        result = await play(setup, TrialLog(sink, (), ticking()))
    return agent, result, sink.events


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
async def test_an_offline_trial_is_replayed_byte_for_byte(task: Task) -> None:
    result, recording = await play_offline(task)
    again, events = await replay(recording, task, OfflineAgent(public_task(task)))
    assert again == result
    assert bodies(events) == bodies(recording)


@pytest.mark.parametrize("task", [GRAPH, CHAIN], ids=lambda task: task.id)
async def test_a_model_agent_is_replayed_without_its_server(task: Task) -> None:
    agent, result, recording = await live(searcher(TRIPLES), task)
    again, events = await replay(recording, task, agent)
    assert again == result
    assert bodies(events) == bodies(recording)
    assert any(isinstance(event.body, ModelReplied) for event in events)


async def test_a_model_of_the_responses_api_is_replayed_and_its_reasoning_sent_back() -> None:
    inputs: list[list[dict[str, Any]]] = []

    def script(request: Request) -> Reply:
        inputs.append(request.body["input"])
        last = inputs[-1][-1]
        if last.get("type") == "function_call_output":
            return streamed(message("It was Angelo Moriondo."))
        if "conversation is over" in str(last.get("content")):
            return streamed(message(TRIPLES))
        return streamed(REASONING, CALL)

    async with OpenAIServer(script) as server:
        agent = make_agent("live", config_for(server.url, api="responses"), GRAPH)
        setup = TrialSetup(GRAPH, agent, scripted_user_for(GRAPH), ClosedWorld(GRAPH))
        sink = MemorySink()
        result = await play(setup, TrialLog(sink, (), ticking()))
    assert result.termination is Termination.USER_DONE
    assert all(
        REASONING in sent for sent in inputs if sent[-1].get("type") == "function_call_output"
    )
    again, events = await replay(sink.events, GRAPH, agent)
    assert again == result
    assert bodies(events) == bodies(sink.events)
    replies = [e.body.reply for e in events if isinstance(e.body, ModelReplied)]
    assert any(reply.carried == (REASONING,) for reply in replies)


async def test_a_world_with_a_model_is_replayed_with_the_calls_that_it_made() -> None:
    """Two searches at once, the first of which is answered last: the log keeps their order."""
    engine = search_engine.engine(GRAPH)
    agent = searcher(TRIPLES)

    async def script(request: Request) -> Reply:
        if request.body["model"] == "scripted":
            return agent(request)
        if "inventor" in search_engine.query_of(request):
            await asyncio.sleep(0.05)
        return engine(request)

    sink = MemorySink()
    async with OpenAIServer(script) as server:
        world = search_engine.parallel_world(GRAPH, server.url)
        player = make_agent("live", config_for(server.url), GRAPH)
        setup = TrialSetup(GRAPH, player, scripted_user_for(GRAPH), world)
        result = await play(setup, TrialLog(sink, (), ticking()))
    keys = [event.body.key for event in sink.events]
    assert keys.index("agent/0/tool/1") < keys.index("agent/0/tool/0")
    assert any("/query-" in key for key in keys)

    again = MemorySink()
    unplugged = Unplugged(GRAPH)
    unplugged.ref = world.ref
    setup = TrialSetup(GRAPH, player, scripted_user_for(GRAPH), unplugged)
    trial_log = TrialLog(again, (), ticking(), RecordedLog(sink.events))
    assert await play(setup, trial_log) == result
    assert bodies(again.events) == bodies(sink.events)


def crew(request: Request) -> Reply:
    """A main agent that notes something and sends out two members at once."""
    if concluding(request):
        return text("```markdown\n| Moon | Diameter |\n| --- | --- |\n| Phobos | 22 km |\n```")
    if "delegate" not in request.tools:
        task = next(str(m["content"]) for m in request.messages if m["role"] == "user")
        one = request.last["role"] == "user"
        return calls(("search", {"query": task})) if one else text(f"Report on: {task}")
    if request.last["role"] == "tool":
        return text("Both are known now.")
    pieces = [("delegate", {"task": f"Diameter of {moon}"}) for moon in ("Phobos", "Deimos")]
    return calls(*pieces)


async def test_a_team_is_replayed_in_the_order_in_which_its_members_worked() -> None:
    async def script(request: Request) -> Reply:
        if "delegate" not in request.tools and "Phobos" in str(request.messages):
            await asyncio.sleep(0.05)
        return crew(request)

    sink = MemorySink()
    async with OpenAIServer(script) as server:
        models = {"m": ModelConfig(base_url=server.url, model="scripted", retries=0)}
        config = Config(models=models, agents={"crew": TeamAgentConfig(model="m")})
        agent = make_agent("crew", config, TABLE)
        setup = TrialSetup(TABLE, agent, scripted_user_for(TABLE), ClosedWorld(TABLE))
        result = await play(setup, TrialLog(sink, (), ticking()))
    assert result.termination is Termination.ANSWERED
    members = [e.body.key for e in sink.events if "/member/" in e.body.key]
    assert members[-1].startswith("agent/0/member/0/")
    again, events = await replay(sink.events, TABLE, agent)
    assert again == result
    assert bodies(events) == bodies(sink.events)


async def test_notes_of_an_agents_own_are_written_again() -> None:
    def script(request: Request) -> Reply:
        if request.number == 0:
            note = ("write_note", {"text": "Moriondo"})
            return calls(note, ("search", {"query": "espresso machine inventor"}))
        return searcher(TRIPLES)(request)

    sink = MemorySink()
    async with OpenAIServer(script) as server:
        agent = make_agent("live", config_for(server.url, memory="local"), GRAPH)
        setup = TrialSetup(GRAPH, agent, scripted_user_for(GRAPH), ClosedWorld(GRAPH))
        result = await play(setup, TrialLog(sink, (), ticking()))
    again, events = await replay(sink.events, GRAPH, agent)
    assert again == result
    assert bodies(events) == bodies(sink.events)
    assert [spec.name for spec in EventTape([sink.events]).tools] == ["search"]


async def test_a_replay_that_was_killed_goes_on() -> None:
    agent, _, recording = await live(searcher(TRIPLES))
    for kept in range(len(recording)):
        _, whole = await replay(recording, GRAPH, agent)
        _, events = await replay(recording, GRAPH, agent, past=whole[:kept])
        assert bodies(events) == bodies(recording)


async def test_a_call_that_failed_fails_again_in_the_same_words() -> None:
    agent, result, recording = await live(
        lambda request: searcher(TRIPLES)(request) if request.number < 2 else error(400, "no more")
    )
    assert result.termination is Termination.API_ERROR
    again, events = await replay(recording, GRAPH, agent)
    assert again == result
    assert bodies(events) == bodies(recording)


async def test_a_missing_step_is_named() -> None:
    agent, _, recording = await live(searcher(TRIPLES))
    cut = [e for e in recording if e.body.key != "agent/1/model/0"]
    result, _ = await replay(cut, GRAPH, agent)
    assert result.termination is Termination.INTERNAL_ERROR
    assert "agent/1/model/0" in result.detail


async def test_another_call_in_the_same_place_is_refused() -> None:
    agent, _, recording = await live(searcher(TRIPLES))
    other = ToolCall(name="search", arguments={"query": "something else"})
    changed = [
        e.model_copy(update={"body": e.body.model_copy(update={"call": other})})
        if isinstance(e.body, ToolAnswered) and e.body.key == "agent/0/tool/1"
        else e
        for e in recording
    ]
    result, events = await replay(changed, GRAPH, agent)
    assert result.termination is Termination.INTERNAL_ERROR
    assert "agent/0/tool/1" in result.detail
    assert "something else" in result.detail
    assert "agent/0/tool/1" not in {event.body.key for event in events}


async def test_another_model_is_not_answered_for() -> None:
    _, _, recording = await live(searcher(TRIPLES))
    config = config_for("http://127.0.0.1:9/v1")
    models = {"m": config.models["m"].model_copy(update={"model": "another"})}
    agent = make_agent("live", config.model_copy(update={"models": models}), GRAPH)
    result, _ = await replay(recording, GRAPH, agent)
    assert "agent/0/model/0" in result.detail
    assert "another" in result.detail


def answered(step: int, text: str) -> ToolAnswered:
    call = ToolCall(name="search", arguments={"query": text})
    return ToolAnswered(part="agent", turn=0, step=step, call=call, answer=ToolAnswer(text=text))


async def replayed_steps(recording: Sequence[Any], steps: Sequence[int]) -> list[str]:
    """The keys as they are recorded when the tool calls `steps` are made at the same time."""
    log = [Event(seq=n, at=ticking()(), body=body) for n, body in enumerate(recording)]
    trial_log = TrialLog(MemorySink(), (), ticking(), RecordedLog(log))

    async def perform() -> ToolAnswered:
        raise AssertionError("performed")

    held = {body.step: body.call for body in recording}
    await asyncio.gather(
        *(trial_log.step(f"agent/0/tool/{n}", perform, held.get(n)) for n in steps)
    )
    return [event.body.key for event in trial_log.events]


async def test_what_was_made_at_the_same_time_keeps_its_order() -> None:
    recording = [answered(2, "c"), answered(0, "a"), answered(1, "b")]
    keys = await replayed_steps(recording, [0, 1, 2])
    assert keys == ["agent/0/tool/2", "agent/0/tool/0", "agent/0/tool/1"]


async def test_a_step_that_is_no_longer_made_holds_nothing_up_for_ever() -> None:
    recording = [answered(2, "c"), answered(0, "a"), answered(1, "b")]
    keys = await replayed_steps(recording, [0, 1])
    assert keys == ["agent/0/tool/0", "agent/0/tool/1"]


class Outsider:
    """A harness that must not be started."""

    def __init__(self) -> None:
        self.ref = OfflineAgent(public_task(GRAPH)).ref.model_copy(update={"kind": "acp"})

    async def reply(self, dialogue: Dialogue, context: Any) -> AgentReply:
        raise AssertionError("started")

    async def conclude(self, dialogue: Dialogue, context: Any) -> Any:
        raise AssertionError("started")


async def test_a_harness_is_not_started_again() -> None:
    class Harness(Outsider):
        async def reply(self, dialogue: Dialogue, context: Any) -> AgentReply:
            await context.call_tool(ToolCall(name="search", arguments={"query": "lamp"}))
            return AgentReply(text="Angelo Moriondo, of Turin.")

        async def conclude(self, dialogue: Dialogue, context: Any) -> Any:
            return await OfflineAgent(public_task(GRAPH)).conclude(dialogue, context)

    sink = MemorySink()
    setup = TrialSetup(GRAPH, Harness(), scripted_user_for(GRAPH), ClosedWorld(GRAPH))
    result = await play(setup, TrialLog(sink, (), ticking()))
    again, events = await replay(sink.events, GRAPH, Outsider())
    assert again == result
    assert bodies(events) == bodies(sink.events)

    cut = [e for e in sink.events if not isinstance(e.body, AgentSpoke | Concluded | TrialEnded)]
    result, _ = await replay(cut, GRAPH, Outsider())
    assert "agent/0" in result.detail


async def test_what_a_person_said_is_taken_too() -> None:
    class Person:
        ref = scripted_user_for(GRAPH).ref.model_copy(update={"kind": "human"})

        async def open(self, context: Any) -> UserReply:
            raise AssertionError("asked")

        reply = open

    _, recording = await play_offline(GRAPH)
    recording = [
        e.model_copy(update={"body": e.body.model_copy(update={"user": Person.ref})})
        if e.body.type == "trial_started"
        else e
        for e in recording
    ]
    _, events = await replay(recording, GRAPH, OfflineAgent(public_task(GRAPH)), user=Person())
    assert bodies(events) == bodies(recording)
    assert any(isinstance(event.body, UserSpoke) for event in events)
