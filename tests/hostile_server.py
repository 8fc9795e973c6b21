"""Model servers that misbehave, over real sockets on loopback: one mode each.

    async with HostileServer("delta_a_second", pace=0.02) as server:
        ModelConfig(base_url=server.url, model="m")

`python tests/hostile_server.py MODE [PACE]` prints its port and serves until it is killed. A mode is a
function that is given the connection after a request has been read, and writes whatever it likes. `pace`:
seconds between the drops of what trickles.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import sys
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

USAGE = {"prompt_tokens": 11, "completion_tokens": 7}
HUGE = 300_000_000
BLOCK = b"x" * 65_536


class Connection:
    """One request that came, and the socket to answer it on. `stream`: what the request asked for."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: Any, pace: float
    ) -> None:
        self.reader = reader
        self.writer = writer
        self.stream = bool(body.get("stream"))
        self.pace = pace

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def head(self, status: int = 200, kind: str = "", *more: str) -> None:
        kind = kind or ("text/event-stream" if self.stream else "application/json")
        lines = [f"HTTP/1.1 {status} Hostile", f"content-type: {kind}", *more]
        await self.send(("\r\n".join(lines) + "\r\nconnection: close\r\n\r\n").encode("latin-1"))

    async def drip(self, data: Iterable[bytes]) -> None:
        """Piece after piece, slowly; for ever, if there is no end to them."""
        for piece in data:
            await self.send(piece)
            await asyncio.sleep(self.pace)

    async def hang(self) -> None:
        await asyncio.sleep(86_400)

    async def flood(self, piece: bytes, most: int = 10**12) -> None:
        """The same again and again, as fast as it is taken."""
        block = piece * max(1, 65_536 // len(piece))
        sent = 0
        while sent < most:
            await self.send(block)
            sent += len(block)

    async def whole(self, message: Any, finish: Any = "stop", **more: Any) -> None:
        """One completion, in the form that was asked for."""
        if self.stream:
            await self.head()
            await self.send(chunk(message) + chunk({}, finish, **more) + b"data: [DONE]\n\n")
        else:
            await self.document(completion(message, finish, **more))

    async def document(self, body: bytes, status: int = 200, *more: str) -> None:
        await self.head(status, "application/json", f"content-length: {len(body)}", *more)
        await self.send(body)


Mode = Callable[[Connection], Awaitable[None]]
MODES: dict[str, Mode] = {}


def mode(function: Mode) -> Mode:
    MODES[function.__name__] = function  # type: ignore[attr-defined]
    return function


def chunk(delta: Any, finish: Any = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"model": "h", "choices": [choice], **more}).encode() + b"\n\n"


def completion(message: Any, finish: Any = "stop", **more: Any) -> bytes:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    data = {"model": "h", "choices": [choice], "usage": USAGE, **more}
    return json.dumps(data).encode()


def call(arguments: Any, name: str = "search", **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{"function": {"name": name, "arguments": arguments}, **more}]}


def one_by_one(text: bytes) -> list[bytes]:
    return [text[n : n + 1] for n in range(len(text))]


def for_ever(piece: bytes) -> Iterable[bytes]:
    while True:
        yield piece


# What trickles, hangs or never ends.


async def trickle(link: Connection, delta: Any) -> None:
    """A delta at a time; without a stream, the document a byte at a time."""
    await link.head()
    if link.stream:
        await link.drip(for_ever(chunk(delta)))
    await link.drip(one_by_one(completion({"content": "x" * 100_000})))


@mode
async def delta_a_second(link: Connection) -> None:
    await trickle(link, {"content": "x"})


@mode
async def empty_deltas(link: Connection) -> None:
    await trickle(link, {"content": ""})


@mode
async def role_deltas(link: Connection) -> None:
    await trickle(link, {"role": "assistant"})


@mode
async def reasoning_a_second(link: Connection) -> None:
    await trickle(link, {"reasoning_content": "x"})


@mode
async def arguments_a_second(link: Connection) -> None:
    await trickle(link, call("x", index=0, id="c"))


