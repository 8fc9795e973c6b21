"""The elements of two golds as lines of a grid."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.annotate.second_gold.elements import Status
from cuecard.core.i18n import N_
from cuecard.tui.state.second_gold import MARK, GoldView
from cuecard.tui.widgets.grid import GridCell, GridColumn
from cuecard.tui.widgets.grid.source import Tone

COLUMNS = (
    GridColumn("", 1, raw=True),
    GridColumn(N_("What"), 10, grow=2),
    GridColumn(N_("Author"), 10, grow=3),
    GridColumn(N_("Second"), 10, grow=3),
    GridColumn(N_("Taken"), 8),
)
_TONE: dict[Status, Tone] = {
    "differ": "bad",
    "author": "accent",
    "second": "accent",
    "agreed": "muted",
}


class ElementRows:
    """A `GridSource` over a view."""

    def __init__(self, view: GoldView) -> None:
        self._view = view

    def __len__(self) -> int:
        return len(self._view.rows)

    def cells(self, row: int) -> Sequence[str | GridCell]:
        label, author, second, taken = self._view.cells(row)
        status = self._view.rows[row].status
        open_ = self._view.take(row) is None
        return (
            GridCell(MARK[status][0], _TONE[status]),
            GridCell(label, "muted"),
            GridCell(author),
            GridCell(second),
            GridCell(taken, "bad" if open_ else "plain"),
        )

    def gutter(self, row: int) -> GridCell:
        return GridCell("")
