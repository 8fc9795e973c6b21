"""A table widget for any number of rows, which draws only the rows in view.

`Grid` shows and selects, `EditableGrid` also edits in place; the latter is imported on first use, because lists do not
need it at start-up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cuecard.tui.grid.cells import GridCell, GridColumn, GridSource, ListSource, Tone
from cuecard.tui.grid.grid import Grid

if TYPE_CHECKING:
    from cuecard.tui.grid.editable_grid import EditableGrid

__all__ = ["EditableGrid", "Grid", "GridCell", "GridColumn", "GridSource", "ListSource", "Tone"]


def __getattr__(name: str) -> Any:
    if name == "EditableGrid":
        from cuecard.tui.grid.editable_grid import EditableGrid

        return EditableGrid
    raise AttributeError(name)
