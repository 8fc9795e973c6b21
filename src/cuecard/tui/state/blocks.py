"""A transcript entry as lines of styled pieces at a width, laid out part by part."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain

from cuecard.tui.state.entries import Entry, Paragraph, Piece
from cuecard.tui.state.flowing import Line, flow
from cuecard.tui.state.markdown import segment_lines, segments_of
from cuecard.tui.state.wrapping import wrap

__all__ = ["Block", "Line", "block_of", "flow"]


def block_of(entry: Entry, *, opened: bool, width: int, gap: bool = True) -> list[Line]:
    """All lines of an entry: head, body, the fold if `opened`, and with `gap` an empty line; without one
    the head's further lines are indented instead.
    """
    return Block(entry, opened=opened, width=width, gap=gap).lines


@dataclass(slots=True)
class _Part:
    """`paragraph`: what it is laid out from: the entry's paragraph `number`, or a segment of that. `first`
    of the entry: nothing parts it from the head.
    """

    paragraph: Paragraph
    number: int
    first: bool
    height: int
    lines: list[Line] | None = None


class Block:
    """One entry at a width. Parts that nobody looked at have an estimated height and no lines.

    `like`: what stood in this place before; what is the same in it is not laid out again.
    """

    def __init__(
        self, entry: Entry, *, opened: bool, width: int, gap: bool, like: Block | None = None
    ) -> None:
        self.entry, self.width = entry, width
        self._head = _head(entry, opened=opened, width=width, gap=gap)
        self._tail: list[Line] = [()] if gap else []
        wanted = entry.body + (entry.fold if opened else ())
        if like and like.entry.role == "writing":
            wanted = tuple(chain.from_iterable(map(_split, wanted)))
        self._wanted = wanted
        self._parts = like._kept(wanted, width) if like else []
        known = self._parts[-1].number + 1 if self._parts else 0
        for number, paragraph in enumerate(wanted[known:], known):
            height = _estimate(paragraph, width)
            self._parts.append(_Part(paragraph, number, number == 0, height))
        self._waiting = sum(part.lines is None for part in self._parts)
        self._measure()

    @property
    def height(self) -> int:
        """Lines, of parts that are not laid out as estimated."""
        return self._starts[-1]

    @property
    def unlaid(self) -> int:
        """Lines that are estimated."""
        return sum(p.height for p in self._parts if p.lines is None) if self._waiting else 0

    @property
    def lines(self) -> list[Line]:
        """Every line; lays out what is not yet."""
        self.lay(0, None)
        parts = [part.lines or [] for part in self._parts]
        return list(chain(self._head, *parts, self._tail))

    def line(self, number: int) -> Line:
        """A line of a part that is laid out; others are empty still."""
        if number < len(self._head):
            return self._head[number]
        index = bisect_right(self._starts, number) - 1
        rows = self._parts[index].lines if index < len(self._parts) else None
        at = number - self._starts[index]
        return rows[at] if rows and at < len(rows) else ()

    def start_of(self, paragraph: int) -> int:
        """The first line of a paragraph, body and fold counted through; the head where there is none."""
        parts = enumerate(self._parts)
        return next((self._starts[at] for at, part in parts if part.number == paragraph), 0)

    def lay(self, first: int, end: int | None, anchor: int = 0) -> int:
        """Lay out what the lines from `first` up to `end` are in; returns by how many lines parts that
        begin before the line `anchor` have grown.
        """
        grown, index, at = 0, 0, len(self._head)
        changed = False
        while self._waiting and index < len(self._parts) and (end is None or at < end):
            part = self._parts[index]
            if part.lines is None and at + part.height > first:
                before = part.height
                if part.paragraph.markdown:
                    parts = [
                        _Part(one, part.number, part.first and n == 0, _estimate(one, self.width))
                        for n, one in enumerate(_split(part.paragraph))
                    ]
                    self._parts[index : index + 1] = parts
                    self._waiting += len(parts) - 1
                    more = sum(one.height for one in parts) - before
                    changed = True
                else:
                    part.lines = _lines(part.paragraph, self.width, first=part.first)
                    part.height = len(part.lines)
                    self._waiting -= 1
                    more, changed = part.height - before, True
                if at < anchor:
                    grown += more
                    anchor += more
                    first, end = first + more, None if end is None else end + more
                continue
            at += part.height
            index += 1
        if changed:
            self._measure()
        return grown

    def _kept(self, wanted: Sequence[Paragraph], width: int) -> list[_Part]:
        """The parts of the paragraphs that stand at the beginning of `wanted` too."""
        same = 0
        for old, new in zip(self._wanted, wanted, strict=False):
            if old is not new and old != new:
                break
            same += 1
        kept = [part for part in self._parts if part.number < same]
        if width == self.width:
            return kept
        return [replace(p, height=_estimate(p.paragraph, width), lines=None) for p in kept]

    def _measure(self) -> None:
        heights = (part.height for part in self._parts)
        starts = list(accumulate(heights, initial=len(self._head)))
        self._starts = [*starts[:-1], starts[-1], starts[-1] + len(self._tail)]


def _head(entry: Entry, *, opened: bool, width: int, gap: bool) -> list[Line]:
    mark = ("▾ " if opened else "▸ ") if entry.fold else ""
    hang = 0 if gap else min(4, width // 4)
    first, *more = flow([Piece(mark, "muted"), *entry.head], width - hang)
    return [first, *((Piece(" " * hang), *line) for line in more)]


def _split(paragraph: Paragraph) -> list[Paragraph]:
    if not paragraph.markdown:
        return [paragraph]
    return [Paragraph(segment.text, segment=segment) for segment in segments_of(paragraph.text)]


def _lines(paragraph: Paragraph, width: int, *, first: bool) -> list[Line]:
    if paragraph.segment:
        lines = segment_lines(paragraph.segment, width, breaks=True)
        return [(), *lines] if lines and paragraph.segment.space and not first else lines
    indent = min(paragraph.indent, width // 4)
    blanks = " " * indent
    if paragraph.pieces:
        return [(Piece(blanks), *line) for line in flow(paragraph.pieces, width - indent)]
    rows = wrap(paragraph.text, width - indent)
    return [(Piece(blanks + row, paragraph.tone),) for row in rows]


def _estimate(paragraph: Paragraph, width: int) -> int:
    """About how many lines; never none."""
    text = paragraph.text or "".join(piece.text for piece in paragraph.pieces)
    cells = len(text) if text.isascii() else len(text) * 3 // 2
    return text.count("\n") + cells // max(width, 1) + 1
