"""The base of tabs that edit rows of cells in place."""

from collections.abc import Callable, Sequence
from typing import Any

from textual.app import ComposeResult

from cuecard.annotate.authoring import table_ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.paste import as_markdown, as_tsv
from cuecard.annotate.authoring.task_data import Path
from cuecard.core.i18n import N_, _, ngettext
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.drawing import Vertical
from cuecard.tui.grid import EditableGrid, Grid, GridColumn, GridSource
from cuecard.tui.present.keyboard import hint
from cuecard.tui.screens.task.pane import TaskPane
from cuecard.tui.widgets.nav import EmptyState

_ROW_ACTIONS = ("remove", "shift", "duplicate", "copy", "paste")
Begin = tuple[Sequence[str], Callable[[str], str] | None]


class GridPane(TaskPane):
    """Rows at `PLACE` as a grid, with a line below it about the cell under the cursor."""

    BINDINGS = keys(
        Key("cells.add", Means.ADD, "add", N_("Add row"), N_("Add a row below this one")),
        Key("cells.above", Means.REPEAT, "above", N_("As above"), N_("Take over what stands above; with marked rows, what stands in the first of them"), priority=True, show=False),
        Key("cells.delete", Means.DELETE, "remove", N_("Delete"), N_("Delete this row, or the marked ones; {UNDO} brings them back")),
        Key("cells.up", Means.MOVE_UP, "shift(-1)", N_("Move up"), N_("Move this row, or the marked ones, up"), show=False),
        Key("cells.down", Means.MOVE_DOWN, "shift(1)", N_("Move down"), N_("Move this row, or the marked ones, down"), show=False),
        Key("cells.duplicate", Means.DUPLICATE, "duplicate", N_("Double"), N_("Add this row, or the marked ones, once more below"), show=False),
        Key("cells.copy", Means.COPY, "copy('tsv')", N_("Copy"), N_("Copy this row, or the marked ones, for a spreadsheet"), show=False),
        Key("cells.copy_markdown", Means.COMMAND, "copy('markdown')", N_("As Markdown"), N_("Copy this row, or the marked ones, as a Markdown table"), show=False, letter="m"),
        Key("cells.paste", Means.PASTE, "paste", N_("Paste"), N_("Paste what was copied here; from elsewhere, paste as your terminal does"), show=False),
    )  # fmt: skip
    PLACE: Path = ()

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._edit: TaskEdit | None = None
        self._open: tuple[int, int] | None = None
        self._before: dict[str, Any] = {}
        self._columns: list[GridColumn] = []
        self._done: tuple[str, tuple[int, int, int]] = ("", (0, 0, 0))
        # Made here rather than in `compose`, so that the pane may be loaded at any time.
        self.editable_grid = EditableGrid((), marking=True)

    def compose(self) -> ComposeResult:
        with Vertical(classes="editable"):
            yield self.editable_grid
            yield self.empty_state()
        yield from self.compose_more()

    # What a tab says of its rows

    def empty_state(self) -> EmptyState:
        """What is shown where there is no row."""
        raise NotImplementedError

    def compose_more(self) -> ComposeResult:
        """What stands beside or below the grid."""
        yield from ()

    def columns_of(self, edit: TaskEdit) -> tuple[list[GridColumn], int]:
        """The columns, and how many of them stay in view."""
        raise NotImplementedError

    def source_of(self, edit: TaskEdit) -> GridSource:
        """The cells, as they stand whenever they are asked for."""
        raise NotImplementedError

    def text_at(self, edit: TaskEdit, row: int, column: int) -> str:
        raise NotImplementedError

    def write(self, edit: TaskEdit, row: int, column: int, text: str) -> None:
        raise NotImplementedError

    def path_of(self, row: int, column: int) -> Path:
        raise NotImplementedError

    def column_at(self, path: Path) -> int | None:
        """The column that shows what stands at `path` below a row; None for none."""
        raise NotImplementedError

    def insert(self, edit: TaskEdit, row: int) -> None:
        """Put an empty row before `row`."""
        raise NotImplementedError

    def begin_with(self, edit: TaskEdit, row: int, column: int) -> Begin:
        """Candidates for a cell, and what to warn of while it is typed."""
        return (), None

    def about(self, edit: TaskEdit, row: int, column: int) -> tuple[str, str]:
        """About the cell under the cursor: what is wrong with it if anything is, and what it is."""
        return "", ""

    def cells_changed(self, edit: TaskEdit) -> bool:
        """Cells were changed; whether rows besides the changed one look different now."""
        return False

    def moved(self, edit: TaskEdit, row: int, column: int) -> None:
        """The cursor is on this cell, or what is there changed."""

    def take(self, text: str, row: int, column: int) -> None:
        """Several cells were pasted."""

    # The pane

    @property
    def grid(self) -> Grid:
        return self.editable_grid.grid

    @property
    def edit(self) -> TaskEdit | None:
        return self._edit

    def chosen(self) -> frozenset[int]:
        """The marked rows, or the one under the cursor."""
        if self.grid.marked or not self.grid.count:
            return self.grid.marked
        return frozenset((self.grid.cursor_row,))

    def load(self, edit: TaskEdit) -> None:
        self._edit = edit
        self.fill()

    def fill(self, cursor: tuple[int, int] | None = None) -> None:
        """Show the rows as they stand now."""
        if (edit := self._edit) is None:
            return
        columns, fixed = self.columns_of(edit)
        if columns != self._columns:
            self._columns = columns
            self.grid.set_columns(columns, fixed=fixed)
        self.editable_grid.load(self.source_of(edit), cursor=cursor)
        if self._open is not None and self.editable_grid.editing == self._open:
            self._refresh_open(edit, *self._open)
        self.set_class(not self.grid.count, "-empty")
        self._tell()
        self.refresh_bindings()

    def tell(self, done: str) -> None:
        """Say what was just done, in the line below the cells, until the cursor moves."""
        self._done = (done, self._here)
        self._tell()

    def commit(self) -> None:
        edit, here = self._edit, self.editable_grid.editing
        if edit is not None and here is not None and here == self._open:
            self._write(edit, *here, self.editable_grid.value)

    def settle(self) -> None:
        """Rows are about to shift: write what is typed, then let go of the cell."""
        self.commit()
        self._open = None
        if self.editable_grid.editing is not None:
            self.editable_grid.commit()

    def noticed(self, path: Path) -> None:
        edit, depth = self._edit, len(self.PLACE)
        if edit is None or path[:depth] != self.PLACE or len(path) <= depth:
            return
        row = path[depth]
        if isinstance(row, int) and len(edit.items(self.PLACE)) == self.grid.count:
            self.grid.changed(None if self.cells_changed(edit) else row)
            self._tell()

    def locate(self, path: Path) -> None:
        depth = len(self.PLACE)
        row = path[depth] if len(path) > depth and path[:depth] == self.PLACE else None
        if isinstance(row, int):
            self.grid.move_to(row, self.column_at(path[depth + 1 :]))

    def reveal(self, path: Path) -> None:
        self.grid.focus()
        self.locate(path)

    def step_back(self) -> bool:
        if self.grid.has_focus:
            return False
        self.grid.focus()
        return True

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("add", "above"):
            return self.editable_grid.has_focus_within and (action == "add" or self.grid.count > 0)
        if action in _ROW_ACTIONS:
            return self.grid.has_focus and (action == "paste" or self.grid.count > 0)
        return True

    # What the grid says

    def on_editable_grid_begin_asked(self, event: EditableGrid.BeginAsked) -> None:
        event.stop()
        self.begin(event.row, event.column)

    def on_editable_grid_next_row_asked(self, event: EditableGrid.NextRowAsked) -> None:
        event.stop()
        if self._edit is not None:
            self.commit()
            self._add(self._edit, self.grid.count)

    def on_editable_grid_cell_edited(self, event: EditableGrid.CellEdited) -> None:
        event.stop()
        # A text that the cell has not any more was typed before an undo.
        here = (event.row, event.column)
        if self.editable_grid.editing != here or event.text == self.editable_grid.value:
            self._take(here, event.text)

    def on_editable_grid_cell_committed(self, event: EditableGrid.CellCommitted) -> None:
        event.stop()
        self._take((event.row, event.column), event.text)

    def on_editable_grid_cell_given_up(self, event: EditableGrid.CellGivenUp) -> None:
        event.stop()
        if self._edit is not None and not self._edit.give_up(self._before):
            self._take((event.row, event.column), event.text)

    def on_editable_grid_pasted(self, event: EditableGrid.Pasted) -> None:
        event.stop()
        self.take(event.text, event.row, event.column)

    def on_grid_cursor_moved(self, event: Grid.CursorMoved) -> None:
        event.stop()
        self._tell()

    def on_grid_marks_changed(self, event: Grid.MarksChanged) -> None:
        event.stop()
        self._tell()

    def begin(self, row: int, column: int) -> None:
        """Edit a cell."""
        if (edit := self._edit) is not None:
            edit.seal()
            candidates, hint = self.begin_with(edit, row, column)
            self._open, self._before = (row, column), edit.data
            text = self.text_at(edit, row, column)
            self.editable_grid.begin(row, column, text, candidates=candidates, hint=hint)

    # Keys

    def action_add(self) -> None:
        if (edit := self._edit) is not None:
            self.settle()
            self._add(edit, self.grid.cursor_row + 1 if self.grid.count else 0)

    def action_remove(self) -> None:
        if (edit := self._edit) is not None:
            rows = self.chosen()
            self.settle()
            self.grid.mark(())
            table_ops.delete_items(edit, self.PLACE, rows)
            self.fill((min(rows), self.grid.cursor_column))
            said = ngettext("{n} row deleted; {UNDO} brings it back.", "{n} rows deleted; {UNDO} brings them back.", len(rows))  # fmt: skip
            self.tell(hint(said, n=len(rows)))

    def action_shift(self, by: int) -> None:
        self._rearrange(lambda edit, rows: table_ops.move_items(edit, self.PLACE, rows, by), by)

    def action_duplicate(self) -> None:
        self._rearrange(lambda edit, rows: table_ops.copy_items(edit, self.PLACE, rows))

    def action_above(self) -> None:
        edit, row, column = self._edit, self.grid.cursor_row, self.grid.cursor_column
        if edit is None:
            return
        self.commit()
        editing, rows = self.editable_grid.editing is not None, sorted(self.grid.marked)
        source = rows[0] if rows else row - 1
        if source < 0 or column not in self.grid.editable_columns:
            self.tell(_("There is no row above to take anything from."))
            return
        text = self.text_at(edit, source, column)
        with edit.together(self.path_of(row, column)):
            for target in rows or [row]:
                self._write(edit, target, column, text)
        self.fill()
        if editing:
            self.begin(row, column)

    def action_copy(self, form: str) -> None:
        if (edit := self._edit) is not None:
            rows = self.copied(edit, sorted(self.chosen()))
            text = as_markdown(rows[0], rows[1:]) if form == "markdown" else as_tsv(rows[1:])
            self.app.copy_to_clipboard(text)
            count = len(rows) - 1
            said = ngettext("{n} row copied.", "{n} rows copied.", count).format(n=count)
            self.tell(said)

    def action_paste(self) -> None:
        if text := self.app.clipboard:
            self.take(text, self.grid.cursor_row, self.grid.cursor_column)

    def copied(self, edit: TaskEdit, rows: Sequence[int]) -> list[list[str]]:
        """A header and these rows, for the clipboard."""
        header = [column.label if column.raw else _(column.label) for column in self._columns]
        width = range(len(header))
        return [header, *([self.text_at(edit, row, column) for column in width] for row in rows)]

    # Inside

    def _take(self, here: tuple[int, int], text: str) -> None:
        # Of a cell that was let go, what is still on its way here is written already.
        if self._edit is not None and here == self._open:
            self._write(self._edit, *here, text)

    def _write(self, edit: TaskEdit, row: int, column: int, text: str) -> None:
        if row < len(edit.items(self.PLACE)) and text != self.text_at(edit, row, column):
            self.write(edit, row, column, text)

    def _add(self, edit: TaskEdit, row: int) -> None:
        self.insert(edit, row)
        self.fill((row, 0))
        self.begin(row, next(iter(self.grid.editable_columns), 0))

    def _refresh_open(self, edit: TaskEdit, row: int, column: int) -> None:
        if self.text_at(edit, row, column) != self.editable_grid.value:
            self.begin(row, column)

    def _rearrange(
        self, change: Callable[[TaskEdit, frozenset[int]], frozenset[int]], by: int = 0
    ) -> None:
        if (edit := self._edit) is not None:
            marked, here = self.grid.marked, self.grid.cursor_row
            self.settle()
            places = change(edit, self.chosen())
            moved = min(max(here + by, 0), self.grid.count - 1) if by else min(places, default=here)
            self.fill((moved, self.grid.cursor_column))
            self.grid.mark(places if marked else ())

    @property
    def _here(self) -> tuple[int, int, int]:
        version = self._edit.version if self._edit else 0
        return self.grid.cursor_row, self.grid.cursor_column, version

    def _tell(self) -> None:
        """Show a line about the cell under the cursor, or what was just done."""
        edit, (row, column, _version) = self._edit, self._here
        # A move of the cursor that belongs to what was done is heard of after it.
        done = self._done[0] if self._done[1] == self._here else ""
        if edit is None or not self.grid.count:
            self.editable_grid.note(done)
            return
        wrong, what = self.about(edit, row, column)
        parts = [done] if done else [wrong, what]
        if marked := len(self.grid.marked):
            parts.insert(0, ngettext("{n} row marked", "{n} rows marked", marked).format(n=marked))
        self.editable_grid.note(" · ".join(filter(None, parts)), warning=bool(wrong and not done))
        self.moved(edit, row, column)
