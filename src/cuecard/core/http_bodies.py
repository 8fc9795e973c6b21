"""What a server answers over HTTP, read within bounds: for every call that leaves the program."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from cuecard.core.i18n import _

if TYPE_CHECKING:
    from aiohttp import ClientResponse

MOST_BYTES = 8_000_000
"""Of one answer in one piece, unpacked; of one event of a stream."""
_MOST_VALUES = 500_000
_REFUSAL_BYTES = 100_000
_REFUSAL_SECONDS = 3.0
_PACKED = 65_536


class TooMuch(ValueError):
    """An answer holds more than any answer may; the message says what of."""


async def read_body(response: ClientResponse, head: bytes = b"", most: int = MOST_BYTES) -> bytes:
    """The whole body, of which `head` was read before. Raises `TooMuch`, and what the connection raises."""
    body = bytearray(head)
    while piece := await response.content.readany():
        body += piece
        check_bytes(len(body), most)
    return bytes(body)


async def read_refusal(response: ClientResponse, patience: float) -> bytes:
    """The beginning of what a server says to explain a status, as far as it comes within a few seconds,
    at most half of those that a call is waited for (`patience`).
    """
    said = bytearray()
    try:
        async with asyncio.timeout(min(_REFUSAL_SECONDS, patience / 2)):
            while len(said) < _REFUSAL_BYTES and (piece := await response.content.readany()):
                said += piece
    except (OSError, ValueError, client_error()):
        pass  # The status alone says enough.
    return bytes(said[:_REFUSAL_BYTES])


def check_bytes(size: int, most: int = MOST_BYTES) -> None:
    """Raises `TooMuch` where an answer of so many bytes is too long."""
    if size > most:
        raise TooMuch(_("the reply is longer than {n} bytes").format(n=f"{most:,}"))


def check_values(data: bytes) -> None:
    """Raises `TooMuch` where JSON would take many times the memory of the bytes that stand for it."""
    if len(data) > _PACKED and sum(map(data.count, (b",", b"{", b"["))) > _MOST_VALUES:
        raise TooMuch(_("the reply holds more than {n} values").format(n=f"{_MOST_VALUES:,}"))


def read_json(data: bytes) -> object:
    """The value in `data`, of bounded depth and size.

    Raises `TooMuch`, `UnicodeDecodeError`, and `ValueError` for what is no JSON.
    """
    check_values(data)
    try:
        return json.loads(data.decode("utf-8"))
    except RecursionError:
        raise TooMuch(_("the reply is nested too deeply")) from None


def client_error() -> type[Exception]:
    """What aiohttp raises; it is loaded by whoever made the connection."""
    from aiohttp import ClientError

    return ClientError
