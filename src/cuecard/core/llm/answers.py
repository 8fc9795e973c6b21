"""Reading an HTTP response: a stream of chunks or one whole completion, whichever was asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from cuecard.core.http_bodies import TooMuch, check_bytes, client_error, read_body, read_json
from cuecard.core.i18n import _
from cuecard.core.llm.assemble import Assembler, Malformed
from cuecard.core.llm.sse import Events

if TYPE_CHECKING:
    from aiohttp import ClientResponse

# After its end mark, a stream should be over; waiting for that keeps the connection usable.
_GRACE_SECONDS = 1.0
# Between the last word of a reply and the count of its tokens.
_TAIL_SECONDS = 5.0


class WebPage(Malformed):
    """The address answers with a page for people."""


async def read_answer(response: ClientResponse, assembler: Assembler) -> bool:
    """Read the reply into `assembler`; whether it came as a stream.

    What the body begins with decides, not what was asked for: some servers cannot stream, others do
    nothing else. Raises `Malformed`, `TooMuch`, `ServerSaid`, and what the connection raises.
    """
    if response.content_type == "text/html":
        raise WebPage(_("the address answers with a web page"))
    body, head, blank = response.content, b"", 0
    while not head and not body.at_eof():
        piece = await body.readany()
        head = piece.lstrip()
        blank += len(piece) - len(head)
        check_bytes(blank)
    start = head[:1]
    if start in (b"{", b"["):
        assembler.add_whole(_json(await read_body(response, head)))
        return False
    if start not in (b"", b"d", b":", b"e", b"i", b"r", b"\xef"):
        # Not one of the words that a stream can begin with.
        raise Malformed(_("it is not valid JSON"))
    await _stream(response, head, assembler)
    return True


async def _stream(response: ClientResponse, head: bytes, assembler: Assembler) -> None:
    events, piece, body = Events(), head, response.content
    try:
        async with asyncio.timeout(None) as tail:
            while piece:
                for data in events.feed(piece):
                    if _take(data, assembler):
                        await _drain(response)
                        return
                if assembler.complete and tail.when() is None:
                    tail.reschedule(asyncio.get_running_loop().time() + _TAIL_SECONDS)
                piece = await body.readany()
    except (TimeoutError, client_error()):
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
        read_json(joined)
    except ValueError:
        return lines
    return [joined]


async def _drain(response: ClientResponse) -> None:
    if response.content.at_eof():
        return
    try:
        async with asyncio.timeout(_GRACE_SECONDS):
            while await response.content.readany():
                pass
    except (OSError, ValueError, client_error()):
        pass  # The connection will not be used again.


def _json(data: bytes) -> object:
    try:
        return read_json(data)
    except TooMuch:
        raise
    except UnicodeDecodeError:
        raise Malformed(_("it is not valid UTF-8")) from None
    except ValueError:
        raise Malformed(_("it is not valid JSON")) from None
