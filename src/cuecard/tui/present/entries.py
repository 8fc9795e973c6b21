"""Formatted text on screens: entries of paragraphs and coloured pieces, Markdown in segments, line wrapping."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from rich import text as rich_text
from rich.cells import cell_len

from cuecard.core.text import for_display
from cuecard.tui.grid.cells import cut

Tone = Literal[
    "plain", "strong", "user", "agent", "work", "muted", "good", "bad", "stage", "added", "removed",
    "emph", "code", "link", "gone",
]  # fmt: skip
Role = Literal["user", "agent", "work", "handed", "end", "writing"]


@dataclass(frozen=True)
class Piece:
    """A run of text in one tone."""

    text: str
    tone: Tone = "plain"
    click: str = ""
    """The action of a click on it; "" for none."""


LEAST_NAME = 16
"""Cells to which a name may be cut."""


def named(name: str, rest: Sequence[Piece], room: int = 0) -> list[Piece]:
    """A head that begins with a name, which is cut where the line has more than `room` cells; 0 for any number."""
    left = room - sum(cell_len(piece.text) for piece in rest) if room else cell_len(name)
    return [Piece(cut(name, max(LEAST_NAME, left)), "strong"), *rest]


@dataclass(frozen=True)
class Paragraph:
    """Text of any length, to be wrapped behind `indent` blanks. `pieces`: the same in several tones.
    `segment`: a part of a Markdown text, laid out as such. `markdown`: all of one, to be cut into segments
    when it comes into view.
    """

    text: str
    tone: Tone = "plain"
    indent: int = 0
    pieces: tuple[Piece, ...] = ()
    markdown: bool = False
    segment: Segment | None = None


@dataclass(frozen=True)
class Entry:
    """One thing in a transcript. `fold` shows only when the entry is opened. `left_out`: numbers of
    the events of which the fold has only the beginnings. `events`: the numbers of those that it tells;
    of several, `starts` has the paragraph of the fold at which each begins.
    """

    role: Role
    turn: int
    head: tuple[Piece, ...]
    body: tuple[Paragraph, ...] = ()
    fold: tuple[Paragraph, ...] = ()
    left_out: tuple[int, ...] = ()
    events: tuple[int, ...] = ()
    starts: tuple[int, ...] = ()


_HEX = re.compile("#[0-9a-fA-F]{6}")
_WIDE = (
    "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff60\uffe0-\uffe6"
)
_CLOSE = "，。、；：？！）》〉」』】〕〗｝］％”’…—·ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ"
_OPEN = "（《〈「『【〔〖｛［“‘"
_STOPS = r",.;:?!)\]}%"
# What may not be torn: blanks; a word, or one Han character, with the punctuation that clings to it.
_PIECES = re.compile(
    rf"\s+|[{_OPEN}]*(?:(?![{_OPEN}])[{_WIDE}]|[^\s{_WIDE}]*[^\s{_WIDE}{_OPEN}])"
    rf"[{_CLOSE}]*(?:(?<=[{_WIDE}{_CLOSE}])[{_STOPS}]+(?=[\s{_WIDE}{_OPEN}]|$)[{_CLOSE}]*)?|[{_OPEN}]+"
)


def ink(variables: Mapping[str, str], name: str) -> str:
    """The theme's colour `name` as a Rich style; themes of a terminal's own 16 colours name theirs."""
    colour = variables.get(name, "")
    if colour.startswith("ansi_"):
        return "default" if colour == "ansi_default" else colour.removeprefix("ansi_")
    return colour if _HEX.fullmatch(colour) else ""


def wrap(text: str, width: int, *, fold: bool = True) -> list[str]:
    """`text` cleaned for display, as lines of at most `width` cells (at least 2); never empty. Without `fold` what does not
    fit on a line of its own, as an address, stays whole.

    Blanks at the start of a line of the text are kept, blanks at a break are not.
    """
    width = max(width, 2)
    return [line for part in for_display(text).split("\n") for line in _fold(part, width, fold)]


def _fold(text: str, width: int, fold: bool) -> Iterator[str]:
    if len(text) <= width and text.isascii():
        yield text.rstrip()
        return
    cuts = [0, *breaks(text, width, fold=fold), len(text)]
    lines = [text[start:end].rstrip() for start, end in pairwise(cuts)]
    yield from [line for line in lines if line] or [""]


def breaks(text: str, width: int, *, fold: bool = True, blanks: bool = False) -> list[int]:
    """Where the lines of `text`, which has one, begin but for the first, if they have `width` cells.

    Latin text breaks after blanks, Chinese between characters but not before closing or after opening punctuation;
    what does not fit on a line of its own is cut if it is to `fold`. `blanks` at the end of a line take room, or none.
    """
    found: list[int] = []
    begin = used = end = 0
    for piece in _PIECES.findall(text):
        cells, start, end = _cells(piece), end, end + len(piece)
        free = not blanks and piece.isspace()
        if free or (used + cells <= width and end - begin <= 4 * width):
            used += cells
            continue
        if start > begin:
            found.append(start)
        begin, used = start, cells
        if fold:
            for cut in _cut(piece, width):
                if start > begin:
                    found.append(start)
                begin, used = start, _cells(cut)
                start += len(cut)
    return found


# Rich takes a run of Han characters for one word, and has no other place to say where lines break.
rich_text.divide_line = breaks  # pyright: ignore[reportPrivateImportUsage]


def _cells(piece: str) -> int:
    """Cells that `piece` takes at most: a variation selector may widen what it follows."""
    return len(piece) if piece.isascii() else cell_len(piece) + piece.count("\ufe0f")


def _cut(piece: str, width: int) -> Iterator[str]:
    """Runs of characters that fit; marks of no width count too, so that no line grows without end."""
    if _cells(piece) <= width and len(piece) <= 4 * width:
        yield piece
        return
    start, used = 0, 0
    for index, char in enumerate(piece):
        cells = _cells(char)
        if index > start and (used + cells > width or index - start >= 4 * width):
            yield piece[start:index]
            start, used = index, 0
        used += cells
    yield piece[start:]


Line = tuple[Piece, ...]


def flow(pieces: Sequence[Piece], width: int) -> list[Line]:
    """The text of all pieces as lines of at most `width` cells, each in the tones that it came in."""
    clean: list[tuple[str, Tone]]
    clean = [(text, piece.tone) for piece in pieces if (text := for_display(piece.text))]
    if len({tone for _text, tone in clean}) <= 1:
        tone: Tone = clean[0][1] if clean else "plain"
        rows = wrap("".join(text for text, _tone in clean), width)
        return [(Piece(row, tone),) if row else () for row in rows]
    whole = "".join(text for text, _tone in clean)
    lines: list[Line] = []
    at, run, run_end = 0, 0, len(clean[0][0])
    for row in wrap(whole, width):
        # Only blanks are lost in wrapping.
        at = max(whole.find(row, at), at)
        end, line = at + len(row), list[Piece]()
        while at < end:
            while at >= run_end:
                run += 1
                run_end += len(clean[run][0])
            stop = min(end, run_end)
            line.append(Piece(whole[at:stop], clean[run][1]))
            at = stop
        lines.append(tuple(line))
    return lines


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


def warm_up() -> None:
    """Load the parser, so that the first words of a reply need not wait for it. Not for the screen's
    thread.
    """
    segment_lines(Segment("*a*"), 10)


def segment_lines(segment: Segment, width: int, *, breaks: bool = False) -> list[Line]:
    """One segment at a width in cells. `breaks`: its line breaks count, as in a chat."""
    # The parser is loaded with the first text that needs it.
    from cuecard.tui.present.markdown import blocks_of, laid_out, plain_blocks

    indent = min(segment.indent, width // 4)
    text = segment.text
    blocks = blocks_of(text, breaks=breaks) if segment.markdown else plain_blocks(text)
    return laid_out(blocks, width, indent)


def markdown_lines(text: str, width: int) -> list[Line]:
    """A whole text; no lines where it says nothing."""
    lines: list[Line] = []
    for segment in segments_of(text):
        rows = segment_lines(segment, width)
        if lines and rows and segment.space:
            lines.append(())
        lines += rows
    return lines
