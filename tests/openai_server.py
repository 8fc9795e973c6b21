"""A scripted OpenAI-compatible server on loopback: a real socket, replies made by a function.

    def script(request: Request) -> Reply:
        return calls(("search", {"query": "espresso"})) if request.number == 0 else text("Found it.")

    async with OpenAIServer(script) as server:   # in a test's own event loop
        ModelConfig(base_url=server.url, model="scripted")

    with running(script) as server:              # in a thread, for tests that are not async
        ...

`server.requests` logs every request that came.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Request:
    """`number` counts requests from 0, `connection` the connections that they came on."""

    number: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    connection: int = 0

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.body.get("messages", [])

    @property
    def last(self) -> dict[str, Any]:
        return self.messages[-1]

    @property
    def tools(self) -> list[str]:
        return [tool["function"]["name"] for tool in self.body.get("tools", [])]


@dataclass(frozen=True)
class Reply:
    """What goes over the wire. `chunks`: pieces sent one by one. `cut`: the socket is closed after
    the chunks without the end that the headers promised.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    chunks: Sequence[bytes] = ()
    cut: bool = False
    pause: float = 0.0


Script = Callable[[Request], "Reply | Awaitable[Reply]"]

USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def stream(
    *deltas: Mapping[str, Any],
    finish: str | None = "stop",
    usage: Mapping[str, Any] | None = USAGE,
    done: bool = True,
    cut: bool = False,
    pause: float = 0.0,
) -> Reply:
    """A stream of deltas; `finish=None`, `done=False` and `cut` each leave out a part of its end."""
    events = [event({"choices": [{"index": 0, "delta": delta}]}) for delta in deltas]
    if finish is not None:
        events.append(event({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}))
    if usage is not None:
        events.append(event({"choices": [], "usage": usage}))
    if done:
        events.append(b"data: [DONE]\n\n")
    return raw_stream(*events, cut=cut, pause=pause)


def event(data: Any) -> bytes:
    base = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "scripted-1"}
    return b"data: " + json.dumps({**base, **data}).encode() + b"\n\n"


def raw_stream(*chunks: bytes, cut: bool = False, pause: float = 0.0) -> Reply:
    headers = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
    return Reply(headers=headers, chunks=chunks, cut=cut, pause=pause)


def text(content: str, **more: Any) -> Reply:
    """A streamed text, in pieces of at most five characters."""
    pieces = [content[i : i + 5] for i in range(0, len(content), 5)] or [""]
    return stream({"role": "assistant", "content": ""}, *({"content": p} for p in pieces), **more)


def calls(*wanted: tuple[str, Any], content: str = "", **more: Any) -> Reply:
    """Streamed tool calls: (name, arguments), where text arguments go out as they are."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": content or None}]
    for index, (name, arguments) in enumerate(wanted):
        raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
        head = {"index": index, "id": f"c{index}", "type": "function"}
        deltas.append({"tool_calls": [{**head, "function": {"name": name, "arguments": ""}}]})
        deltas.extend(
            {"tool_calls": [{"index": index, "function": {"arguments": raw[i : i + 7]}}]}
            for i in range(0, len(raw), 7)
        )
    return stream(*deltas, **{"finish": "tool_calls", **more})


def whole(message: Mapping[str, Any], finish: str = "stop") -> Reply:
    """A completion in one piece, from a server that does not stream."""
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json_reply({"model": "scripted-1", "choices": [choice], "usage": USAGE})


def json_reply(data: Any, status: int = 200, **headers: str) -> Reply:
    return body_reply(json.dumps(data).encode(), "application/json", status, **headers)


def body_reply(body: bytes, kind: str, status: int = 200, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    head = {"content-type": kind, "content-length": str(len(body)), **named}
    return Reply(status=status, headers=head, chunks=(body,))


def error(status: int, message: str = "scripted failure", code: str = "", **headers: str) -> Reply:
    return json_reply({"error": {"message": message, "code": code or None}}, status, **headers)


def busy(retry_after: str = "0") -> Reply:
    return error(429, "slow down", retry_after=retry_after)


def drop() -> Reply:
    """The connection is closed without a word."""
    return Reply(status=0, cut=True)


class OpenAIServer:
    """`url` is the base URL of the API; `requests` the log. `in_flight`: requests that wait for their
    answer now, `peak` at most. Connections are kept alive, as real servers do; `answered` counts
    replies that went out whole.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[Request] = []
        self.url = ""
        self.connections = 0
        self.in_flight = 0
        self.peak = 0
        self.answered = 0
        self._news = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def arrived(self, count: int) -> None:
        """Wait until so many requests have come."""
        while len(self.requests) < count:
            self._news.clear()
            await self._news.wait()

    async def __aenter__(self) -> OpenAIServer:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"
        return self

    async def __aexit__(self, *exc: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        number, self.connections = self.connections, self.connections + 1
        try:
            while await self._serve(reader, writer, number):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # The client went away.
        except asyncio.CancelledError:
            pass  # The test is over.
        finally:
            self._open.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int
    ) -> bool:
        """Answer one request; whether another may follow on this connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        request = Request(
            number=len(self.requests),
            method=method,
            path=path,
            headers=headers,
            body=json.loads(body) if body else {},
            connection=connection,
        )
        self.requests.append(request)
        self._news.set()
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            reply = self.script(request)
            if isinstance(reply, Awaitable):
                reply = await reply
            return await self._send(writer, reply)
        finally:
            self.in_flight -= 1

    async def _send(self, writer: asyncio.StreamWriter, reply: Reply) -> bool:
        if reply.status == 0:
            return False
        chunked = reply.headers.get("transfer-encoding") == "chunked"
        keeps = not reply.cut and (chunked or "content-length" in reply.headers)
        lines = [f"HTTP/1.1 {reply.status} Scripted"]
        lines += [] if keeps else ["connection: close"]
        lines += [f"{name}: {value}" for name, value in reply.headers.items()]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        for chunk in reply.chunks:
            await writer.drain()
            if reply.pause:
                await asyncio.sleep(reply.pause)
            writer.write(b"%x\r\n%s\r\n" % (len(chunk), chunk) if chunked else chunk)
        if chunked and not reply.cut:
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        self.answered += not reply.cut
        return keeps


@contextlib.contextmanager
def running(script: Script) -> Iterator[OpenAIServer]:
    """The server on a thread of its own."""
    loop = asyncio.new_event_loop()
    server = OpenAIServer(script)
    thread = threading.Thread(target=loop.run_forever, name="openai-server", daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(10)
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
