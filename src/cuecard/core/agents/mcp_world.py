"""A trial's world as an MCP server on this machine, for harnesses that bring their own tool loop; and the few methods of the Model
Context Protocol that a server of tools needs.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, Protocol, cast
from urllib.parse import urlsplit

from pydantic import JsonValue

from cuecard import __version__
from cuecard.core.agents.briefing import Note, complaint, ending, named_right, say
from cuecard.core.engine.events import Limits, TrialStarted
from cuecard.core.engine.messages import ToolAnswer, ToolCall, ToolSpec
from cuecard.core.engine.step_context import StepContext
from cuecard.core.errors import CuecardError, system_words
from cuecard.core.i18n import _
from cuecard.core.tasks.models import TaskLanguage

if TYPE_CHECKING:
    from aiohttp import web

HOST = "127.0.0.1"
FIXED_PATH = "mcp"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_MOST_BYTES = 8 * 1024 * 1024
_REMEMBERED = 500
SERVER_NAME: Final = "cuecard"
VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")

Message = dict[str, JsonValue]

_PARSE, _INVALID, _NO_METHOD, _PARAMS = -32700, -32600, -32601, -32602


class Door:
    """One trial's access to its world. It is open only during the agent's turns; other calls are refused. `reached`: set
    once the harness has sent anything to it.
    """

    def __init__(self, tools: Sequence[ToolSpec], language: TaskLanguage) -> None:
        self._tools = tuple(tools)
        self._language: TaskLanguage = language
        self._turn: OpenTurn | None = None
        self.reached = asyncio.Event()

    @property
    def tools(self) -> Sequence[ToolSpec]:
        return self._tools

    @asynccontextmanager
    async def open(self, context: StepContext) -> AsyncGenerator[OpenTurn]:
        """Answer calls through `context` within the block. Calls still under way at its end are given up."""
        turn = self._turn = OpenTurn(context, self._tools, self._language)
        try:
            yield turn
        finally:
            self._turn = None
            await turn.end()

    async def call(self, call: ToolCall) -> ToolAnswer:
        if self._turn is None:
            return ToolAnswer(text=say(self._language, Note.NOT_NOW), ok=False)
        return await self._turn.call(call)


class OpenTurn:
    """The calls of one turn. `called`: the last of them. `closing`: the call of a turn tool that ended the turn, if any.
    `trouble`: a future that fails if a call failed in a way that concerns the trial.
    """

    def __init__(
        self, context: StepContext, tools: Sequence[ToolSpec], language: TaskLanguage
    ) -> None:
        self._context = context
        self._tools = tools
        self._language: TaskLanguage = language
        self._left = _limits(context).max_tool_calls_per_turn
        self._under_way: set[asyncio.Task[ToolAnswer]] = set()
        self.called: deque[ToolCall] = deque(maxlen=_REMEMBERED)
        self.closing: ToolCall | None = None
        self.trouble: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def call(self, call: ToolCall) -> ToolAnswer:
        call = named_right(call, self._tools)
        refusal = self._refusal(call)
        self.called.append(call)
        if refusal:
            return ToolAnswer(text=refusal, ok=False)
        if ending(call):
            self.closing = call
            return ToolAnswer(text=say(self._language, Note.DELIVERED_END))
        self._left -= 1
        task = asyncio.create_task(self._context.call_tool(call))
        self._under_way.add(task)
        await asyncio.wait({task})
        self._under_way.discard(task)
        if task.cancelled():
            return ToolAnswer(text=say(self._language, Note.NOT_CARRIED_OUT), ok=False)
        error = task.exception()
        if error is None:
            return task.result()
        if not self.trouble.done():
            self.trouble.set_exception(error)
        return ToolAnswer(text=say(self._language, Note.NOT_CARRIED_OUT), ok=False)

    async def end(self) -> None:
        tasks = tuple(self._under_way)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if not self.trouble.done():
            self.trouble.cancel()
        elif not self.trouble.cancelled():
            self.trouble.exception()  # Seen, whether or not somebody waited for it.

    def _refusal(self, call: ToolCall) -> str:
        if self.closing is not None:
            return say(self._language, Note.NOT_CARRIED_OUT)
        problem = complaint(call, self._tools, self._language)
        if not problem and (words := ending(call)) and not words[1]:
            problem = say(self._language, Note.NOTHING_SAID)
        if not problem and self._left <= 0 and not ending(call):
            problem = say(self._language, Note.NO_MORE_CALLS)
        return problem


class WorldServer:
    """An MCP server for the worlds of many trials, each at its own secret path; or, at a fixed port, for one trial after
    another at `/mcp`, for harnesses whose configuration names the address.
    """

    def __init__(self) -> None:
        self._doors: dict[str, Door] = {}
        self._runner: web.AppRunner | None = None
        self._port = 0
        self._turns = asyncio.Lock()

    @classmethod
    async def start(cls, port: int = 0) -> WorldServer:
        """Start a server (port 0: any free port). Raises `CuecardError` if the port is taken."""
        from aiohttp import web

        server = cls()
        app = web.Application(client_max_size=_MOST_BYTES)
        app.router.add_route("*", "/{path:.*}", server._handle)
        runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=0.5)
        await runner.setup()
        try:
            await web.TCPSite(runner, HOST, port).start()
        except OSError as error:
            await runner.cleanup()
            raise CuecardError(
                _("The world cannot be offered to the harness"),
                _("port {port}: {reason}").format(port=port, reason=system_words(error)),
                _("another program or run uses this port"),
            ) from error
        server._runner = runner
        server._port = cast("tuple[str, int]", runner.addresses[0])[1]
        return server

    @property
    def usable(self) -> bool:
        return self._runner is not None

    def add(self, door: Door) -> str:
        """Serve `door` from now on; returns its address."""
        path = f"{secrets.token_urlsafe(24)}/mcp"
        self._doors[path] = door
        return f"http://{HOST}:{self._port}/{path}"

    def remove(self, door: Door) -> None:
        """Stop serving `door` at its address; at the fixed path its tools stay listed, closed, until the next door."""
        self._doors = {p: d for p, d in self._doors.items() if d is not door or p == FIXED_PATH}

    def show(self, door: Door) -> None:
        """List the tools of `door` at the fixed path, if no other's are listed yet."""
        self._doors.setdefault(FIXED_PATH, door)

    @asynccontextmanager
    async def at_fixed_path(self, door: Door) -> AsyncGenerator[None]:
        """Serve `door` at the fixed path within the block; other trials wait."""
        async with self._turns:
            self._doors[FIXED_PATH] = door
            yield

    async def close(self) -> None:
        runner, self._runner = self._runner, None
        self._doors.clear()
        if runner is not None:
            await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        from aiohttp import web

        if not _from_here(request.headers.get("host", ""), request.headers.get("origin", "")):
            return web.Response(status=403)
        door = self._doors.get(request.match_info["path"])
        if door is None:
            return web.Response(status=404)
        door.reached.set()
        if request.method != "POST":
            # Neither a stream of the server's own messages nor sessions are offered.
            return web.Response(status=405, headers={"allow": "POST"})
        try:
            body = cast(JsonValue, await request.json())
        except ValueError:
            return web.json_response(unreadable(), status=400)
        found = await answer(body, door)
        return web.Response(status=202) if found is None else web.json_response(found)


