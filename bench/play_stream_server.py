"""A model that streams, for `play_stream.py`: raw sockets, one event a token.

python bench/play_stream_server.py      prints its port, then a line `begun N TIME` when it has written the
first token of reply N and `ended N TIME` after the last, on the clock that all processes share

A number on its input is how many tokens the replies from then on have.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time

RATE = 2_000
STEP = 0.005
FILLING = """
## What is known

The **first** machine was patented in 1884 by *Angelo Moriondo* of Turin ([the patent](https://example.org/p)).

- It heated water with steam, `1.5` bar.
- Others followed:
  1. Bezzera, in 1901
  2. Pavoni, who bought the patent

| Year | Who | What |
|-----:|-----|------|
| 1884 | Moriondo | the first patent |
| 1901 | Bezzera | single cups, 一杯 |

> The coffee of the moment, served in the moment.

"""
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def event(delta: dict[str, object], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    data = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "bench"}
    body = b"data: " + json.dumps({**data, "choices": [choice]}).encode() + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(body), body)


class Model:
    def __init__(self) -> None:
        self._replies = 0
        self._count = 300
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for line in sys.stdin:
            self._count = int(line)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                length = int(head.partition("content-length:")[2].split("\r\n", 1)[0] or 0)
                await reader.readexactly(length)
                await self._stream(writer, self._count)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _stream(self, writer: asyncio.StreamWriter, count: int) -> None:
        number, self._replies = self._replies, self._replies + 1
        writer.write(HEAD + event({"role": "assistant", "content": ""}))
        await writer.drain()
        await asyncio.sleep(0.2)
        begun = time.perf_counter()
        writer.write(event({"content": f"First{number}words "}))
        await writer.drain()
        print(f"begun {number} {begun:.6f}", flush=True)
        sent = 1
        while sent < count:
            await asyncio.sleep(STEP)
            due = min(count, int((time.perf_counter() - begun) * RATE))
            pieces = (FILLING[4 * n % len(FILLING) :][:4] for n in range(sent, due))
            writer.write(b"".join(event({"content": piece}) for piece in pieces))
            await writer.drain()
            sent = max(sent, due)
        writer.write(event({"content": f"\n\nLast{number}words"}) + event({}, "stop"))
        done = b"data: [DONE]\n\n"
        writer.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(done), done))
        await writer.drain()
        print(f"ended {number} {time.perf_counter():.6f}", flush=True)


async def main() -> None:
    server = await asyncio.start_server(Model().serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
