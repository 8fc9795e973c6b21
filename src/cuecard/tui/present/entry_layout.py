"""Layout of any number of entries as numbered lines; only lines in view are computed exactly."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain

from cuecard.tui.present.entries import (
    Entry,
    Line,
    Paragraph,
    Piece,
    flow,
    segment_lines,
    segments_of,
    wrap,
)


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


EAGER = 1_200
"""Estimated lines up to which everything is laid out at once, so that nothing is estimated."""


class EntryLayout:
    """`load` entries and `settle` what is looked at; line numbers before what was settled last may be
    estimates.
    """

    def __init__(self, *, gap: bool) -> None:
        self.entries: list[Entry] = []
        self.opened: set[int] = set()
        self.width = 0
        self._gap = gap
        self._blocks: list[Block] = []
        self._starts: list[int] = [0]

    @property
    def height(self) -> int:
        return self._starts[-1]

    @property
    def ready(self) -> bool:
        """Whether there is something to be drawn."""
        return bool(self._blocks)

    @property
    def lines(self) -> list[Line]:
        """Every line; slow where much was never looked at."""
        lines = [line for block in self._blocks for line in block.lines]
        self._measure()
        return lines

    def load(self, entries: Sequence[Entry]) -> None:
        """Show `entries`; what did not change is not laid out again."""
        kept = 0
        for old, new in zip(self.entries, entries, strict=False):
            if old is not new and old != new:
                break
            kept += 1
        self.entries = list(entries)
        self.opened = {index for index in self.opened if index < len(entries)}
        self._build(min(kept, len(self._blocks)))

    def resize(self, width: int, top: int = 0) -> int:
        """Lay out at another width; about where the words are now that stood in line `top`."""
        index = self.entry_at(top)
        start, end = (self._starts[index], self._starts[index + 1]) if index is not None else (0, 0)
        self.width = width
        self._build(0)
        if index is None:
            return top
        height = self._starts[index + 1] - self._starts[index]
        return self._starts[index] + (top - start) * height // max(end - start, 1)

    def open_only(self, indices: set[int]) -> None:
        self.opened = set(indices)
        self._build(0)

    def toggle(self, index: int) -> None:
        self.opened ^= {index}
        self._build(index)

    def settle(self, first: int, end: int, anchor: int | None = None) -> int:
        """Lay out the lines from `first` up to `end`; by how many lines what begins before `anchor` (by
        default `first`) has grown: where the words of that line are now.
        """
        grown = shift = 0
        laid: int | None = None
        anchor = first if anchor is None else anchor
        index = max(bisect_right(self._starts, max(first, 0)) - 1, 0)
        while index < len(self._blocks):
            start = self._starts[index] + shift
            if start >= end + grown:
                break
            block = self._blocks[index]
            if block.unlaid:
                before, at = block.height, grown - start
                grown += block.lay(first + at, end + at, anchor + at)
                shift += block.height - before
                laid = index if laid is None else laid
            index += 1
        if laid is not None:
            self._measure(laid)
        return grown

    def entry_at(self, line: int) -> int | None:
        if not 0 <= line < self.height:
            return None
        return bisect_right(self._starts, line) - 1

    def start_of(self, index: int) -> int:
        """The first line of an entry; of the one behind the last, the end."""
        return self._starts[index]

    def line_in(self, index: int, fold: int) -> int:
        """The first line of a paragraph of an opened entry's fold; of the entry where it is not opened. All
        that comes before it in the entry is laid out.
        """
        entry, block = self.entries[index], self._blocks[index]
        at = len(entry.body) + fold
        end = block.start_of(at)
        while block.lay(0, end + 1, end):
            end = block.start_of(at)
        self._measure(index)
        return self._starts[index] + (block.start_of(at) if index in self.opened else 0)

    def line(self, number: int) -> Line:
        index = self.entry_at(number)
        return () if index is None else self._blocks[index].line(number - self._starts[index])

    def _build(self, first: int) -> None:
        if self.width <= 0:
            return
        before = self._blocks[first:]
        del self._blocks[first:]
        for index in range(first, len(self.entries)):
            like = before[index - first] if index - first < len(before) else None
            block = Block(
                self.entries[index],
                opened=index in self.opened,
                width=self.width,
                gap=self._gap,
                like=like,
            )
            self._blocks.append(block)
        if sum(block.unlaid for block in self._blocks) <= EAGER:
            for block in self._blocks:
                block.lay(0, None)
        self._measure()

    def _measure(self, first: int = 0) -> None:
        heights = (block.height for block in self._blocks[first:])
        self._starts[first:] = accumulate(heights, initial=self._starts[first])