def _from_here(host: str, origin: str) -> bool:
    """Whether a request comes from this machine and not from a foreign web page (DNS rebinding)."""
    try:
        named = [urlsplit(f"//{host}").hostname]
        named += [urlsplit(origin).hostname] if origin else []
    except ValueError:
        return False
    return all(name in _LOOPBACK for name in named)


def _limits(context: StepContext) -> Limits:
    started = (e.body for e in context.log if isinstance(e.body, TrialStarted))
    return next((body.limits for body in started), Limits())


class Toolbox(Protocol):
    """The tools that a server offers."""

    @property
    def tools(self) -> Sequence[ToolSpec]: ...

    async def call(self, call: ToolCall) -> ToolAnswer: ...


def unreadable() -> Message:
    return _error(None, _PARSE, "not JSON")


async def answer(body: JsonValue, toolbox: Toolbox) -> JsonValue:
    """The response to one JSON-RPC message or a batch of them; None if there is none to send."""
    if not isinstance(body, list):
        return await _answer(body, toolbox)
    answers = [found for one in body if (found := await _answer(one, toolbox)) is not None]
    return cast(JsonValue, answers) if answers else None


async def _answer(message: JsonValue, toolbox: Toolbox) -> Message | None:
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return _error(None, _INVALID, "not a JSON-RPC 2.0 message")
    id_, method = message.get("id"), message.get("method")
    if not isinstance(method, str) or "id" not in message:
        return None  # A notification, or an answer to what this server never asks.
    params = message.get("params")
    found = params if isinstance(params, dict) else {}
    match method:
        case "initialize":
            return _result(id_, _greeting(found))
        case "ping":
            return _result(id_, {})
        case "tools/list":
            return _result(id_, {"tools": [_listed(spec) for spec in toolbox.tools]})
        case "tools/call":
            return await _called(id_, found, toolbox)
        case _:
            return _error(id_, _NO_METHOD, f"no method {method}")


def _greeting(params: Mapping[str, JsonValue]) -> Message:
    wanted = params.get("protocolVersion")
    return {
        "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": SERVER_NAME, "version": __version__},
    }


def _listed(spec: ToolSpec) -> JsonValue:
    return {"name": spec.name, "description": spec.description, "inputSchema": spec.parameters}


async def _called(id_: JsonValue, params: Mapping[str, JsonValue], toolbox: Toolbox) -> Message:
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str):
        return _error(id_, _PARAMS, "the name of the tool is missing")
    broken = "" if isinstance(arguments, dict | None) else str(arguments)
    call = ToolCall(
        name=name, arguments=arguments if isinstance(arguments, dict) else {}, broken=broken
    )
    found = await toolbox.call(call)
    content: JsonValue = [{"type": "text", "text": found.text}]
    return _result(id_, {"content": content, "isError": not found.ok})


def _result(id_: JsonValue, result: JsonValue) -> Message:
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def _error(id_: JsonValue, code: int, message: str) -> Message:
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}
