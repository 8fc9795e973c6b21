"""Inputs: a line and a text that take only what can be shown, a path with completion by Tab, a tick box and lists of them;
and tables whose columns share the width, opened by Enter.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import TypeVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.document._wrapped_document import WrappedDocument
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.strip import Strip
from textual.widgets import Checkbox, Input, SelectionList, Static, TextArea
from textual.widgets.option_list import OptionDoesNotExist

from cuecard.core.i18n import N_
from cuecard.core.text import for_display, one_line, storable
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.drawing import Vertical
from cuecard.tui.grid.cells import PADDING, GridCell, GridColumn, ListSource, grow
from cuecard.tui.grid.grid import Grid
from cuecard.tui.present.paths import Completion, complete

_MOST = 40

OUTSIDE = Key(
    "field.outside",
    Means.OUTSIDE,
    "outside",
    N_("$EDITOR"),
    N_("Edit this text in your own editor, $VISUAL or $EDITOR"),
)


class LineEditor(Input):
    """A short text. What is pasted loses what a terminal could act on, and its lines come one behind the other."""

    BINDINGS = keys(OUTSIDE)
    # As wide as its text is no reason to lay out the whole screen again, at each key.
    virtual_size = Reactive(Size(0, 0), layout=False)

    def on_paste(self, event: events.Paste) -> None:
        event.text = " ".join(filter(None, for_display(event.text).splitlines()))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return _has_editor() if action == "outside" else True

    def action_outside(self) -> None:
        _edit_outside(self)


_WITH_FOCUS = frozenset(
    f"text-area--{each}" for each in ("gutter", "cursor-gutter", "cursor", "selection")
)
"""Parts that are drawn of a text that somebody is in."""
_UNDRAWN = Style(bold=False)  # one that is nothing at all would be worked out from colours


class TextEditor(TextArea):
    """A long text; grows with it. What is pasted loses what a terminal could act on."""

    BINDINGS = keys(
        Key("field.large", Means.ZOOM, "large", N_("Full screen"), N_("Write this text on the whole screen, with a count of words")),
        OUTSIDE,
    )  # fmt: skip

    def on_paste(self, event: events.Paste) -> None:
        event.text = for_display(event.text)

    def on_focus(self, event: events.Focus) -> None:
        # A click comes after it and puts the cursor where it was clicked.
        if self.cursor_location == (0, 0) and not event.from_app_focus:
            self.move_cursor(self.document.end)

    # A size that it was given is no reason to lay out the whole screen again; a height that it needs otherwise is.
    virtual_size = Reactive(Size(0, 0), layout=False)
    _height_told = 0

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As high as the text is in this width: Textual's is as high as it was in the width before."""
        wrapped, wraps = self.wrapped_document, width - self.gutter_width - 1
        height, now = wrapped.height, wrapped._width  # pyright: ignore[reportPrivateUsage]
        if 0 < wraps != now and not self.show_vertical_scrollbar:
            height = WrappedDocument(self.document, wraps, self.indent_width).height
        self._height_told = height
        return height

    def watch_virtual_size(self, size: Size) -> None:
        if size.height != self._height_told:
            self.refresh(layout=True)

    def get_component_rich_style(
        self, *names: str, partial: bool = False, default: Style | None = None
    ) -> Style:
        """Nothing for what is not drawn: a tab has many texts, and they would look all of it up for their first frame."""
        drawn = self.has_focus or not self.selection.is_empty or self.show_line_numbers
        if not drawn and _WITH_FOCUS.issuperset(names):
            return _UNDRAWN
        return super().get_component_rich_style(*names, partial=partial, default=default)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return _has_editor() if action == "outside" else True

    def action_large(self) -> None:
        from cuecard.tui.screens.dialogs import LongTextDialog

        def written(text: str | None) -> None:
            if text is not None and text != self.text:
                self.replace(text, (0, 0), self.document.end)  # one step for undo
                self.move_cursor(self.document.end)

        title = str(self.border_title or "")
        self.app.push_screen(LongTextDialog(title, self.text), written)

    def action_outside(self) -> None:
        _edit_outside(self)

    def show(self, text: str) -> None:
        """Load `text`, with the cursor where it first differs from what stood there."""
        old, same = self.text, 0
        while same < min(len(old), len(text)) and old[same] == text[same]:
            same += 1
        self.load_text(text)
        before = text[:same]
        if old:
            self.move_cursor((before.count("\n"), same - (before.rfind("\n") + 1)))


def _has_editor() -> bool:
    return any(os.environ.get(name, "").strip() for name in ("VISUAL", "EDITOR"))


def _edit_outside(field: Input | TextArea) -> None:
    from cuecard.tui.screens.task.outside import edit_field

    edit_field(field)


def tick(on: bool) -> str:
    """A box that can be told from an empty one in text, without its colour."""
    return "[x]" if on else "[ ]"


class Tick(Checkbox):
    """A yes or no; the box is text."""

    @property
    def _button(self) -> Content:
        return Content.assemble((tick(self.value), self.get_visual_style("toggle--label")))