@mode
async def pings(link: Connection) -> None:
    await link.head(200, "text/event-stream")
    await link.drip(for_ever(b": still here\n\n"))


@mode
async def silence(link: Connection) -> None:
    await link.hang()


@mode
async def silence_after_the_head(link: Connection) -> None:
    await link.head()
    await link.hang()


@mode
async def status_line_by_bytes(link: Connection) -> None:
    await link.drip(one_by_one(b"HTTP/1.1 200 OK" + b"K" * 100_000))


@mode
async def header_by_bytes(link: Connection) -> None:
    await link.send(b"HTTP/1.1 200 OK\r\nx-slow: ")
    await link.drip(for_ever(b"x"))


@mode
async def header_a_second(link: Connection) -> None:
    await link.send(b"HTTP/1.1 200 OK\r\n")
    await link.drip(for_ever(b"x-one-more: header\r\n"))


@mode
async def body_by_bytes(link: Connection) -> None:
    await link.head()
    await link.drip(one_by_one(chunk({"content": "x" * 100_000})))


@mode
async def chunk_size_by_bytes(link: Connection) -> None:
    await link.head(200, "", "transfer-encoding: chunked")
    await link.drip(for_ever(b"0"))


@mode
async def no_end_after_the_end(link: Connection) -> None:
    await link.head(200, "text/event-stream")
    await link.send(chunk({"content": "Done."}, "stop"))
    await link.drip(for_ever(b": still here\n\n"))


@mode
async def refusal_by_bytes(link: Connection) -> None:
    await link.head(500, "text/plain")
    await link.drip(for_ever(b"x"))


@mode
async def refused_key_by_bytes(link: Connection) -> None:
    await link.head(401, "text/plain")
    await link.drip(for_ever(b"x"))


# What comes in floods.


@mode
async def header_flood(link: Connection) -> None:
    await link.send(b"HTTP/1.1 200 OK\r\n")
    await link.flood(b"x-one-more: header\r\n")


@mode
async def endless_header(link: Connection) -> None:
    await link.send(b"HTTP/1.1 200 OK\r\nx-long: ")
    await link.flood(BLOCK)


@mode
async def endless_status_line(link: Connection) -> None:
    await link.send(b"HTTP/1.1 200 ")
    await link.flood(BLOCK)


@mode
async def continue_flood(link: Connection) -> None:
    await link.flood(b"HTTP/1.1 100 Continue\r\n\r\n")


@mode
async def early_hints_flood(link: Connection) -> None:
    await link.flood(b"HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n")


@mode
async def many_cookies(link: Connection) -> None:
    cookies = [f"set-cookie: c{n}={'x' * 4000}; Path=/" for n in range(100)]
    await link.head(200, "", *cookies)
    await link.send(
        chunk({"content": "Hi"}, "stop") if link.stream else completion({"content": "Hi"})
    )


@mode
async def refusal_of_300_mb(link: Connection) -> None:
    await link.head(500, "application/json", f"content-length: {HUGE}")
    await link.flood(BLOCK, HUGE)


@mode
async def bad_request_of_300_mb(link: Connection) -> None:
    await link.head(400, "application/json")
    await link.flood(b'{"error": {"message": "', HUGE)


@mode
async def packed_refusal(link: Connection) -> None:
    await link.head(500, "application/json", "content-encoding: gzip")
    await link.send(bomb(b"x"))


@mode
async def endless_document(link: Connection) -> None:
    await link.head(200, "application/json")
    await link.send(b'{"choices": [{"message": {"content": "')
    await link.flood(BLOCK)


@mode
async def endless_line(link: Connection) -> None:
    await link.head(200, "text/event-stream")
    await link.send(b"data: ")
    await link.flood(BLOCK)


@mode
async def endless_event(link: Connection) -> None:
    await link.head(200, "text/event-stream")
    await link.flood(b"data: xxxx\n")


@mode
async def event_of_empty_lines(link: Connection) -> None:
    await link.head(200, "text/event-stream")
    await link.flood(b"data:\n")


@mode
async def comment_flood(link: Connection) -> None:
    await link.head(200, "text/event-stream")
    await link.flood(b": ping\n\n")


