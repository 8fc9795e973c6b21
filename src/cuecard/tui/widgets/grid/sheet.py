"""A grid whose cells are edited in place: type, Tab, Enter, next row."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message
from textual.widgets import Input

from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.widgets.grid.columns import GridColumn
from cuecard.tui.widgets.grid.drawing import plain
from cuecard.tui.widgets.grid.editor import CandidateList, CellInput, HintLine, pasted_line
from cuecard.tui.widgets.grid.grid import Grid
from cuecard.tui.widgets.grid.matching import Candidates, Completer
from cuecard.tui.widgets.grid.source import GridSource

_PATIENCE = 1.0
_MOVES: dict[str, Callable[[Grid], None]] = {
    "up": lambda grid: grid.action_walk(-1),
    "down": lambda grid: grid.action_walk(1),
    "left": lambda grid: grid.action_step(-1),
    "right": lambda grid: grid.action_step(1),
    "home": lambda grid: grid.action_edge(-1),
    "end": lambda grid: grid.action_edge(1),
    "pageup": lambda grid: grid.action_page(-1),
    "pagedown": lambda grid: grid.action_page(1),
}
_EDITS: dict[str, Callable[[Input], None]] = {
    "backspace": Input.action_delete_left,
    "delete": Input.action_delete_right,
    "left": Input.action_cursor_left,
    "right": Input.action_cursor_right,
    "home": Input.action_home,
    "end": Input.action_end,
}
_STEPS = ("enter", "tab", "shift+tab", "escape", "up", "down", "alt+down", "pageup", "pagedown")


class SheetGrid(Grid):
    """The cells of a sheet: keys and pastes go through the sheet first, in the order they came."""

    BINDINGS = keys(
        Key("sheet.edit", "f2,enter", "edit", N_("Edit"), N_("Edit this cell; typing replaces it"), shown_as="⏎"),
    )  # fmt: skip

    class EditAsked(Message):
        """The person asked to edit the cell under the cursor."""

    def __init__(
        self,
        columns: Sequence[GridColumn],
        route: Callable[[events.Key | events.Paste], bool],
        *,
        marking: bool,
        numbered: bool,
        fixed: int,
    ) -> None:
        super().__init__(
            columns, cursor="cell", marking=marking, numbered=numbered, fixed=fixed, id="cells"
        )
        self._route = route

    def check_consume_key(self, key: str, character: str | None) -> bool:
        if key == "space" and self.marking:
            return False
        return character is not None and character.isprintable()

    async def on_key(self, event: events.Key) -> None:
        if self._route(event):
            event.stop()
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        if self._route(event):
            event.stop()

    def action_edit(self) -> None:
        self.action_choose()


class Sheet(Container):
    """`load` a source; on `BeginAsked` call `begin` with the cell's present text.

    Printable keys belong to the cells: a pane's own keys must not be letters, digits or signs.
    """

    DEFAULT_CSS = """
    Sheet { layers: base over; height: 1fr; }
    Sheet > SheetGrid { layer: base; height: 1fr; }
    Sheet > HintLine { layer: base; }
    """

    class _OfCell(Message):
        def __init__(self, sheet: Sheet, row: int, column: int) -> None:
            super().__init__()
            self.sheet = sheet
            self.row = row
            self.column = column

        @property
        def control(self) -> Sheet:
            return self.sheet

    class _OfText(_OfCell):
        def __init__(self, sheet: Sheet, row: int, column: int, text: str) -> None:
            super().__init__(sheet, row, column)
            self.text = text

    class CellEdited(_OfText):
        """The text of the cell being edited is another one: after every key, and when given up."""

    class CellCommitted(_OfText):
        """The text was changed and taken. `CellEdited` with the same text came before."""

    class Pasted(_OfText):
        """Several lines or cells were pasted on a cell; nothing is done with them here."""

    class BeginAsked(_OfCell):
        """A cell is to be edited. `typed` is what replaces its text, None to keep that."""

        def __init__(self, sheet: Sheet, row: int, column: int, typed: str | None) -> None:
            super().__init__(sheet, row, column)
            self.typed = typed

    class NextRowAsked(Message):
        """Enter or Tab past the last row: add one and `begin` in it, or do nothing."""

        def __init__(self, sheet: Sheet) -> None:
            super().__init__()
            self.sheet = sheet

        @property
        def control(self) -> Sheet:
            return self.sheet

    def __init__(
        self,
        columns: Sequence[GridColumn],
        *,
        marking: bool = False,
        numbered: bool = True,
        fixed: int = 0,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.grid: Grid = SheetGrid(
            columns, self._routed, marking=marking, numbered=numbered, fixed=fixed
        )
        self._input = CellInput(self._routed, self._was_typed, self._was_left)
        self._list = CandidateList()
        self._hint_line = HintLine()
        self._editing: tuple[int, int] | None = None
        self._original = ""
        self._typed_text = ""
        self._list_width = 0
        self._candidates: Completer = Candidates()
        self._given: Sequence[str] | Completer = ()
        self._hint: Callable[[str], str] | None = None
        self._note: tuple[str, bool] = ("", False)
        # While the pane has not answered `BeginAsked`, keys wait here for the cell they were meant for.
        self._asked = False
        self._asked_text: str | None = None
        self._selecting = False
        self._held: list[events.Key | events.Paste] = []

    def compose(self) -> ComposeResult:
        yield self.grid
        yield self._hint_line
        yield self._input
        yield self._list

    def on_mount(self) -> None:
        self.watch(self.grid, "scroll_x", self._place, init=False)
        self.watch(self.grid, "scroll_y", self._place, init=False)

    @property
    def editing(self) -> tuple[int, int] | None:
        """(row, column) of the cell being edited."""
        return self._editing

    @property
    def value(self) -> str:
        """The text in the cell being edited; empty if there is none."""
        return self._input.value if self._editing else ""

    def load(self, source: GridSource, *, cursor: tuple[int, int] | None = None) -> None:
        """Show `source`; an edit in a cell that is still there goes on."""
        self.grid.load(source, cursor=cursor)
        if self._editing and self._editing[0] >= self.grid.count:
            self._close()
        self._place()

    def begin(
        self,
        row: int,
        column: int,
        text: str,
        *,
        keep: bool = True,
        candidates: Sequence[str] | Completer = (),
        hint: Callable[[str], str] | None = None,
    ) -> None:
        """Edit a cell whose present text is `text`: what Escape brings back.

        What was typed to begin with is put in here, instead of `text`; without `keep` the cell
        begins empty. `candidates` come in order of preference, or from a `Completer`; `hint`
        gives a warning about a text, or "", and is asked at every key.
        """
        if self._editing and self._editing != (row, column):
            self.commit()
        typed, selecting = self._asked_text, self._asked and self._selecting
        self._forget_asking()
        self.grid.move_to(row, column)
        self._editing = (row, column)
        self._original = text
        self._list_width = 0
        if candidates is not self._given:
            self._given = candidates
            known = isinstance(candidates, Sequence)
            self._candidates = Candidates(candidates) if known else candidates
        self._hint = hint
        start = typed if typed is not None else text if keep else ""
        self._input.show_text(start, selected=selecting and bool(start))
        self._input.display = True
        self._place()
        self.screen.set_focus(self._input)
        if start != text:
            self._was_typed(start)
        else:
            self._offer([])
            self._say(start)
        held, self._held = self._held, []
        for event in held:
            self._routed(event)

    def note(self, text: str, *, warning: bool = False) -> None:
        """What the line below the cells says while none is edited; any text."""
        self._note = (text, warning)
        if self._editing is None:
            self._show_note()

    def refuse(self) -> None:
        """The cell that was asked for is not edited here; keys typed for it are dropped."""
        if self._asked:
            self._give_up_waiting()

    def commit(self) -> None:
        """Take the text and end editing."""
        if self._editing:
            self._take()
            self._close()

    def cancel(self) -> None:
        """End editing with the text that stood there before."""
        if self._editing:
            if self._input.value != self._original:
                self.post_message(self.CellEdited(self, *self._editing, self._original))
            self._close()

    # Keys, in the order they came: whatever the focus was when they were typed

    def _routed(self, event: events.Key | events.Paste) -> bool:
        """Whether the sheet has done, or will do, with this key or paste."""
        if self._asked:
            mine = isinstance(event, events.Paste) or self._knows(event)
            if mine:
                self._held.append(event)
            return mine
        if isinstance(event, events.Paste):
            return self._pasted(event.text)
        if self._editing:
            return self._edit_key(event)
        return self._grid_key(event)

    def _knows(self, event: events.Key) -> bool:
        return event.is_printable or event.key in _EDITS or event.key in _STEPS

    def _grid_key(self, event: events.Key) -> bool:
        if event.key in ("enter", "f2"):
            self._ask(*self._here)
        elif event.key == "backspace":
            self._ask(*self._here, typed="")
        elif event.key == "space" and self.grid.marking:
            return False
        elif event.is_printable and event.character:
            self._ask(*self._here, typed=event.character)
        elif event.key in _MOVES:
            _MOVES[event.key](self.grid)
        else:
            return False
        return True

    def _edit_key(self, event: events.Key) -> bool:
        self.grid.move_to(*self._here)
        if event.is_printable and event.character:
            self._insert(event.character)
        elif event.key in _EDITS:
            _EDITS[event.key](self._input)
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
                self._offer(self._candidates.matching(""))
            case "up" | "down" if self._list.display:
                self._choose(-1 if key == "up" else 1)
            case _:
                self.commit()
                _MOVES[key](self.grid)

    def _pasted(self, text: str) -> bool:
        if self._editing:
            self._insert(pasted_line(text))
        # Terminals paste line breaks as carriage returns.
        elif "\t" in text or len(text.strip("\r\n").splitlines()) > 1:
            self.post_message(self.Pasted(self, *self._here, text))
        elif line := pasted_line(text):
            self._ask(*self._here, typed=line)
        return True

    def _insert(self, text: str) -> None:
        selection = self._input.selection
        if selection.is_empty:
            self._input.insert_text_at_cursor(text)
        else:
            self._input.replace(text, *selection)

    # From cell to cell

    @property
    def _here(self) -> tuple[int, int]:
        return self.grid.cursor_row, self.grid.cursor_column

    def _ask(
        self, row: int, column: int, *, typed: str | None = None, select: bool = False
    ) -> None:
        if not self.grid.count:
            self._ask_for_row()
            return
        self.grid.move_to(row, column)
        self._wait(typed, select=select)
        self.post_message(self.BeginAsked(self, row, column, typed))

    def _ask_for_row(self) -> None:
        self._wait(None, select=True)
        self.post_message(self.NextRowAsked(self))

    def _wait(self, typed: str | None, *, select: bool) -> None:
        self._editing = None
        self._asked, self._asked_text, self._selecting = True, typed, select
        self._patience = self.set_timer(_PATIENCE, self._give_up_waiting)

    def _forget_asking(self) -> None:
        if self._asked:
            self._patience.stop()
        self._asked, self._asked_text = False, None

    def _give_up_waiting(self) -> None:
        """The pane does not want this cell edited."""
        self._forget_asking()
        self._held.clear()
        self._close()

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
        blank = not self._input.value and self._blank(row - 1)
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
        if self._editing and self._input.value != self._original:
            self.post_message(self.CellCommitted(self, *self._editing, self._input.value))

    def _close(self) -> None:
        self._editing = None
        had_focus = self.screen.focused is self._input
        self._input.display = False
        self._offer([])
        self._show_note()
        if had_focus:
            self.screen.set_focus(self.grid)

    # What is shown while a cell is edited

    def _was_typed(self, value: str) -> None:
        if not self._editing:
            return
        self._typed_text = value
        self._offer(self._candidates.matching(value) if value.strip() else [])
        self._say(value)
        self._place()
        self.post_message(self.CellEdited(self, *self._editing, value))

    def _say(self, value: str) -> None:
        warning = one_line(self._hint(value)) if self._hint else ""
        if warning:
            self._hint_line.load(warning, warning=True)
        else:
            self._hint_line.load(_("Enter next row · Tab next cell · Esc as it was"))

    def _show_note(self) -> None:
        text, warning = self._note
        self._hint_line.load(one_line(text, 400), warning=warning)

    def _offer(self, texts: Sequence[str], chosen: int = -1) -> None:
        self._list.load(texts, chosen)
        self._list.display = bool(texts)
        if texts:
            self._place()

    def _choose(self, by: int) -> None:
        """Put the next candidate into the line; past the ends, what was typed."""
        texts, typed = self._list.texts, self._typed_text
        chosen = (self._list.chosen + 1 + by) % (len(texts) + 1) - 1
        self._list.load(texts, chosen)
        self._put(texts[chosen] if chosen >= 0 else typed)

    def _put(self, text: str) -> None:
        self._input.show_text(text)
        self._say(text)
        if self._editing:
            self.post_message(self.CellEdited(self, *self._editing, text))

    def _place(self) -> None:
        """Lay the line over its cell, and the candidates below or above it."""
        if not self._editing:
            return
        cell = self.grid.cell_region(*self._editing)
        room = self.grid.size
        if not cell.width:
            self._input.styles.offset = (0, -2)
            self._list.styles.offset = (0, -20)
            return
        need = self._input.content_width + 1
        width = max(cell.width, min(need, room.width - cell.x))
        self._input.styles.offset = (cell.x, cell.y)
        self._input.styles.width = width
        texts = self._list.texts
        if texts:
            below = room.height - cell.bottom
            y = cell.bottom if below >= len(texts) or below >= cell.y else cell.y - len(texts)
            # It only grows while one cell is edited: a new size lays the whole screen out again.
            self._list_width = max(self._list_width, width + 1, self._list.needed + 2)
            wide = min(self._list_width, room.width)
            x = max(0, min(cell.x - 1, room.width - wide))
            self._list.styles.offset = (x, y)
            self._list.styles.width = wide
            self._list.styles.height = len(texts)

    def _was_left(self) -> None:
        if self._editing and self.screen.focused is not self._input:
            self.commit()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self._ask(event.row, event.column)

    def on_candidate_list_picked(self, event: CandidateList.Picked) -> None:
        event.stop()
        if self._editing:
            self._typed_text = event.text
            self._put(event.text)
            self._offer([])
