"""A table of figures as the columns and rows of a grid, or its intervals drawn."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from cuecard.annotate.labelling.comparison.sheets import Cell, Sheet
from cuecard.annotate.labelling.comparison.words import compact
from cuecard.core.i18n import _
from cuecard.core.text import one_line
from cuecard.results.cells import ResultCell
from cuecard.tui.state.sheet_cells import bars, plot_of
from cuecard.tui.widgets.grid.columns import PADDING, GridColumn
from cuecard.tui.widgets.grid.source import GridCell

_INTERVAL = re.compile(r"\[([^\[\]]+)\]")
_SHARE = re.compile(r"^([+-]?)(\d\.\d{3})$")
_PERCENT = re.compile(r"^[+-]?\d+\.\d$")
Rows = Sequence[Sequence[str | GridCell | Text]]
WIDE = 100
_HEADING, _HEADING_WIDE, _MOST = 12, 16, 24
_FIRST, _FIRST_WIDE = 28, 40
_DIGITS = 3
_ALONE = 2
_LEAD = 3
"""Cells before the first column, and of the scroll bar."""


def table_rows(sheet: Sheet, room: int) -> tuple[Sequence[GridColumn], Rows]:
    """The first column names the line; figures stand with their intervals."""
    digits = _DIGITS if room >= WIDE else _DIGITS - 1
    first, *others = sheet.headings
    longest = max((cell_len(line[0].text) for line in sheet.lines), default=0)
    rows = [
        [
            GridCell(line[0].text, "strong"),
            *(GridCell(_told(c, digits), "muted" if c.remark else "plain") for c in line[1:]),
        ]
        for line in sheet.lines
    ]
    most = _FIRST_WIDE if room >= WIDE else _FIRST
    columns = [
        GridColumn(
            first, min(18, max(14, longest)), raw=True, most=min(most, max(20, longest)), grow=1
        )
    ]
    roomy = _HEADING_WIDE if room >= WIDE else _HEADING
    # A figure is never cut; a heading may be, where not all of them have room.
    needed = [
        min(_MOST, max((cell_len(row[at].text) for row in rows if at < len(row)), default=0))
        for at in range(1, len(sheet.headings))
    ]
    whole = [max(n, min(_MOST, cell_len(h))) for n, h in zip(needed, others, strict=True)]
    if columns[0].width + sum(whole) + 2 * PADDING * len(sheet.headings) + _LEAD > room:
        whole = [max(n, min(roomy, w)) for n, w in zip(needed, whole, strict=True)]
    columns += [
        GridColumn(one_line(heading), least, raw=True, right=True, most=_MOST)
        for heading, least in zip(others, whole, strict=True)
    ]
    return columns, rows


def plot_rows(sheet: Sheet, room: int) -> tuple[Sequence[GridColumn], Rows]:
    """A line for each figure that has a value, its interval drawn on one axis."""
    width = max(16, room - 20 - 14 - 7 - 10)
    axis, lines = plot_of(sheet, width)
    columns = (
        GridColumn(sheet.headings[0], 20, raw=True),
        GridColumn("", 14, raw=True),
        GridColumn(axis.head, width, raw=True),
        GridColumn(_("value"), 7, raw=True, right=True),
    )
    rows: list[Sequence[str | GridCell | Text]] = []
    before = ""
    for bar, drawn in lines:
        what = GridCell(bar.what if bar.what != before else "", "strong")
        before = bar.what
        value = f"{bar.statistic.value:.3f}"
        rows.append((what, GridCell(bar.who, "muted"), Text(drawn, no_wrap=True), value))
    return columns, rows


def plot_lines(sheet: Sheet, room: int, most: int) -> list[str]:
    """The same as text below an axis, as many lines as there is room for: beside a table that tells the values."""
    alone = len(sheet.headings) == _ALONE
    told = (bar.what if alone else f"{bar.what} · {bar.who}" for bar in bars(sheet)[:most])
    names = [one_line(name) for name in told]
    wide = min(_FIRST_WIDE, max(map(cell_len, names), default=0))
    axis, lines = plot_of(sheet, max(16, room - wide - 6))
    shown = [
        f"{set_cell_size(name, wide)}  {line}"
        for name, (_bar, line) in zip(names, lines, strict=False)
    ]
    return [f"{' ' * wide}  {axis.head}", *shown]


def _told(cell: Cell, digits: int) -> str:
    """Figures of results say themselves whether they are shares, counts or money."""
    if isinstance(cell, ResultCell):
        return _INTERVAL.sub(lambda found: _closer(found, digits), cell.text)
    return compact(cell.statistic, digits) if cell.statistic else cell.text


def _closer(interval: re.Match[str], digits: int) -> str:
    """`[0.771, 0.850]` as `[.771 .850]`, or with fewer digits; `[12.3, 45.6]` as `[12 46]` with fewer."""
    return f"[{' '.join(_end(end, digits) for end in interval[1].split(', '))}]"


def _end(text: str, digits: int) -> str:
    if share := _SHARE.match(text):
        value = f"{float(share[2]):.{digits}f}"
        return share[1] + (value[1:] if value.startswith("0.") else value)
    if digits < _DIGITS and _PERCENT.match(text):
        sign = "+" if text.startswith("+") else ""
        return f"{sign}{float(text):.0f}"
    return text