@mode
async def empty_delta_flood(link: Connection) -> None:
    await link.head(200, "text/event-stream")
    await link.flood(chunk({"content": ""}))


@mode
async def text_flood(link: Connection) -> None:
    await link.head(200, "text/event-stream")
    await link.flood(chunk({"content": "磨豆" * 5_000}))


@mode
async def character_flood(link: Connection) -> None:
    await link.head(200, "text/event-stream")
    await link.flood(chunk({"content": "豆"}))


@mode
async def reasoning_flood(link: Connection) -> None:
    await link.head(200, "text/event-stream")
    await link.flood(chunk({"reasoning": "x" * 1_000}))


@mode
async def blank_flood(link: Connection) -> None:
    await link.head()
    await link.flood(b" " * 1_000)


@mode
async def endless_chunk_extension(link: Connection) -> None:
    await link.head(200, "", "transfer-encoding: chunked")
    await link.send(b"5;")
    await link.flood(BLOCK)


@mode
async def endless_trailers(link: Connection) -> None:
    await link.head(200, "", "transfer-encoding: chunked")
    await link.send(b"2\r\n{}\r\n0\r\n")
    await link.flood(b"x-trailer: more\r\n")


def bomb(piece: bytes) -> bytes:
    """Two hundred megabytes in two hundred kilobytes, without the end."""
    pack = zlib.compressobj(1, zlib.DEFLATED, 31)
    block = piece * 1_000_000
    first = pack.compress(block) + pack.flush(zlib.Z_FULL_FLUSH)
    return first + (pack.compress(block) + pack.flush(zlib.Z_FULL_FLUSH)) * 200


@mode
async def packed_document(link: Connection) -> None:
    await link.head(200, "application/json", "content-encoding: gzip")
    await link.send(bomb(b"{"))


@mode
async def packed_stream(link: Connection) -> None:
    await link.head(200, "text/event-stream", "content-encoding: gzip")
    await link.send(bomb(b":"))


@mode
async def packed_twice(link: Connection) -> None:
    await link.head(200, "application/json", "content-encoding: gzip, gzip")
    await link.send(gzip.compress(bomb(b" ")))


@mode
async def not_packed_at_all(link: Connection) -> None:
    await link.document(completion({"content": "Hi"}), 200, "content-encoding: gzip")


@mode
async def packed_by_unknown_means(link: Connection) -> None:
    await link.document(completion({"content": "Hi"}), 200, "content-encoding: zlub")


# What is too large, too deep or too many.


@mode
async def many_choices(link: Connection) -> None:
    choices = ",".join(['{"delta":{}}' if link.stream else '{"message":{}}'] * 400_000)
    body = f'{{"choices": [{choices}]}}'.encode()
    await link.head()
    await link.send(b"data: " + body + b"\n\n" if link.stream else body)


@mode
async def nested_document(link: Connection) -> None:
    body = b'{"choices": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    await link.head()
    await link.send(b"data: " + body + b"\n\n" if link.stream else body)


@mode
async def wide_document(link: Connection) -> None:
    body = b'{"x": [' + b"[]," * 2_600_000 + b"[]]}"
    await link.head()
    await link.send(b"data: " + body + b"\n\n" if link.stream else body)


async def flood_of_calls(link: Connection, calls: list[dict[str, Any]]) -> None:
    if link.stream:
        await link.head()
        for each in calls:
            await link.send(chunk({"tool_calls": [each]}))
        await link.send(chunk({}, "tool_calls") + b"data: [DONE]\n\n")
    else:
        await link.document(completion({"tool_calls": calls}, "tool_calls"))


def calls_of(count: int, arguments: str, **fixed: Any) -> list[dict[str, Any]]:
    made = [
        {"index": n, "id": f"c{n}", "function": {"name": "search", "arguments": arguments}, **fixed}
        for n in range(count)
    ]
    return [{key: value for key, value in each.items() if value is not None} for each in made]


@mode
async def call_flood(link: Connection) -> None:
    await flood_of_calls(link, calls_of(20_000, '{"query": "x"}'))


