"""A scriptable loopback web server: search engines and pages of any kind, over real sockets.

def script(request: Asked) -> Answer:
    return page("<p>Hello</p>") if request.path == "/" else Answer(404)

async with WebServer(script) as server:
    server.url, server.asked
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Asked:
    """`number` counts requests from 0."""

    number: int
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    """`chunks` are sent one by one, `pause` seconds apart, `repeat` times over; `cut`: the connection
    ends without what `content-length` promised. Status 0: nothing is answered.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    chunks: Sequence[bytes] = ()
    pause: float = 0.0
    repeat: int = 1
    cut: bool = False


Script = Callable[[Asked], Answer]


def page(body: str | bytes, kind: str = "text/html; charset=utf-8", **headers: str) -> Answer:
    data = body.encode() if isinstance(body, str) else body
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(200, {"content-type": kind, **named}, (data,))


def data(value: Any, status: int = 200, **headers: str) -> Answer:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Answer(
        status, {"content-type": "application/json", **named}, (json.dumps(value).encode(),)
    )


def moved(target: str, status: int = 302) -> Answer:
    return Answer(status, {"location": target})


class WebServer:
    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[Asked] = []
        self.url = ""
        self.port = 0
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> WebServer:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
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
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # The client went away.
        except asyncio.CancelledError:
            pass  # The test is over.
        finally:
            self._open.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines)}
        parts = urlsplit(target)
        asked = Asked(
            number=len(self.asked),
            method=method,
            path=parts.path,
            query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            headers=headers,
            body=await reader.readexactly(int(headers.get("content-length", "0"))),
        )
        self.asked.append(asked)
        answer = self.script(asked)
        if answer.status == 0:
            return
        size = sum(map(len, answer.chunks)) * answer.repeat + (100 if answer.cut else 0)
        named = {"content-length": str(size), "connection": "close", **answer.headers}
        lines = [f"HTTP/1.1 {answer.status} Scripted", *(f"{k}: {v}" for k, v in named.items())]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        for _ in range(answer.repeat):
            for chunk in answer.chunks:
                writer.write(chunk)
                await writer.drain()
                if answer.pause:
                    await asyncio.sleep(answer.pause)
