"""Reading an HTTP response: a stream of chunks or one whole completion, whichever was asked for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from cuecard.core.i18n import _
from cuecard.core.llm.assemble import Assembler, Malformed
from cuecard.core.llm.sse import MAX_BYTES, Events, TooLong

if TYPE_CHECKING:
    from aiohttp import ClientResponse

_MAX_REFUSAL = 100_000
# After its end mark, a stream should be over; waiting for that keeps the connection usable.
_GRACE_SECONDS = 1.0
# A server may say for so many time limits that it is still there, without a word of the reply.
_PATIENCE = 10


class WebPage(Malformed):
    """The address answers with a page for people."""


async def read_answer(response: ClientResponse, assembler: Assembler, silence: float) -> bool:
    """Read the reply into `assembler`; whether it came as a stream.

    `silence`: seconds that are allowed between two pieces. What the body begins with decides, not
    what was asked for: some servers cannot stream, others do nothing else. Raises `Malformed`, `ServerSaid`, and what the connection raises.
    """
    if response.content_type == "text/html":
        raise WebPage(_("the address answers with a web page"))
    body = response.content
    head = b""
    while not head.strip() and not body.at_eof():
        head += await body.readany()
        _check_size(len(head))
    start = head.lstrip()[:1]
    if start in (b"{", b"["):
        assembler.add_whole(_json(await _whole(response, head)))
        return False
    if start not in (b"", b"d", b":", b"e", b"i", b"r", b"\xef"):
        # Not one of the words that a stream can begin with.
        raise Malformed(_("it is not valid JSON"))
    await _stream(response, head, assembler, silence)
    return True


async def read_refusal(response: ClientResponse) -> bytes:
    """The beginning of what a server says to explain a status."""
    said = b""
    try:
        while len(said) < _MAX_REFUSAL and (piece := await response.content.readany()):
            said += piece
    except (OSError, ValueError, _client_error()):
        pass  # The status alone says enough.
    return said[:_MAX_REFUSAL]


def _client_error() -> type[Exception]:
    from aiohttp import ClientError

    return ClientError


async def _whole(response: ClientResponse, head: bytes) -> bytes:
    pieces, size = [head], len(head)
    while piece := await response.content.readany():
        pieces.append(piece)
        size += len(piece)
        _check_size(size)
    return b"".join(pieces)


async def _stream(
    response: ClientResponse, head: bytes, assembler: Assembler, silence: float
) -> None:
    events, piece, body = Events(), head, response.content
    clock = asyncio.get_running_loop().time
    deadline = clock() + silence * _PATIENCE
    try:
        while piece:
            for data in events.feed(piece):
                deadline = clock() + silence * _PATIENCE
                if _take(data, assembler):
                    await _drain(response)
                    return
            if clock() > deadline:
                raise TimeoutError
            piece = await body.readany()
    except TooLong:
        raise Malformed(_("the reply is longer than {n} characters").format(n=MAX_BYTES)) from None
    except _client_error():
        # All was said: it does not matter how the connection ended.
        if not assembler.complete:
            raise
        return
    for data in events.end():
        if _take(data, assembler):
            return


def _take(lines: list[bytes], assembler: Assembler) -> bool:
    """Add one event; whether it was the end mark."""
    for chunk in _chunks(lines):
        if chunk.strip() == b"[DONE]":
            assembler.end()
            return True
        if chunk.strip():
            assembler.add(_json(chunk))
    return False


def _chunks(lines: list[bytes]) -> Iterable[bytes]:
    if len(lines) == 1:
        return lines
    # Chunks over several lines are legal, and so is nothing that servers send without blank lines.
    joined = b"\n".join(lines)
    try:
        json.loads(joined)
    except (ValueError, RecursionError):
        return lines
    return [joined]


async def _drain(response: ClientResponse) -> None:
    if response.content.at_eof():
        return
    try:
        async with asyncio.timeout(_GRACE_SECONDS):
            while await response.content.readany():
                pass
    except (OSError, ValueError, _client_error()):
        pass  # The connection will not be used again.


def _check_size(size: int) -> None:
    if size > MAX_BYTES:
        raise Malformed(_("the reply is longer than {n} characters").format(n=MAX_BYTES))


def _json(data: bytes) -> object:
    try:
        return json.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise Malformed(_("it is not valid UTF-8")) from None
    except (ValueError, RecursionError):
        raise Malformed(_("it is not valid JSON")) from None
