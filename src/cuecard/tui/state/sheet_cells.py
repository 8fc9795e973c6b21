"""Cells of tables of figures by their place, told in full, and the figures that can be drawn."""

from __future__ import annotations

from dataclasses import dataclass

from cuecard.annotate.agreement import Statistic
from cuecard.annotate.labelling.comparison.sheets import Cell, Sheet
from cuecard.annotate.labelling.comparison.words import figure
from cuecard.core.i18n import _
from cuecard.results.cells import ResultCell
from cuecard.tui.state.agreement_plot import Axis, axis_for, drawn


@dataclass(frozen=True)
class Bar:
    """A line of the plot. `cell` is what the table has for it."""

    what: str
    who: str
    cell: Cell
    statistic: Statistic


def bars(sheet: Sheet) -> list[Bar]:
    """Every figure of a table that has a value, line by line."""
    return [
        Bar(line[0].text, heading, cell, cell.statistic)
        for line in sheet.lines
        for heading, cell in zip(sheet.headings, line, strict=True)
        if cell.statistic is not None and cell.statistic.value is not None
    ]


def cell_at(sheet: Sheet | None, row: int, column: int, *, plotted: bool) -> Cell | None:
    """The cell under the cursor of a table, or the one that the plot's line draws."""
    if sheet is None:
        return None
    if plotted:
        lines = bars(sheet)
        return lines[row].cell if row < len(lines) else None
    if row >= len(sheet.lines) or not 0 <= column < len(sheet.lines[row]):
        return None
    return sheet.lines[row][column]


def cell_in_full(name: str, cell: Cell | None) -> list[str]:
    """A figure with its interval and n, or the cell's words, and what there is to remark."""
    if cell is None:
        return []
    found: list[str] = []
    if cell.statistic is not None:
        n = _("n {n}").format(n=f"{cell.statistic.n:,}")
        # Figures of results say themselves whether they are shares, counts or money.
        told = cell.text if isinstance(cell, ResultCell) else figure(cell.statistic)
        found.append(f"{name}: {told} · {n}")
    elif name:
        found.append(f"{name}: {cell.text}")
    return [*found, *why_missing(cell)]


def why_missing(cell: Cell) -> list[str]:
    """Why a cell has no value or no interval, a sentence."""
    statistic = cell.statistic
    if statistic is None or statistic.reason or not statistic.no_interval:
        return [cell.remark] if cell.remark else []
    return [_("No interval: {reason}.").format(reason=statistic.no_interval)]


def name_at(sheet: Sheet | None, row: int, column: int, *, plotted: bool) -> str:
    """What that cell is called: its line and its column."""
    if sheet is None:
        return ""
    if plotted:
        lines = bars(sheet)
        return f"{lines[row].what} · {lines[row].who}" if row < len(lines) else ""
    if row >= len(sheet.lines) or column >= len(sheet.headings):
        return ""
    parts = (sheet.lines[row][0].text, sheet.headings[column] if column else "")
    return " · ".join(filter(None, parts))


def plot_of(sheet: Sheet, width: int) -> tuple[Axis, list[tuple[Bar, str]]]:
    """The axis of a table's figures, and each drawn on it."""
    lines = bars(sheet)
    cells = [bar.cell for bar in lines]
    percent = bool(cells) and all(isinstance(c, ResultCell) and c.shows_percent for c in cells)
    axis = axis_for([bar.statistic for bar in lines], width, percent=percent)
    return axis, [(bar, drawn(bar.statistic, axis)) for bar in lines]
