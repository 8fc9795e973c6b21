"""A table widget for any number of rows, which draws only the rows in view.

`Grid` shows and selects, `EditableGrid` also edits in place. Both are imported on first use: lists do not need the latter at
start-up, and what prints cells without a screen needs neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cuecard.tui.grid.cells import GridCell, GridColumn, GridSource, ListSource, Tone

if TYPE_CHECKING:
    from cuecard.tui.grid.editable_grid import EditableGrid
    from cuecard.tui.grid.grid import Grid

__all__ = ["EditableGrid", "Grid", "GridCell", "GridColumn", "GridSource", "ListSource", "Tone"]


def __getattr__(name: str) -> Any:
    if name == "EditableGrid":
        from cuecard.tui.grid.editable_grid import EditableGrid

        return EditableGrid
    if name == "Grid":
        from cuecard.tui.grid.grid import Grid

        return Grid
    raise AttributeError(name)
