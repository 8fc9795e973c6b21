"""A table of lines to choose from: the screen's own Enter opens the line under the cursor."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import DataTable


class ListTable(DataTable[Text], inherit_bindings=False):
    """Cells are `Text`, so that nothing in them is parsed as markup. Moves by key; a click posts
    `RowSelected`; Enter is left to the screen, whose footer names what it does.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "cursor_up", show=False),
        Binding("down", "cursor_down", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown", "page_down", show=False),
        Binding("home,ctrl+home", "scroll_top", show=False),
        Binding("end,ctrl+end", "scroll_bottom", show=False),
    ]

    def __init__(self, *, id: str | None = None, show_header: bool = True) -> None:
        super().__init__(cursor_type="row", id=id, show_header=show_header)
