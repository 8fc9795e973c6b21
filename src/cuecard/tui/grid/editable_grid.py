"""A grid whose cells are edited in place, spreadsheet-like (type, Tab, Enter, next row)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.dom import DOMNode
from textual.message import Message
from textual.widgets import Input

from cuecard.tui.drawing import Container
from cuecard.tui.grid.cell_input import Completer, pasted_line
from cuecard.tui.grid.cell_overlay import COMMANDS, EDITS, MOVES, CellGrid, CellOverlay
from cuecard.tui.grid.cells import GridColumn, GridSource, plain
from cuecard.tui.grid.grid import Grid


class OfEditableGrid(Message):
    def __init__(self, editable_grid: EditableGrid) -> None:
        super().__init__()
        self.editable_grid = editable_grid

    @property
    def control(self) -> EditableGrid:
        return self.editable_grid


class OfCell(OfEditableGrid):
    def __init__(self, editable_grid: EditableGrid, row: int, column: int) -> None:
        super().__init__(editable_grid)
        self.row = row
        self.column = column


class OfText(OfCell):
    def __init__(self, editable_grid: EditableGrid, row: int, column: int, text: str) -> None:
        super().__init__(editable_grid, row, column)
        self.text = text


_STEPS = ("enter", "tab", "shift+tab", "escape", "up", "down", "alt+down", "pageup", "pagedown")


class EditableGrid(Container):
    """A `Grid` with editing. `load` a source; when it posts `BeginAsked`, call `begin` with the cell's text, or
    nothing.

    Keys are handled strictly in order, whatever had the focus: keys that arrive before the answer to `BeginAsked` wait
    for the cell. Printable keys belong to the cells, so a pane's own bindings must not be letters, digits or signs.
    """

    DEFAULT_CSS = """
    EditableGrid { layers: base over; height: 1fr; }
    EditableGrid > CellGrid { layer: base; height: 1fr; }
    EditableGrid > HintLine { layer: base; }
    """

    class CellEdited(OfText):
        """The text of the cell being edited has changed; posted after every key."""

    class CellCommitted(OfText):
        """An edit was finished with another text. `CellEdited` with the same text came before."""

    class CellGivenUp(OfText):
        """An edit was cancelled; the cell should show `text`, as before."""

    class Pasted(OfText):
        """Several lines or cells were pasted on a cell. The grid itself does nothing with them."""

    class BeginAsked(OfCell):
        """The person wants to edit a cell. `typed` replaces its text; None to keep it."""

        def __init__(
            self, editable_grid: EditableGrid, row: int, column: int, typed: str | None
        ) -> None:
            super().__init__(editable_grid, row, column)
            self.typed = typed

    class NextRowAsked(OfEditableGrid):
        """Enter or Tab beyond the last row: the parent may add a row and `begin` there."""

    def __init__(
        self,
        columns: Sequence[GridColumn],
        *,
        marking: bool = False,
        numbered: bool = True,
    ) -> None:
        super().__init__()
        grid = CellGrid(
            columns,
            self._routed,
            self._was_picked,
            marking=marking,
            numbered=numbered,
        )
        self.grid: Grid = grid
        self._over = CellOverlay(grid, self._routed, self._was_typed, self._was_left)
        self._editing: tuple[int, int] | None = None
        self._original = ""
        # What waits while the pane has not answered: the text that a cell begins with, whether the
        # text in it is selected, and the keys after.
        self._asked: Message | None = None
        self._asked_text: str | None = None
        self._selecting = False
        self._held: list[events.Key | events.Paste] = []

    def compose(self) -> ComposeResult:
        yield self.grid
        yield self._over.hint_line
        yield self._over.line

    def on_mount(self) -> None:
        self.watch(self.grid, "scroll_x", self._over.place, init=False)
        self.watch(self.grid, "scroll_y", self._over.place, init=False)

    @property
    def editing(self) -> tuple[int, int] | None:
        """(row, column) of the cell being edited."""
        return self._editing

    @property
    def value(self) -> str:
        """The text in the cell being edited; empty if there is none."""
        return self._over.value if self._editing else ""

    def load(self, source: GridSource, *, cursor: tuple[int, int] | None = None) -> None:
        """Show `source`; an edit in a cell that is still there goes on."""
        self.grid.load(source, cursor=cursor)
        if self._editing and self._editing[0] >= self.grid.count:
            self._close()
        self._over.place()

    def begin(
        self,
        row: int,
        column: int,
        text: str,
        *,
        candidates: Sequence[str] | Completer = (),
        hint: Callable[[str], str] | None = None,
    ) -> None:
        """Edit a cell whose present text is `text`: what Escape brings back.

        What was typed to begin with is put in here, instead of `text`. `candidates` come in order of preference, or from a `Completer`; `hint`
        gives a warning about a text, or "", and is asked at every key.
        """
        if self._editing and self._editing != (row, column):
            self.commit()
        typed, selected = self._asked_text, self._asked is not None and self._selecting
        self._asked = self._asked_text = None
        self.grid.move_to(row, column)
        self._editing, self._original = (row, column), text
        start = typed if typed is not None else text
        self._over.open(
            (row, column),
            start,
            typed=start != text,
            selected=selected,
            candidates=candidates,
            hint=hint,
        )
        self.screen.set_focus(self._over.line)
        if start != text:
            self._was_typed(start)
        self._replay()

    def note(self, text: str, *, warning: bool = False) -> None:
        """What the line below the cells says while none is edited; any text."""
        self._over.note(text, warning=warning)

    def refuse(self) -> None:
        """The cell that was asked for is not edited here; what was typed for it is dropped. The same
        as not answering.
        """
        if self._asked is not None:
            self._asked = self._asked_text = None
            self._close()
            self._replay()

    def commit(self) -> None:
        """Take the text and end editing."""
        if self._editing:
            self._take()
            self._close()

    def cancel(self) -> None:
        """End editing with the text that stood there before."""
        if self._editing:
            self.post_message(self.CellGivenUp(self, *self._editing, self._original))
            self._close()

    # Keys

    def _routed(self, event: events.Key | events.Paste) -> bool:
        """Whether the grid has done, or will do, with this key or paste."""
        if self._asked is not None:
            mine = isinstance(event, events.Paste) or _knows(event)
            if mine:
                self._held.append(event)
            return mine
        if isinstance(event, events.Paste):
            return self._pasted(event.text)
        return self._edit_key(event) if self._editing else self._grid_key(event)

    def _replay(self) -> None:
        held, self._held = self._held, []
        for event in held:
            self._routed(event)

    def _grid_key(self, event: events.Key) -> bool:
        if event.key in ("enter", "f2"):
            self._ask(*self._here)
        elif event.key == "backspace":
            self._ask(*self._here, typed="")
        elif event.key in COMMANDS or (event.key == "space" and self.grid.marking):
            return False
        elif event.is_printable and event.character:
            self._ask(*self._here, typed=event.character)
        elif event.key in MOVES:
            MOVES[event.key](self.grid)
        else:
            return False
        return True

    def _edit_key(self, event: events.Key) -> bool:
        self.grid.move_to(*(self._editing or self._here))
        if event.is_printable and event.character:
            self._over.insert(event.character)
        elif event.key in EDITS:
            EDITS[event.key](self._over.line)
        elif event.key in _STEPS:
            self._step(event.key)
        else:
            return False
        return True

    def _step(self, key: str) -> None:
        match key:
            case "enter":
                self._next_row()
            case "tab":
                self._next_cell(1)
            case "shift+tab":
                self._next_cell(-1)
            case "escape":
                self.cancel()
            case "alt+down":
                self._over.offer_all()
            case "up" | "down" if self._over.offers:
                self._over.choose(-1 if key == "up" else 1)
            case _:
                self.commit()
                MOVES[key](self.grid)

    def _pasted(self, text: str) -> bool:
        if self._editing:
            self._over.insert(pasted_line(text))
        # Terminals paste line breaks as carriage returns.
        elif "\t" in text or len(text.strip("\r\n").splitlines()) > 1:
            self.post_message(self.Pasted(self, *self._here, text))
        elif line := pasted_line(text):
            self._ask(*self._here, typed=line)
        return True

    # From cell to cell

    @property
    def _here(self) -> tuple[int, int]:
        return self.grid.cursor_row, self.grid.cursor_column

    def _ask(
        self, row: int, column: int, *, typed: str | None = None, select: bool = False
    ) -> None:
        self._asked_text, self._selecting = typed, select
        if self.grid.count:
            self.grid.move_to(row, column)
            self._ask_pane(self.BeginAsked(self, row, column, typed))
        else:
            self._ask_pane(self.NextRowAsked(self))

    def _ask_for_row(self) -> None:
        self._asked_text, self._selecting = None, True
        self._ask_pane(self.NextRowAsked(self))

    def _ask_pane(self, message: Message) -> None:
        self._editing, self._asked = None, message
        self.post_message(message)
        self.call_later(self._follow, message, self.ancestors)

    def _follow(self, message: Message, above: Sequence[DOMNode]) -> None:
        """Go the way that `message` goes, behind it: at the top, nobody has answered it."""
        if self._asked is message:
            if above:
                above[0].call_later(self._follow, message, above[1:])
            else:
                self.refuse()

    def _next_cell(self, by: int) -> None:
        columns = self.grid.editable_columns
        row, column = self._here
        at = columns.index(column) + by if column in columns else 0
        if 0 <= at < len(columns):
            target = (row, columns[at])
        elif by > 0:
            self._next_row()
            return
        elif row > 0 and columns:
            target = (row - 1, columns[-1])
        else:
            self.commit()
            return
        self._take()
        self._ask(*target, select=True)

    def _next_row(self) -> None:
        columns = self.grid.editable_columns
        row = self.grid.cursor_row + 1
        blank = not self._over.value and self._blank(row - 1)
        self._take()
        if row < self.grid.count and columns:
            self._ask(row, columns[0], select=True)
        elif blank:
            self._close()
        else:
            self._ask_for_row()

    def _blank(self, row: int) -> bool:
        """Whether nothing is in a row: another empty one below would be of no use."""
        return not any(plain(cell).strip() for cell in self.grid.source.cells(row))

    def _take(self) -> None:
        if self._editing and self._over.value != self._original:
            self.post_message(self.CellCommitted(self, *self._editing, self._over.value))

    def _close(self) -> None:
        self._editing = None
        had_focus = self.screen.focused is self._over.line
        self._over.close()
        if had_focus:
            self.screen.set_focus(self.grid)

    def _was_typed(self, value: str) -> None:
        if self._editing:
            self.post_message(self.CellEdited(self, *self._editing, value))

    def _was_left(self) -> None:
        if self._editing and self.screen.focused is not self._over.line:
            self.commit()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self._ask(event.row, event.column)

    def _was_picked(self, text: str) -> None:
        if self._editing:
            self._over.pick(text)


def _knows(event: events.Key) -> bool:
    return event.is_printable or event.key in EDITS or event.key in _STEPS
