"""A table of lines to choose from: the screen's own Enter opens the line under the cursor."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from cuecard.tui.widgets.fitted_table import FittedTable


class ListTable(FittedTable, inherit_bindings=False):
    """Moves by key; a click posts `RowSelected`; Enter is left to the screen, whose footer names
    what it does.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "cursor_up", show=False),
        Binding("down", "cursor_down", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown", "page_down", show=False),
        Binding("home,ctrl+home", "scroll_top", show=False),
        Binding("end,ctrl+end", "scroll_bottom", show=False),
    ]