@mode
async def call_flood_without_index(link: Connection) -> None:
    await flood_of_calls(link, calls_of(20_000, '{"query": "x"}', index=None))


@mode
async def call_flood_of_one_index(link: Connection) -> None:
    await flood_of_calls(link, calls_of(20_000, '{"query": "x"}', index=0, id=None))


@mode
async def duplicate_ids(link: Connection) -> None:
    await flood_of_calls(link, calls_of(300, '{"query": "x"}', id="same"))


@mode
async def name_in_each_piece(link: Connection) -> None:
    await flood_of_calls(link, calls_of(20_000, '{"a": [{},{},{}],', index=0, id="c"))


@mode
async def broken_arguments(link: Connection) -> None:
    await flood_of_calls(link, calls_of(400, '{"query": [' + '{"a" "b" ,' * 400))


@mode
async def huge_arguments(link: Connection) -> None:
    await flood_of_calls(link, calls_of(1, json.dumps({"query": "x" * 3_000_000})))


@mode
async def nested_arguments(link: Connection) -> None:
    await flood_of_calls(link, calls_of(3, '{"query": ' + "[" * 5_000 + "]" * 5_000 + "}"))


@mode
async def long_name(link: Connection) -> None:
    await link.whole(call("{}", "search" * 100_000, index=0, id="c"))


@mode
async def long_model_name(link: Connection) -> None:
    await link.whole({"content": "Hi"}, "stop" * 100_000, model="m" * 1_000_000)


@mode
async def huge_usage(link: Connection) -> None:
    usage = {"prompt_tokens": 10**40, "completion_tokens": -5, "prompt_tokens_details": [1]}
    await link.whole({"content": "Hi"}, usage=usage)


@mode
async def number_of_5000_digits(link: Connection) -> None:
    digits = b'{"usage": {"prompt_tokens": ' + b"9" * 5_000 + b"}}"
    await link.head()
    await link.send(b"data: " + digits + b"\n\n" if link.stream else digits)


@mode
async def thoughts_in_tags(link: Connection) -> None:
    await link.whole({"content": "<think></think>" * 100_000 + "Hi"})


@mode
async def openers(link: Connection) -> None:
    await link.whole({"content": '{"name": ' * 100_000 + "[" * 200_000})


# What is not what it should be.


@mode
async def nan_everywhere(link: Connection) -> None:
    arguments = '{"query": NaN, "topn": Infinity}'
    await link.whole({"content": "Hi", **call(arguments, index=0, id="c")})


@mode
async def invalid_utf8(link: Connection) -> None:
    body = b'{"choices": [{"message": {"content": "\xff\xfe\xc3("}}]}'
    await link.head()
    await link.send(b"data: " + body + b"\n\n" if link.stream else body)


@mode
async def lone_surrogates(link: Connection) -> None:
    await link.whole(
        {"content": "a\ud83d b\udc00 \x00", **call('{"query": "\ud800"}', id="\udfff")}
    )


@mode
async def malformed_events(link: Connection) -> None:
    await link.head(200, "text/event-stream")
    await link.send(b'\xef\xbb\xbfdata data: {\r\r\n\nevent\n\ndata: {"choices": [{\n\ndata: }\n\n')


@mode
async def web_page(link: Connection) -> None:
    await link.head(200, "text/html")
    await link.send(b"<html>" + b"<p>welcome" * 100_000)


@mode
async def image(link: Connection) -> None:
    await link.head(200, "image/png")
    await link.send(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 1_000)


@mode
async def empty_choices(link: Connection) -> None:
    body = b'{"choices": [], "usage": {"prompt_tokens": 1}}'
    await link.head()
    await link.send(b"data: " + body + b"\n\n" if link.stream else body)


@mode
async def null_everywhere(link: Connection) -> None:
    body = b'{"choices": [null, {"message": null, "delta": null}], "usage": null, "model": null}'
    await link.head()
    await link.send(b"data: " + body + b"\n\ndata: null\n\n" if link.stream else body)


