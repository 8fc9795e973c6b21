"""Cells, columns and row sources of a grid, and drawing a cell in a given width."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from cuecard.core.i18n import _
from cuecard.core.text import for_display, normalise, one_line, storable

if TYPE_CHECKING:
    from textual.strip import Strip

Tone = Literal["plain", "muted", "strong", "good", "warn", "bad", "accent"]


class GridCell(NamedTuple):
    """A cell. `text` may be any text; it is shown on one line, without control characters."""

    text: str
    tone: Tone = "plain"


NOTHING = GridCell("")


class GridSource(Protocol):
    def __len__(self) -> int: ...

    def cells(self, row: int) -> Sequence[str | GridCell | Text]:
        """One cell per column, hidden ones included; missing ones are shown empty."""
        ...

    def gutter(self, row: int) -> GridCell:
        """A one-character mark left of the row; "" for none."""
        return NOTHING


class ListSource:
    """A source of rows that are in memory."""

    def __init__(
        self,
        rows: Sequence[Sequence[str | GridCell | Text]],
        gutters: Sequence[GridCell] | None = None,
    ) -> None:
        self._rows = rows
        self._gutters = gutters

    def __len__(self) -> int:
        return len(self._rows)

    def cells(self, row: int) -> Sequence[str | GridCell | Text]:
        return self._rows[row]

    def gutter(self, row: int) -> GridCell:
        return self._gutters[row] if self._gutters else NOTHING


ELLIPSIS = "…"


def plain(cell: str | GridCell | Text) -> str:
    """What a cell says."""
    if isinstance(cell, Text):
        return cell.plain
    return cell.text if isinstance(cell, GridCell) else cell


@lru_cache(10_000)
def plainly(text: str) -> str:
    """As `normalise`, which is slow, for what is sorted and searched."""
    return text.lower() if text.isascii() else normalise(text)


def order_of(cell: str | GridCell | Text, *, number: bool) -> str | float | None:
    """What a cell is sorted by: its first number, or its text with `trial 9` before `trial 10`. None if it says nothing."""
    said = plain(cell).strip()
    if number:
        found = re.search(r"-?\d[\d,]*\.?\d*", said)
        return float(found[0].replace(",", "")) if found else None
    return re.sub(r"\d+", lambda digits: digits[0].zfill(12), plainly(said)) or None


def flat(text: str, limit: int) -> str:
    """Any text as one line of at most `limit` characters and an ellipsis, without escape sequences."""
    # No more can be seen, and blanks at most fold to fewer.
    text = text[: 4 * limit + 64]
    if text.isprintable() and "  " not in text:
        text = text.strip()
        return text if len(text) <= limit else f"{text[:limit]}{ELLIPSIS}"
    return one_line(storable(text), limit + 1)


def cut(text: str, width: int, *, tail: bool = False) -> str:
    """`text` in at most `width` cells, the last one an ellipsis if something is missing, or the first one to show its `tail`."""
    if width <= 0:
        return ""
    text = flat(text, _TAILED if tail else width)
    if cell_len(text) <= width:
        return text
    if tail:
        return f"{ELLIPSIS}{set_cell_size(text[::-1], width - 1)[::-1].lstrip()}"
    return set_cell_size(text, width - 1).rstrip() + ELLIPSIS if width > 1 else ELLIPSIS


def aligned(text: str, width: int, *, right: bool = False, tail: bool = False) -> str:
    """`text` in exactly `width` cells."""
    text = cut(text, width, tail=tail)
    blanks = " " * (width - cell_len(text))
    return blanks + text if right else text + blanks


class Runs:
    """A line under construction: texts with their styles, neighbours of one style as one."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._style = Style.null()
        self._segments: list[Segment] = []
        self.width = 0

    @classmethod
    def of(cls, strip: Strip) -> Runs:
        """Go on from `strip`."""
        runs = cls()
        runs._segments, runs.width = list(strip), strip.cell_length
        return runs

    def add(self, text: str, style: Style, width: int) -> None:
        """`text` takes `width` cells."""
        if style is not self._style:
            self._flush()
            self._style = style
        self._texts.append(text)
        self.width += width

    def strip(self) -> Strip:
        from textual.strip import Strip  # here, for cells are printed without a screen, too

        self._flush()
        return Strip(self._segments, self.width)

    def _flush(self) -> None:
        if self._texts:
            self._segments.append(Segment("".join(self._texts), self._style))
            self._texts.clear()


