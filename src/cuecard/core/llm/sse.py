"""Server-sent events: what a stream of bytes says, wherever it is cut."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.core.http_bodies import check_bytes

# What a line takes in memory besides its bytes: events may have lines without end and without bytes.
_A_LINE = 40
_BOM = b"\xef\xbb\xbf"


class Events:
    """Feed it bytes; it gives the data of each event that is complete, as its lines.

    Comments and fields other than `data` are left out. Lines may end in LF, CR or both.
    """

    def __init__(self) -> None:
        self._begun: list[bytes] = []
        self._size = self._event = 0
        self._after_cr = False
        self._first = True
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> Iterator[list[bytes]]:
        """The events that `piece` completes. Raises `TooMuch`."""
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
        """What was begun when the stream came to its end."""
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