class PathInput(Vertical):
    """`value` is what was typed. Tab completes as a shell does; where there is nothing to complete it
    goes to the next field.
    """

    DEFAULT_CSS = """
    PathInput { height: 2; width: 1fr; }
    PathInput > Static { height: 1; color: $muted; text-wrap: nowrap; text-overflow: ellipsis; padding: 0 1; }
    """
    BINDINGS = keys(
        Key("path.complete", Means.ONWARD, "complete", N_("Complete"), N_("Go on with the path as far as it is clear")),
    )  # fmt: skip

    class Changed(Message):
        """Another path stands there."""

        def __init__(self, path_input: PathInput) -> None:
            super().__init__()
            self.path_input = path_input

        @property
        def control(self) -> PathInput:
            return self.path_input

    class Submitted(Changed):
        """Enter was pressed."""

    def __init__(
        self,
        *,
        folders: bool = False,
        placeholder: str = "",
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._folders, self._placeholder = folders, placeholder
        self._found = Completion("")

    def compose(self) -> ComposeResult:
        yield LineEditor(placeholder=self._placeholder, compact=True, select_on_focus=False)
        yield Static("", markup=False)

    @property
    def value(self) -> str:
        return self.query_one(Input).value

    @value.setter
    def value(self, value: str) -> None:
        self.query_one(Input).value = value

    @guarded("look", background=True)
    async def load(self) -> None:
        """Show what could come next; the folder is read in a thread."""
        text = self.value
        self._found = await asyncio.to_thread(complete, text, folders=self._folders)
        shown = Text()
        for name in self._found.names[:_MOST]:
            shown.append(one_line(storable(name)), "bold" if name.endswith("/") else "").append(
                "  "
            )
        self.query_one(Static).update(shown)

    def on_mount(self) -> None:
        self.load()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.load()
        self.post_message(self.Changed(self))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Submitted(self))

    @guarded("complete")
    async def action_complete(self) -> None:
        await self.load().wait()
        found, typed = self._found, self.query_one(Input)
        if len(found.text) > len(typed.value) and found.text.startswith(typed.value):
            typed.value = found.text
            typed.cursor_position = len(found.text)
        else:
            self.screen.focus_next()


FittedColumn = GridColumn


def fitted_widths(columns: Sequence[FittedColumn], room: int) -> dict[int, int]:
    """Width by index of each column that is shown in `room` cells. Without room for all the
    growing columns shrink, to no less than 4 cells.
    """
    shown = [i for i, column in enumerate(columns) if room >= column.hidden_below]
    widths = {i: columns[i].width for i in shown}
    left = room - sum(widths.values()) - 2 * PADDING * len(shown)
    shares = {i: columns[i].grow for i in shown if columns[i].grow}
    grow(widths, shares, left)
    return {i: max(4, width) if i in shares else width for i, width in widths.items()}


class FittedTable(Grid):
    """`fill` it with rows of cells; the cursor stays where it was."""

    GUTTER = False

    def __init__(
        self, fitted: Sequence[FittedColumn], *, marking: bool = False, id: str | None = None
    ) -> None:
        super().__init__(fitted, marking=marking, id=id)
        self._cells: list[Sequence[str | GridCell | Text]] = []

    def fill(
        self, cells: Sequence[Sequence[str | GridCell | Text]], cursor: int | None = None
    ) -> None:
        """Show these rows, with the cursor on row `cursor` or where it was."""
        self._cells = list(cells)
        self.load(ListSource(self._cells), cursor=None if cursor is None else (cursor, 0))

    def go_to(self, row: int) -> None:
        """Put the cursor on `row`."""
        self.move_to(row)

    def update_row(self, index: int, cells: Sequence[str | GridCell | Text]) -> None:
        """Show other cells in one row."""
        if 0 <= index < len(self._cells):
            self._cells[index] = cells
            self.changed(index)

    def fit(self, room: int) -> dict[int, int]:
        return fitted_widths(self.columns, room)


_WITHOUT_ENTER = [
    binding
    for binding in Grid.BINDINGS
    if isinstance(binding, Binding) and binding.id != "grid.choose"
]


class ListTable(FittedTable, inherit_bindings=False):
    """Moves by key; a double click posts `Chosen`; Enter is left to the screen, whose footer names what
    it does.
    """

    BINDINGS = [*_WITHOUT_ENTER]


class FigureTable(Grid, inherit_bindings=False):
    """A table of figures with the cursor on a cell; Enter is the screen's, as in `ListTable`."""

    BINDINGS = [*_WITHOUT_ENTER]


Value = TypeVar("Value")


class TickList(SelectionList[Value]):
    """As `SelectionList`; a box is text, in the colours of its line. The cursor shows where the focus is."""

    DEFAULT_CSS = """
    TickList:blur > .option-list--option-highlighted { background: transparent; text-style: none; }
    """

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        try:
            selection = self.get_option_at_index(self.scroll_offset.y + y)
        except OptionDoesNotExist:
            return strip
        _left, box, _right, blank, *line = strip
        style = (blank.style or Style()) + Style(meta=box.style.meta if box.style else None)
        return Strip([Segment(tick(selection.value in self.selected), style), blank, *line])
