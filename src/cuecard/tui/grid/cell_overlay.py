"""The widgets over a cell while it is edited: input line, completions, and hint."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import Input

from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.grid.cell_input import Candidates, CellInput, Completer, HintLine, Popup
from cuecard.tui.grid.cells import GridColumn
from cuecard.tui.grid.grid import Grid

COMMANDS = frozenset({"slash", "full_stop"})
"""Keys of commands though they type something: a text that begins so is begun with Enter, as in spreadsheets."""
MOVES: dict[str, Callable[[Grid], None]] = {
    "up": lambda grid: grid.action_walk(-1),
    "down": lambda grid: grid.action_walk(1),
    "left": lambda grid: grid.action_step(-1),
    "right": lambda grid: grid.action_step(1),
    "home": lambda grid: grid.action_edge(-1),
    "end": lambda grid: grid.action_edge(1),
    "pageup": lambda grid: grid.action_page(-1),
    "pagedown": lambda grid: grid.action_page(1),
}


class CellGrid(Grid):
    """The grid inside an editable grid. `route` gets keys and pastes first, in order. A popup may cover its lines;
    `picked` is called for a click on one of its texts.
    """

    DEFAULT_CSS = """
    CellGrid {
        & > .grid--offers { background: $panel; color: $foreground; }
        & > .grid--offer { background: $cursor; color: $foreground; text-style: $cursor-style; }
    }
    """
    COMPONENT_CLASSES = {"grid--offers", "grid--offer"}
    BINDINGS = keys(
        Key("sheet.edit", (Means.OPEN, Means.EDIT), "choose", N_("Edit"), N_("Edit this cell; typing replaces it")),
    )  # fmt: skip

    def __init__(
        self,
        columns: Sequence[GridColumn],
        route: Callable[[events.Key | events.Paste], bool],
        picked: Callable[[str], None],
        *,
        marking: bool,
        numbered: bool,
    ) -> None:
        super().__init__(columns, cursor="cell", marking=marking, numbered=numbered, id="cells")
        self._route = route
        self._picked = picked
        self._popup: Popup | None = None

    @property
    def popup(self) -> Popup | None:
        return self._popup

    def pop_up(self, popup: Popup | None, cell: Region | None = None) -> None:
        """Lay a list over the lines by `cell`, or where it says; or nothing."""
        before = self._popup
        if popup and cell:
            view = self._view
            head = self._head
            popup = popup.at(cell, Region(0, head, view.width - 1, view.height - head))
        self._popup = popup
        for shown in (before, popup):
            if shown and shown.region and before != popup:
                self.refresh(shown.region)

    def _strips(self, lines: range) -> Iterator[Strip]:
        popup, strips = self._popup, super()._strips(lines)
        if popup is None:
            yield from strips
            return
        offers = self.get_component_rich_style("grid--offers")
        offer = self.get_component_rich_style("grid--offer")
        for y, strip in zip(lines, strips, strict=True):
            yield popup.over(strip, y, offers, offer)

    def focus_on_click(self) -> bool:
        # The line being edited keeps the focus while a text is picked for it.
        at = self.app.mouse_position - self.region.offset
        return self._popup is None or at not in self._popup.region

    def on_click(self, event: events.Click) -> None:
        popup = self._popup
        if popup and event.offset in popup.region:
            event.prevent_default()
            self._picked(popup.texts[event.y - popup.region.y])

    def check_consume_key(self, key: str, character: str | None) -> bool:
        if key in COMMANDS or (key == "space" and self.marking):
            return False
        return character is not None and character.isprintable()

    async def on_key(self, event: events.Key) -> None:
        if self._route(event):
            event.stop()
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        if self._route(event):
            event.stop()


EDITS: dict[str, Callable[[Input], None]] = {
    "backspace": Input.action_delete_left,
    "delete": Input.action_delete_right,
    "left": Input.action_cursor_left,
    "right": Input.action_cursor_right,
    "home": Input.action_home,
    "end": Input.action_end,
}
_NOTE = 400


class CellOverlay:
    """The widgets of a cell being edited, placed over it in `grid`.

    `route` gets keys and pastes first, `typed` every change of the text, `left` the loss of focus.
    """

    def __init__(
        self,
        grid: CellGrid,
        route: Callable[[events.Key | events.Paste], bool],
        typed: Callable[[str], None],
        left: Callable[[], None],
    ) -> None:
        self._grid = grid
        self._typed = typed
        self.line = CellInput(route, self._was_typed, left)
        self.hint_line = HintLine()
        self._cell: tuple[int, int] | None = None
        self._typed_text = ""
        self._popup = Popup(())
        self._given: Sequence[str] | Completer = ()
        self._candidates: Completer = Candidates()
        self._hint: Callable[[str], str] | None = None
        self._note: tuple[str, bool] = ("", False)

    @property
    def value(self) -> str:
        return self.line.value

    @property
    def offers(self) -> bool:
        """Whether candidates are shown."""
        return self._grid.popup is not None

    def open(
        self,
        cell: tuple[int, int],
        text: str,
        *,
        typed: bool,
        selected: bool,
        candidates: Sequence[str] | Completer,
        hint: Callable[[str], str] | None,
    ) -> None:
        """Lay the line with `text` over a cell of the grid; candidates are shown if it was typed."""
        self._cell = cell
        self._grid.cover(cell)
        self._typed_text, self._popup = text, Popup(())
        if candidates is not self._given:
            self._given = candidates
            known = isinstance(candidates, Sequence)
            self._candidates = Candidates(candidates) if known else candidates
        self._hint = hint
        self.line.show_text(text, selected=selected and bool(text))
        self.line.display = True
        self.offer(self._candidates.matching(text) if typed and text.strip() else ())
        self.place()
        self._say(text)

    def close(self) -> None:
        if self._cell is not None:
            self._cell = None
            self._grid.cover(None)
        self.line.display = False
        self._grid.pop_up(None)
        self._show_note()

    def note(self, text: str, *, warning: bool) -> None:
        self._note = (text, warning)
        if self._cell is None:
            self._show_note()

    def insert(self, text: str) -> None:
        """Put `text` in at the cursor, instead of what is selected."""
        selection = self.line.selection
        if selection.is_empty:
            self.line.insert_text_at_cursor(text)
        else:
            self.line.replace(text, *selection)

    def offer(self, texts: Sequence[str]) -> None:
        """Show these candidates, or none."""
        self._show(replace(self._popup, texts=texts, chosen=-1))

    def offer_all(self) -> None:
        self.offer(self._candidates.matching(""))

    def choose(self, by: int) -> None:
        """Put the next candidate into the line; past the ends, what was typed."""
        popup = self._popup
        chosen = (popup.chosen + 1 + by) % (len(popup.texts) + 1) - 1
        self._show(replace(popup, chosen=chosen))
        self._put(popup.texts[chosen] if chosen >= 0 else self._typed_text)

    def pick(self, text: str) -> None:
        """Put this candidate into the line."""
        self._typed_text = text
        self._put(text)
        self.offer(())

    def place(self) -> None:
        """Lay the line over its cell, and the candidates below or above it."""
        if self._cell is None:
            return
        cell = self._grid.cell_region(*self._cell)
        if not cell:
            # Scrolled out of view. It keeps the focus: the next key brings it back.
            self.line.styles.offset = (0, -2)
            self._grid.pop_up(None)
            return
        room = self._grid.size.width - cell.x
        self.line.styles.offset = (cell.x, cell.y)
        self.line.styles.width = max(cell.width, min(self.line.content_width + 1, room))
        self._show(self._popup)

    def _show(self, popup: Popup) -> None:
        cell = self._grid.cell_region(*self._cell) if self._cell and popup.texts else None
        self._grid.pop_up(popup if cell else None, cell)
        self._popup = self._grid.popup or popup

    def _was_typed(self, value: str) -> None:
        if self._cell is None:
            return
        self._typed_text = value
        self.offer(self._candidates.matching(value) if value.strip() else ())
        self._say(value)
        self.place()
        self._typed(value)

    def _put(self, text: str) -> None:
        self.line.show_text(text)
        self._say(text)
        self.place()
        self._typed(text)

    def _say(self, value: str) -> None:
        warning = one_line(self._hint(value), _NOTE) if self._hint else ""
        if warning:
            self.hint_line.load(warning, warning=True)
        else:
            self.hint_line.load(_("Enter next row · Tab next cell · Esc as it was"))

    def _show_note(self) -> None:
        text, warning = self._note
        self.hint_line.load(one_line(text, _NOTE), warning=warning)
