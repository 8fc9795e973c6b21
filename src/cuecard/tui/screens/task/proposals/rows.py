"""The items of a proposal as rows of a grid."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.core.i18n import N_
from cuecard.tui.state.proposals import MARKS, ProposalView, headline
from cuecard.tui.widgets.grid import GridCell, GridColumn

COLUMNS = (
    GridColumn("", 1, raw=True),
    GridColumn(N_("Proposed"), 30, grow=3),
    GridColumn(N_("In doubt because"), 24, grow=2, hidden_below=60),
)


class ProposalRows:
    """A `GridSource` over a view."""

    def __init__(self, view: ProposalView) -> None:
        self._view = view

    def __len__(self) -> int:
        return len(self._view.items)

    def cells(self, row: int) -> Sequence[str | GridCell]:
        item, ticked = self._view.items[row], self._view.is_ticked(row)
        said = item.checked[0] if item.checked else ""
        more = f" (+{len(item.checked) - 1})" if len(item.checked) > 1 else ""
        return (
            GridCell("✓", "good") if ticked else GridCell("·", "muted"),
            GridCell(f"{MARKS[item.deed]} {headline(item)}", "plain" if ticked else "muted"),
            GridCell(said + more, "warn"),
        )

    def gutter(self, row: int) -> GridCell:
        return GridCell("!", "warn") if self._view.items[row].checked else GridCell("")
