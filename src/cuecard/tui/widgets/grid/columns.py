"""The columns of a grid, and how they share the room that there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from cuecard.tui.widgets.grid.drawing import flat, plain
from cuecard.tui.widgets.grid.source import GridSource

PADDING = 1
_SAMPLED = 240


@dataclass(frozen=True)
class GridColumn:
    """`label` is marked with `N_`, or shown as it is with `raw`. The column is at least `width`
    cells wide; with `most` as wide as its cells need, up to `most`; what room is left over goes to
    columns by their share `grow`. In less room than `hidden_below` cells it is left out. Tab and
    Enter of a sheet pass by what is not `editable`.
    """

    label: str
    width: int
    grow: int = 0
    right: bool = False
    hidden_below: int = 0
    raw: bool = False
    most: int = 0
    editable: bool = True


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
        _grow(widths, {i: columns[i].grow for i in shown if columns[i].grow}, left)
    return widths


def _natural(column: GridColumn, wanted: int) -> int:
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


def _grow(widths: dict[int, int], shares: Mapping[int, int], left: int) -> None:
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