@mode
async def error_in_the_middle(link: Connection) -> None:
    await link.head(200, "text/event-stream")
    await link.send(
        chunk({"content": "Half"}) + b'data: {"error": ' + b'{"x": ' * 100 + b"1" + b"}" * 101
    )
    await link.send(b"\n\n")
    await link.hang()


@mode
async def length_too_long(link: Connection) -> None:
    await link.head(200, "application/json", "content-length: 100000")
    await link.send(completion({"content": "Hi"}))


@mode
async def length_too_short(link: Connection) -> None:
    await link.head(200, "application/json", "content-length: 20")
    await link.send(completion({"content": "Hi"}))


@mode
async def length_of_nonsense(link: Connection) -> None:
    await link.head(200, "application/json", "content-length: -1", "content-length: 7e9")
    await link.send(completion({"content": "Hi"}))


@mode
async def broken_chunks(link: Connection) -> None:
    await link.head(200, "", "transfer-encoding: chunked")
    await link.send(b"zz\r\n{}\r\n-5\r\n")
    await link.hang()


@mode
async def closed_by_half(link: Connection) -> None:
    await link.head()
    link.writer.write_eof()
    await link.hang()


@mode
async def reset_in_the_middle(link: Connection) -> None:
    await link.head()
    await link.send(b"data: {")
    link.writer.transport.abort()


@mode
async def two_answers_at_once(link: Connection) -> None:
    body = completion({"content": "Hi"})
    for _ in range(2):
        await link.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
        await link.send(b"content-length: %d\r\n\r\n%s" % (len(body), body))
    await link.hang()


@mode
async def no_http(link: Connection) -> None:
    await link.send(b"\x15\x03\x01\x00\x02\x02\x46 220 mail.example.org ready\r\n" * 100)


@mode
async def switching_protocols(link: Connection) -> None:
    await link.send(b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n")
    await link.flood(BLOCK, 50_000_000)


@mode
async def no_content(link: Connection) -> None:
    await link.send(b"HTTP/1.1 204 No Content\r\n\r\n")
    await link.hang()


@mode
async def status_999(link: Connection) -> None:
    await link.document(b"{}", 999)


@mode
async def redirect_to_itself(link: Connection) -> None:
    await link.head(302, "", "location: /v1/chat/completions", "content-length: 0")


@mode
async def redirect_elsewhere(link: Connection) -> None:
    await link.head(307, "", "location: http://169.254.169.254/" + "x" * 5_000, "content-length: 0")


async def wait_for(link: Connection, value: str, status: int = 429) -> None:
    await link.document(b'{"error": "slow down"}', status, f"retry-after: {value}")


@mode
async def wait_an_hour(link: Connection) -> None:
    await wait_for(link, "3600")


@mode
async def wait_until_tomorrow(link: Connection) -> None:
    await wait_for(link, format_datetime(datetime.now(UTC) + timedelta(days=1)), 503)


@mode
async def wait_for_ever(link: Connection) -> None:
    await wait_for(link, "1e308")


@mode
async def wait_for_nonsense(link: Connection) -> None:
    await wait_for(link, "after lunch")


@mode
async def wait_before_now(link: Connection) -> None:
    await wait_for(link, "-7", 500)


class HostileServer:
    """`url` is the base URL of the API; `requests` counts those that came."""

    def __init__(self, name: str, pace: float = 1.0) -> None:
        self._mode = MODES[name]
        self._pace = pace
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self.requests = 0
        self.url = ""

    async def __aenter__(self) -> HostileServer:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    async def __aexit__(self, *exc: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            async for body in _requests(reader):
                self.requests += 1
                await self._mode(Connection(reader, writer, body, self._pace))
                break
        except (OSError, asyncio.CancelledError):
            pass  # The client has had enough, or the test is over.
        finally:
            self._open.discard(task)
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()


async def _requests(reader: asyncio.StreamReader) -> AsyncIterator[Any]:
    with contextlib.suppress(asyncio.IncompleteReadError):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0] or 0)
            body = await reader.readexactly(length)
            yield json.loads(body) if body else {}


async def _serve(name: str, pace: float) -> None:
    async with HostileServer(name, pace) as server:
        print(server.url.split(":")[2].partition("/")[0], flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1.0))
