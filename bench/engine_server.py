"""A model server for the engine's bench: raw sockets, one fixed answer after a fixed time.

python bench/engine_server.py SECONDS      prints its port, then serves until it is killed
"""

from __future__ import annotations

import asyncio
import json
import sys

WORDS = "The rail ferry crosses the strait twice a night and carries eight coaches. " * 5
ANSWER = WORDS + '\n[{"head": "Ferry", "relation": "carries", "tail": "coaches"}]'
BODY = json.dumps(
    {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "bench",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": ANSWER},
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 90, "total_tokens": 190},
    }
).encode()
RESPONSE = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
    + str(len(BODY)).encode()
    + b"\r\n\r\n"
    + BODY
)


def _streamed() -> bytes:
    """The same answer as ninety pieces and a count, each an event and a chunk of its own."""
    size = len(ANSWER) // 90 + 1
    pieces = [ANSWER[n : n + size] for n in range(0, len(ANSWER), size)]
    base = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "bench"}
    deltas = [{"role": "assistant", "content": ""}, *({"content": piece} for piece in pieces)]
    events = [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    events.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    usage = {"prompt_tokens": 100, "completion_tokens": 90, "total_tokens": 190}
    events.append({**base, "choices": [], "usage": usage})
    data = [b"data: " + json.dumps(event).encode() + b"\n\n" for event in events]
    chunks = [b"%x\r\n%b\r\n" % (len(each), each) for each in (*data, b"data: [DONE]\n\n")]
    head = (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    return head + b"".join(chunks) + b"0\r\n\r\n"


STREAMED = _streamed()


class Answering(asyncio.Protocol):
    """One connection; requests one after another, as HTTP clients without pipelining send them."""

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, blank, rest = self._buffer.partition(b"\r\n\r\n")
        if not blank:
            return
        low = head.lower()
        at = low.find(b"content-length:")
        length = int(low[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(rest) < length:
            return
        self._buffer = rest[length:]
        streams = b'"stream":true' in rest[:length].replace(b": ", b":")
        answer = STREAMED if streams else RESPONSE
        asyncio.get_running_loop().call_later(self._delay, self._answer, answer)

    def _answer(self, answer: bytes) -> None:
        if self._transport and not self._transport.is_closing():
            self._transport.write(answer)


async def serve(delay: float) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Answering(delay), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
