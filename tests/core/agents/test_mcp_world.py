"""The world as an MCP server, spoken to over real HTTP and over the bridge."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from cuecard.core.agents.briefing import ANSWER, ASK
from cuecard.core.agents.mcp_world import HOST, Door, WorldServer
from cuecard.core.engine.events import Limits, ToolAnswered, TrialStarted
from cuecard.core.engine.messages import PlayerRef, ToolAnswer, ToolCall
from cuecard.core.engine.step_context import TrialStepContext, WorldContext
from cuecard.core.engine.trial_log import MemorySink, TrialLog
from cuecard.core.errors import CuecardError
from cuecard.core.worlds.closed import SEARCH, ClosedWorld
from react_bench import GRAPH

NOBODY = PlayerRef(name="nobody", kind="offline")
QUERY = {"query": "espresso machine inventor"}


class Bench:
    """A served door, and a client."""

    def __init__(self, server: WorldServer) -> None:
        self.server = server
        self.door = Door((SEARCH, ASK, ANSWER), "en")
        self.url = server.add(self.door)
        self.sink = MemorySink()
        self.trial_log = TrialLog(self.sink)
        self.context = TrialStepContext(ClosedWorld(GRAPH), self.trial_log, "agent", 0)

    async def limit(self, calls: int) -> None:
        limits = Limits(max_tool_calls_per_turn=calls)
        start = TrialStarted(
            task_id="t",
            revision=1,
            revision_hash="",
            agent=NOBODY,
            user=NOBODY,
            world=NOBODY,
            limits=limits,
        )
        await self.trial_log.record(start)

    async def post(self, body: Any, url: str = "", **headers: str) -> tuple[int, Any]:
        data = body if isinstance(body, str) else json.dumps(body)
        head = {"content-type": "application/json", **headers}
        async with (
            aiohttp.ClientSession() as client,
            client.post(url or self.url, data=data, headers=head) as answer,
        ):
            text = await answer.text()
            return answer.status, json.loads(text) if text.startswith(("{", "[")) else text

    async def ask(self, method: str, id_: int = 1, **params: Any) -> Any:
        _, found = await self.post(
            {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
        )
        return found.get("result") or found.get("error")

    async def call(self, name: str, **arguments: Any) -> tuple[bool, str]:
        found = await self.ask("tools/call", name=name, arguments=arguments)
        return not found["isError"], found["content"][0]["text"]


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    server = await WorldServer.start()
    yield Bench(server)
    await server.close()


async def test_it_introduces_itself_and_lists_its_tools(bench: Bench) -> None:
    greeting = await bench.ask("initialize", protocolVersion="2025-03-26")
    assert greeting["protocolVersion"] == "2025-03-26"
    assert greeting["serverInfo"]["name"] == "cuecard"
    newest = await bench.ask("initialize", protocolVersion="1999-01-01")
    assert newest["protocolVersion"] == "2025-11-25"
    listed = (await bench.ask("tools/list"))["tools"]
    assert [tool["name"] for tool in listed] == ["search", "ask", "answer"]
    assert listed[0]["inputSchema"] == SEARCH.parameters
    assert (await bench.ask("resources/list"))["code"] == -32601


async def test_notifications_and_batches(bench: Bench) -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await bench.post(note))[0] == 202
    ping = {"jsonrpc": "2.0", "id": "a", "method": "ping"}
    assert await bench.post([note, ping]) == (200, [{"jsonrpc": "2.0", "id": "a", "result": {}}])


async def test_what_is_no_message_is_told_so(bench: Bench) -> None:
    assert (await bench.post("{"))[1]["error"]["code"] == -32700
    assert (await bench.post({"id": 1, "method": "ping"}))[1]["error"]["code"] == -32600
    assert (await bench.ask("tools/call", arguments={}))["code"] == -32602


async def test_nobody_else_comes_in(bench: Bench) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    elsewhere = bench.url.rsplit("/", 2)[0] + "/guessed/mcp"
    assert (await bench.post(ping, elsewhere))[0] == 404
    assert (await bench.post(ping, origin="https://example.org"))[0] == 403
    assert (await bench.post(ping, host="example.org"))[0] == 403
    assert (await bench.post(ping, origin="http://localhost:3000"))[0] == 200
    async with aiohttp.ClientSession() as client, client.get(bench.url) as answer:
        assert answer.status == 405


async def test_calls_are_recorded_in_a_turn_and_refused_outside(bench: Bench) -> None:
    assert await bench.call("search", **QUERY) == (
        False,
        "The tools answer only while it is your turn. Wait for the user.",
    )
    async with bench.door.open(bench.context):
        fine, found = await bench.call("search", **QUERY)
        both = await asyncio.gather(bench.call("search", **QUERY), bench.call("search", query="x"))
    assert fine
    assert "Moriondo" in found
    assert [ok for ok, _ in both] == [True, True]
    assert not (await bench.call("search", **QUERY))[0]
    steps = [e.body.step for e in bench.sink.events if isinstance(e.body, ToolAnswered)]
    assert sorted(steps) == [0, 1, 2]


async def test_wrong_calls_and_too_many_are_refused_with_a_reason(bench: Bench) -> None:
    await bench.limit(1)
    async with bench.door.open(bench.context):
        assert "no tool named fly" in (await bench.call("fly"))[1]
        assert "`query` is missing" in (await bench.call("search"))[1]
        assert "nothing in it" in (await bench.call("ask", question=" "))[1]
        assert (await bench.call("search", **QUERY))[0]
        assert "No more tool calls" in (await bench.call("search", **QUERY))[1]


async def test_ask_ends_the_turn(bench: Bench) -> None:
    async with bench.door.open(bench.context) as turn:
        fine, told = await bench.call("ask", question="Which one?")
        assert fine
        assert "Your turn is over" in told
        assert turn.closing == ToolCall(name="ask", arguments={"question": "Which one?"})
        assert not (await bench.call("search", **QUERY))[0]
        assert not (await bench.call("answer", answer="This one"))[0]


class SlowWorld:
    ref = NOBODY
    tools = (SEARCH,)

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def answer(self, call: ToolCall, context: WorldContext) -> ToolAnswer:
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError


async def test_what_is_under_way_at_the_end_of_a_turn_is_given_up(bench: Bench) -> None:
    world = SlowWorld()
    context = TrialStepContext(world, bench.trial_log, "agent", 0)
    async with bench.door.open(context):
        call = asyncio.create_task(bench.call("search", **QUERY))
        await world.asked.wait()

    assert await call == (False, "Not carried out: the turn was over.")
    assert bench.sink.events == []


async def test_the_bridge_forwards_what_it_reads() -> None:
    server = await WorldServer.start()
    bench = Bench(server)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "cuecard.core.agents.mcp_stdio",
        bench.url,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    lines = [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    out, _ = await process.communicate("\n".join(map(json.dumps, lines)).encode())
    await server.close()

    answers = {a["id"]: a["result"] for a in map(json.loads, out.splitlines())}
    assert answers[1] == {}
    assert len(answers[2]["tools"]) == 3


async def test_at_a_fixed_port_trials_take_turns() -> None:
    probe = await WorldServer.start()
    port = int(probe.add(Door((), "en")).split(":")[2].split("/")[0])
    await probe.close()
    server = await WorldServer.start(port)
    one, two = Bench(server), Bench(server)
    url = f"http://{HOST}:{port}/mcp"
    one.url = two.url = url
    order: list[str] = []

    async def turn(bench: Bench, name: str) -> None:
        async with server.at_fixed_path(bench.door), bench.door.open(bench.context):
            order.append(f"{name} in")
            assert (await bench.call("search", **QUERY))[0]
            order.append(f"{name} out")

    try:
        assert (await one.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}))[0] == 404
        server.show(one.door)
        assert (await one.ask("tools/list"))["tools"]
        await asyncio.gather(turn(one, "one"), turn(two, "two"))
        assert order == ["one in", "one out", "two in", "two out"]
        assert [len(b.sink.events) for b in (one, two)] == [1, 1]
        server.remove(two.door)
        assert (await one.ask("tools/list"))["tools"]  # Shut, but still listing what there is.
        with pytest.raises(CuecardError, match="cannot be offered"):
            await WorldServer.start(port)
    finally:
        await server.close()
