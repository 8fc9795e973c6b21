"""Entries of any number and length as numbered lines, of which only those in view must exist."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from cuecard.tui.state.blocks import Block, Line
from cuecard.tui.state.entries import Entry

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
