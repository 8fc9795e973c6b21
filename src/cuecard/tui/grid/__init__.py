"""The one table of lines: draws what is in view only, whatever the number of its rows.

`Grid` shows and chooses, `Sheet` also edits in place. `Sheet` is imported when it is asked for, so
that lists cost no more start-up than they need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cuecard.tui.grid.cells import GridCell, GridColumn, GridSource, ListSource, Tone
from cuecard.tui.grid.grid import Grid

if TYPE_CHECKING:
    from cuecard.tui.grid.editable_grid import Sheet

__all__ = ["Grid", "GridCell", "GridColumn", "GridSource", "ListSource", "Sheet", "Tone"]


def __getattr__(name: str) -> Any:
    if name == "Sheet":
        from cuecard.tui.grid.editable_grid import Sheet

        return Sheet
    raise AttributeError(name)
