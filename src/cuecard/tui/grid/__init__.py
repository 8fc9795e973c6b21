"""The one table of lines: draws what is in view only, whatever the number of its rows.

`Grid` shows and chooses, `EditableGrid` also edits in place. `EditableGrid` is imported when it is asked for, so
that lists cost no more start-up than they need.
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
