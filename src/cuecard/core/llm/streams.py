"""Reads the body of a server's answer into a reply: server-sent events, or one piece of JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from cuecard.core.i18n import _
from cuecard.core.llm.replies import Assembler, Malformed, WebPage
from cuecard.core.validation import TooLarge, check_bytes, client_error, read_body, read_json

if TYPE_CHECKING:
    from aiohttp import ClientResponse

# Bytes of memory per line beside its text, since an event may consist of very many empty lines.
_A_LINE = 40
_BOM = b"\xef\xbb\xbf"


class Events:
    """Parses server-sent events: it is fed bytes and gives the data of each complete event as lines.

    Comments and fields other than `data` are left out. Lines may end in LF, CR or both.
    """

    def __init__(self) -> None:
        self._begun: list[bytes] = []
        self._size = self._event = 0
        self._after_cr = False
        self._first = True
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> Iterator[list[bytes]]:
        """The events that `piece` completes. Raises `TooLarge`."""
        if self._after_cr and piece:
            piece, self._after_cr = piece.removeprefix(b"\n"), False
        self._size += len(piece)
        check_bytes(self._size + self._event)
        if b"\n" not in piece and b"\r" not in piece:
            self._begun.append(piece)
            return
        self._after_cr = piece.endswith(b"\r")
        lines = b"".join((*self._begun, piece)).splitlines(keepends=True)
        last = b"" if lines[-1].endswith((b"\n", b"\r")) else lines.pop()
        self._begun, self._size = [last], len(last)
        for line in lines:
            yield from self._line(line.rstrip(b"\r\n"))

    def end(self) -> Iterator[list[bytes]]:
        """The event that was incomplete when the stream ended, if any."""
        rest, self._begun = b"".join(self._begun), []
        yield from self._line(rest)
        yield from self._line(b"")

    def _line(self, line: bytes) -> Iterator[list[bytes]]:
        if self._first:
            line, self._first = line.removeprefix(_BOM), False
        if not line:
            data, self._data, self._event = self._data, [], 0
            if data:
                yield data
            return
        field, _colon, value = line.partition(b":")
        if field == b"data":
            self._data.append(value.removeprefix(b" "))
            self._event += len(value) + _A_LINE


# After its end mark, a stream should be over; waiting for that keeps the connection usable.
_GRACE_SECONDS = 1.0
# Seconds to wait between the end of a reply's text and the count of its tokens.
_TAIL_SECONDS = 5.0


async def read_answer(response: ClientResponse, assembler: Assembler) -> bool:
    """Read the reply into `assembler`; returns whether it came as a stream.

    That is decided by how the body begins, not by the request: some servers cannot stream, others always do. Raises `Malformed`, `TooLarge`, `ServerFailure`, and what the connection raises.
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
        # The reply is complete: it does not matter how the connection ended.
        if not assembler.complete:
            raise
        return
    for data in events.end():
        if _take(data, assembler):
            return


def _take(lines: list[bytes], assembler: Assembler) -> bool:
    """Add one event; returns whether it was the end mark."""
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
    except TooLarge:
        raise
    except UnicodeDecodeError:
        raise Malformed(_("it is not valid UTF-8")) from None
    except ValueError:
        raise Malformed(_("it is not valid JSON")) from None
