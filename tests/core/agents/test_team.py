"""A main agent and its members, over a scripted server."""

from __future__ import annotations

import asyncio
from typing import Any

from cuecard.core.config import EMBEDDED
from cuecard.core.config_models import ModelConfig
from cuecard.core.config_players import TeamAgentConfig
from cuecard.core.engine.events import Event, Limits, ToolAnswered
from cuecard.core.engine.players import build_agent
from cuecard.core.engine.trial import TrialSetup, play
from cuecard.core.engine.trial_log import MemorySink, TrialLog
from cuecard.core.llm.hub import ModelHub
from cuecard.core.users.scripted import scripted_user_for
from cuecard.core.worlds.closed import ClosedWorld
from openai_server import OpenAIServer, Reply, Request, calls, text
from react_bench import TABLE, concluding

TABLE_TEXT = (
    "```markdown\n| Moon | Diameter |\n| --- | --- |\n| Phobos | 22 km |\n| Deimos | 13 km |\n```"
)
PIECES = (
    ("delegate", {"task": "Diameter of Phobos"}),
    ("delegate", {"task": "Diameter of Deimos"}),
)


def is_member(request: Request) -> bool:
    return "delegate" not in request.tools


def script(request: Request) -> Reply:
    if concluding(request):
        return text(TABLE_TEXT)
    if is_member(request):
        task = next(str(m["content"]) for m in request.messages if m["role"] == "user")
        if request.last["role"] == "user":
            return calls(("search", {"query": task}))
        return text(f"Report on: {task}")
    if request.last["role"] == "tool":
        return text("Both are known now.")
    return calls(*PIECES)


async def trial(
    server: OpenAIServer, past: list[Event] | None = None, **settings: Any
) -> list[Event]:
    models = {"m": ModelConfig(base_url=server.url, model="scripted", retries=0)}
    agents = {"crew": TeamAgentConfig(model="m", **settings)}
    config = EMBEDDED.model_copy(update={"models": models, "agents": agents})
    hub = ModelHub(config)
    sink = MemorySink()
    sink.events.extend(past or [])
    setup = TrialSetup(
        task=TABLE,
        agent=build_agent("crew", config, TABLE, hub),
        user=scripted_user_for(TABLE),
        world=ClosedWorld(TABLE),
        limits=Limits(max_turns=3),
    )
    try:
        await play(setup, TrialLog(sink, past or []))
    finally:
        await hub.close()
    return sink.events


def answers(events: list[Event], name: str) -> list[ToolAnswered]:
    found = [
        e.body for e in events if isinstance(e.body, ToolAnswered) and e.body.call.name == name
    ]
    return sorted(found, key=lambda body: body.key)


async def test_members_work_at_the_same_time_with_the_same_tools():
    together = asyncio.Event()
    waiting = 0

    async def meeting(request: Request) -> Reply:
        nonlocal waiting
        if is_member(request) and request.last["role"] == "user" and not concluding(request):
            waiting += 1
            if waiting == 2:
                together.set()
            await asyncio.wait_for(together.wait(), 10)
        return script(request)

    async with OpenAIServer(meeting) as server:
        events = await trial(server)
        members = [r for r in server.requests if is_member(r)]
    assert {tuple(r.tools) for r in members} == {("search",)}
    first = str(members[0].messages[0]["content"])
    assert "delegate" not in first
    assert TABLE.query not in str(members)
    reports = [body.answer.text for body in answers(events, "delegate")]
    assert reports == ["Report on: Diameter of Phobos", "Report on: Diameter of Deimos"]
    searches = answers(events, "search")
    assert [body.scope for body in searches] == ["member/0/", "member/1/"]
    assert all(body.part == "agent" for body in searches)


async def test_no_more_members_than_allowed_and_failures_are_told():
    def failing(request: Request) -> Reply:
        return text("") if is_member(request) and not concluding(request) else script(request)

    async with OpenAIServer(failing) as server:
        events = await trial(server, members=1)
    first, second = answers(events, "delegate")
    assert not first.answer.ok
    assert "no result" in first.answer.text
    assert not second.answer.ok
    assert "1" in second.answer.text
    assert events[-1].body.key == "end"


async def test_a_killed_team_goes_on_inside_its_members():
    async with OpenAIServer(script) as server:
        whole = await trial(server)
        count = len(server.requests)
    bodies = [event.body.key for event in whole]
    for cut in range(1, len(whole)):
        async with OpenAIServer(script) as server:
            again = await trial(server, past=whole[:cut])
            recorded = sum(event.body.type == "model_replied" for event in whole[:cut])
            assert len(server.requests) == count - recorded
        assert sorted(event.body.key for event in again) == sorted(bodies)
