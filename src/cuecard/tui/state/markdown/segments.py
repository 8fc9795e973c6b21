"""A Markdown text cut where its parts do not depend on one another, while it is still being written.

A pure fold over lines: the segments of a text are the same however it arrived. All but the last are final. A
segment ends before a paragraph, heading or fence at the margin; one that grows beyond `SOFT` characters
ends between list items, one beyond `HARD` between any two lines: a table then goes on with its header
again, a fenced text in a fence of its own. So no piece of work on a text is longer than some screens.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SOFT, HARD = 2_000, 3_000
LONG = 2_400
"""Characters of one line that are read as Markdown; what follows is shown as plain text."""
_SLACK = 200

_HEADING = re.compile(r"#{1,6}(?:\s|$)")
_FENCE = re.compile(r"(`{3,}|~{3,})([^`]*)$")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_RULED = re.compile(r" {0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")


@dataclass(frozen=True)
class Segment:
    """`space`: an empty line stands before it, unless it is the first. `indent`: blanks that every line of
    it began with, and that are left out. Not `markdown`: shown as it is.
    """

    text: str
    space: bool = False
    indent: int = 0
    markdown: bool = True


class Segments:
    """`add` text as it comes; `closed` segments never change, `open` is what is being written."""

    def __init__(self) -> None:
        self.closed: list[Segment] = []
        self._partial = ""
        self._rest = False
        self._begin(space=False)

    @property
    def open(self) -> Segment | None:
        """The last segment as far as it goes; None while nothing is in it."""
        if self._rest:
            return Segment(self._partial, markdown=False) if self._partial else None
        partial = self._partial
        if not self._lines and not partial.strip():
            return None
        if self._indent and not partial[: self._indent].strip():
            partial = partial[self._indent :]
        lines = [*self._lines, partial] if partial else self._lines
        space = self._space or (not self._lines and self._blank and bool(self.closed))
        return Segment("\n".join(lines), space, self._indent)

    def add(self, text: str) -> None:
        first, *more = text.split("\n")
        self._take(first)
        for part in more:
            self._end_line()
            self._take(part)

    def _take(self, text: str) -> None:
        """More of the line that is being written; what is too long of it is closed."""
        self._partial += text
        while len(self._partial) > LONG:
            at = self._partial.rfind(" ", LONG - _SLACK, LONG) + 1 or LONG
            head, self._partial = self._partial[:at], self._partial[at:]
            if self._rest:
                self.closed.append(Segment(head, markdown=False))
                continue
            self._line(head)
            if not self._fence:
                self._close(space=False)
                self._rest = True

    def _end_line(self) -> None:
        line, self._partial = self._partial.removesuffix("\r"), ""
        if self._rest:
            self._rest = False
            if line:
                self.closed.append(Segment(line, markdown=False))
            return
        self._line(line)

    def _line(self, line: str) -> None:
        if self._fence:
            self._fenced(line)
            return
        if not line.strip():
            self._blank = True
            self._table = ()
            if self._lines:
                self._append("")
            return
        margin = len(line) - len(line.lstrip(" "))
        opener = _FENCE.match(line) if margin == 0 else None
        heading = margin == 0 and _HEADING.match(line) is not None
        if self._lines:
            self._perhaps_close(line, margin, block=heading or opener is not None)
        elif self._blank and self.closed:
            self._space = True
        if self._indent:
            line = line[self._indent :]
        if opener:
            self._fence, self._opener = opener[1], line
        elif not self._listing:
            self._listing = _ITEM.match(line) is not None
        self._note_table(line)
        self._append(line)
        self._blank = False
        if heading:
            self._close(space=False)

    def _perhaps_close(self, line: str, margin: int, *, block: bool) -> None:
        item = _ITEM.match(line) is not None
        ends = block or margin < self._indent
        if self._blank and margin == 0 and not (self._listing and item):
            ends = True
        if self._listing and item and self._size > SOFT and margin <= self._indent:
            ends = True
        if ends:
            self._close(space=block or self._blank)
        elif self._size > HARD:
            table = self._table
            self._close(space=self._blank)
            if len(table) == 2 and "|" in line:
                for row in table:
                    self._append(row)
                self._table = table
            else:
                self._indent = margin

    def _fenced(self, line: str) -> None:
        self._append(line)
        bare = line.strip()
        if bare.startswith(self._fence) and not bare.strip(self._fence[0]) and line[:4].strip():
            self._close(space=True)
        elif self._size > HARD:
            fence, opener = self._fence, self._opener
            self._append(fence)
            self._close(space=False)
            self._fence, self._opener = fence, opener
            self._append(opener)

    def _note_table(self, line: str) -> None:
        if self._table or not self._lines or "|" not in line:
            return
        if "|" in self._lines[-1] and _RULED.match(line):
            self._table = (self._lines[-1], line)

    def _append(self, line: str) -> None:
        self._lines.append(line)
        self._size += len(line) + 1

    def _close(self, *, space: bool) -> None:
        if self._lines:
            self.closed.append(Segment("\n".join(self._lines), self._space, self._indent))
        self._begin(space)

    def _begin(self, space: bool) -> None:
        self._lines: list[str] = []
        self._size = 0
        self._space = space
        self._indent = 0
        self._blank = False
        self._listing = False
        self._fence = self._opener = ""
        self._table: tuple[str, ...] = ()


def segments_of(text: str) -> list[Segment]:
    """The segments of a whole text, those that say nothing left out."""
    segments = Segments()
    segments.add(text)
    last = segments.open
    return [*segments.closed, last] if last else segments.closed
