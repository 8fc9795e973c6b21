"""Lines of JSON to and from a program, whatever else it prints."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from typing import Any, cast

from cuecard.core.scrubbing import scrub
from cuecard.core.text import for_display, storable

LONGEST_LINE = 8 * 1024 * 1024
_TAIL_LINES, _TAIL_CHARS = 20, 500


class Tail:
    """The last lines that a program wrote besides the protocol, without secrets."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=_TAIL_LINES)

    def add(self, line: bytes) -> None:
        if text := line[: 4 * _TAIL_CHARS].decode("utf-8", "replace").strip():
            self._lines.append(for_display(scrub(storable(text)))[:_TAIL_CHARS])

    def __str__(self) -> str:
        return "\n".join(self._lines)


class Pipe:
    """The transport of a connection (the protocol library's `Transport`). Lines that are no message
    go to `stray`: a harness that prints a banner is not cut off for it.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, stray: Tail
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._stray = stray

    async def send(self, message: dict[str, Any]) -> None:
        self._writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        await self._writer.drain()

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None when the program closed its output."""
        while True:
            try:
                line = await self._reader.readline()
            except ValueError:
                self._stray.add(b"(a line that was too long)")
                continue
            except ConnectionError:
                return None
            if not line:
                return None
            found = _message(line)
            if found is not None:
                return found
            self._stray.add(line)

    async def close(self) -> None:
        self._writer.close()


def _message(line: bytes) -> dict[str, Any] | None:
    """The message in a line; None if there is none that the protocol library can take: it would log
    what is wrong to the terminal, where a screen may be.
    """
    from acp.schema import SessionNotification

    try:
        found = cast(object, json.loads(line))
        if not isinstance(found, dict):
            return None
        message = cast("dict[str, Any]", found)
        if message.get("method") == "session/update":
            SessionNotification.model_validate(message.get("params"))
    except (ValueError, RecursionError):
        return None
    return message