def add_styled(
    runs: Runs, text: Text, width: int, *, right: bool, base: Style, console: Console
) -> None:
    """A styled text in exactly `width` cells."""
    base += console.get_style(text.style, default="")
    shown = text.copy()
    shown.no_wrap = True
    shown.truncate(max(width, 0), overflow="ellipsis")
    drawn = [
        # A blank at the end of a run stands beside what is marked: it stays.
        (
            run if run.isprintable() else _BLANKS.sub(" ", for_display(storable(run))),
            base + (style or Style.null()),
        )
        for run, style, _control in shown.render(console)
    ]
    left = max(width - sum(cell_len(run) for run, _style in drawn), 0)
    if right:
        runs.add(" " * left, base, left)
    for run, style in drawn:
        if run:
            runs.add(run, style, cell_len(run))
    if not right:
        runs.add(" " * left, base, left)


_BLANKS = re.compile(r"\s+")
PADDING = 1
_SAMPLED = 240
_TAILED = 200
"""Characters of a text whose end is shown."""


@dataclass(frozen=True)
class GridColumn:
    """A column. `label` is marked with `N_`, or shown as it is with `raw`. It is at least `width` cells wide, with
    `most` as wide as its contents up to `most`; remaining room is shared by `grow`. With less room than `hidden_below`
    it is hidden. Tab and Enter skip columns that are not `editable`. Of a text that has no room the end is shown if the
    `tail` tells texts apart.
    """

    label: str
    width: int
    grow: int = 0
    right: bool = False
    tail: bool = False
    hidden_below: int = 0
    raw: bool = False
    most: int = 0
    editable: bool = True

    @property
    def head(self) -> str:
        return self.label if self.raw else _(self.label)


def fitted(
    columns: Sequence[GridColumn], room: int, wanted: Mapping[int, int] | None = None
) -> dict[int, int]:
    """Width by index of each column shown in `room` cells, padding excluded.

    `wanted` says what the cells of columns with `most` need. Columns are never narrower than
    `width`: the sum is larger than `room` if there is not enough.
    """
    wanted = wanted or {}
    shown = [i for i, column in enumerate(columns) if room >= column.hidden_below]
    widths = {i: _natural(columns[i], wanted.get(i, 0)) for i in shown}
    left = room - sum(widths.values()) - 2 * PADDING * len(shown)
    if left < 0:
        _shrink(widths, {i: widths[i] - columns[i].width for i in shown}, -left)
    elif left > 0:
        grow(widths, {i: columns[i].grow for i in shown if columns[i].grow}, left)
    return widths


def _natural(column: GridColumn, wanted: int) -> int:
    wanted = max(wanted, cell_len(column.head))
    return max(column.width, min(wanted, column.most)) if column.most else column.width


def _shrink(widths: dict[int, int], spare: Mapping[int, int], lacking: int) -> None:
    """Take `lacking` cells from the columns that have `spare` ones, each time from the widest."""
    left = {i: own for i, own in spare.items() if own}
    while lacking and left:
        widest = max(left, key=lambda i: widths[i])
        widths[widest] -= 1
        lacking -= 1
        left[widest] -= 1
        if not left[widest]:
            del left[widest]


def grow(widths: dict[int, int], shares: Mapping[int, int], left: int) -> None:
    """Give `left` cells to the columns that have shares."""
    total = sum(shares.values())
    for i, share in shares.items():
        part = left * share // total
        widths[i] += part
        left -= part
        total -= share


def measured(source: GridSource, columns: Sequence[GridColumn]) -> dict[int, int]:
    """How wide the cells of columns with `most` are, from rows at the start and some further on."""
    chosen = [i for i, column in enumerate(columns) if column.most]
    widest = dict.fromkeys(chosen, 0)
    count = len(source)
    if not chosen or not count:
        return widest
    half = _SAMPLED // 2
    rows = {*range(min(count, half)), *range(0, count, max(1, count // half))}
    for row in sorted(rows):
        cells = source.cells(row)
        for i in chosen:
            if i < len(cells):
                text = flat(plain(cells[i]), columns[i].most)
                widest[i] = max(widest[i], cell_len(text))
    return widest
