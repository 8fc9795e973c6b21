"""What a sheet tells its parents; handlers are named `on_sheet_…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from cuecard.tui.widgets.grid.sheet import Sheet


class OfSheet(Message):
    def __init__(self, sheet: Sheet) -> None:
        super().__init__()
        self.sheet = sheet

    @property
    def control(self) -> Sheet:
        return self.sheet


class OfCell(OfSheet):
    def __init__(self, sheet: Sheet, row: int, column: int) -> None:
        super().__init__(sheet)
        self.row = row
        self.column = column


class OfText(OfCell):
    def __init__(self, sheet: Sheet, row: int, column: int, text: str) -> None:
        super().__init__(sheet, row, column)
        self.text = text


class CellEdited(OfText, namespace="sheet"):
    """The text of the cell being edited is another one: after every key."""


class CellGivenUp(OfText, namespace="sheet"):
    """The cell is no longer edited, and is to say `text` again, as when that began."""


class CellCommitted(OfText, namespace="sheet"):
    """The text was changed and taken. `CellEdited` with the same text came before."""


class Pasted(OfText, namespace="sheet"):
    """Several lines or cells were pasted on a cell; nothing is done with them here."""


class BeginAsked(OfCell, namespace="sheet"):
    """A cell is to be edited. `typed` is what replaces its text, None to keep that."""

    def __init__(self, sheet: Sheet, row: int, column: int, typed: str | None) -> None:
        super().__init__(sheet, row, column)
        self.typed = typed


class NextRowAsked(OfSheet, namespace="sheet"):
    """Enter or Tab past the last row: add one and `begin` in it, or do nothing."""
