"""The tab of a table's rows: a grid of cells, and a line below it that edits the one under the cursor."""

from __future__ import annotations

from typing import cast

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.coordinate import Coordinate
from textual.widgets import DataTable, Input, Label

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.trees import Path
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.screens.task.fields import LineEditor, one_line_of
from cuecard.tui.screens.task.pane import TaskPane
from cuecard.tui.widgets.empty import EmptyState
from cuecard.tui.widgets.fitted_table import cell

WIDEST = 28
_MEASURED = 300


class GridPane(TaskPane):
    """Enter edits a cell; Enter again takes it and goes one row down, Tab one column on."""

    BINDINGS = keys(
        Key("rows.add", "a,insert", "add", N_("Add row"), N_("Add a row below"), shown_as="a"),
        Key("rows.delete", "d,delete", "remove", N_("Delete row"), N_("Delete this row; ^z brings it back"), shown_as="d"),
        Key("rows.up", "left_square_bracket,shift+up", "shift(-1)", N_("Move"), N_("Move this row up"), shown_as="[ ]"),
        Key("rows.down", "right_square_bracket,shift+down", "shift(1)", N_("Down"), N_("Move this row down"), show=False, shown_as="]"),
        Key("rows.next", "tab", "next_cell(1)", N_("Next cell"), N_("Edit the cell to the right")),
        Key("rows.previous", "shift+tab", "next_cell(-1)", N_("Previous cell"), N_("Edit the cell to the left"), show=False),
    )  # fmt: skip

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._edit: TaskEdit | None = None
        self._at: Coordinate | None = None
        self._shown = ""

    def compose(self) -> ComposeResult:
        yield DataTable[Text](cursor_type="cell", zebra_stripes=True, fixed_columns=1)
        with Horizontal(id="cell"):
            yield Label("", id="cell-name", markup=False)
            yield LineEditor(compact=True)
        yield EmptyState(
            _("No rows yet"),
            _("The rows that a complete answer has. Columns are on the next tab."),
            ("a", _("add the first row")),
        )

    @property
    def table(self) -> DataTable[Text]:
        return cast("DataTable[Text]", self.query_one(DataTable))

    @property
    def editor(self) -> LineEditor:
        return self.query_one(LineEditor)

    def load(self, edit: TaskEdit) -> None:
        self._fill(edit, self.table.cursor_coordinate)

    def commit(self) -> None:
        edit, at = self._edit, self._at
        if edit is None or at is None or self.editor.value == self._shown:
            return
        self._shown = self.editor.value
        ops.write_cell(edit, at.row, at.column, self._shown)

    def noticed(self, path: Path) -> None:
        match path:
            case ("gold", "rows", int(row), int(column)) if row < self.table.row_count:
                value = self._edit.get(path, "") if self._edit else ""
                self.table.update_cell_at(Coordinate(row, column), cell(str(value)))
            case _:
                pass

    def locate(self, path: Path) -> None:
        match path[2:]:
            case (int(row), int(column), *_):
                self.table.move_cursor(row=row, column=column)
            case (int(row), *_):
                self.table.move_cursor(row=row)
            case _:
                pass

    def reveal(self, path: Path) -> None:
        self.table.focus()
        self.locate(path)

    def step_back(self) -> bool:
        if not self.editor.has_focus:
            return False
        self.table.focus()
        return True

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "next_cell":
                return self.editor.has_focus
            case "add":
                return self.table.has_focus
            case "remove" | "shift":
                return self.table.has_focus and self.table.row_count > 0
            case _:
                return True

    def on_data_table_cell_highlighted(self, event: DataTable.CellHighlighted) -> None:
        event.stop()
        self._show_cell()

    def on_data_table_cell_selected(self, event: DataTable.CellSelected) -> None:
        event.stop()
        self.editor.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.commit()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.commit()
        self.table.focus()
        self.table.action_cursor_down()

    def action_next_cell(self, by: int) -> None:
        self.commit()
        row, column = self.table.cursor_coordinate
        width = len(self.table.columns)
        flat = min(max(row * width + column + by, 0), width * self.table.row_count - 1)
        self.table.move_cursor(row=flat // width, column=flat % width)
        self._show_cell()
        self.editor.select_all()

    def action_add(self) -> None:
        if (edit := self._edit) is not None:
            self._settle()
            row = self.table.cursor_row + 1 if self.table.row_count else 0
            columns = len(edit.items(ops.COLUMNS))
            ops.insert_item(edit, ops.ROWS, row, [""] * columns)
            self._fill(edit, Coordinate(row, 0))
            self.editor.focus()

    def action_remove(self) -> None:
        if (edit := self._edit) is not None:
            self._settle()
            at = self.table.cursor_coordinate
            ops.delete_item(edit, ops.ROWS, at.row)
            self._fill(edit, at)

    def action_shift(self, by: int) -> None:
        edit, at = self._edit, self.table.cursor_coordinate
        if edit is not None and 0 <= at.row + by < self.table.row_count:
            self._settle()
            ops.move_item(edit, ops.ROWS, at.row, at.row + by)
            self._fill(edit, Coordinate(at.row + by, at.column))

    def _settle(self) -> None:
        """Rows are about to shift: write what is typed, then let go of the cell."""
        self.commit()
        self._at = None

    def _fill(self, edit: TaskEdit, at: Coordinate) -> None:
        self._settle()
        self._edit = edit
        table, rows = self.table, edit.items(ops.ROWS)
        scroll = table.scroll_offset
        names = ops.column_names(edit)
        table.clear(columns=True)
        for index, name in enumerate(names):
            head = _("{column} (key)").format(column=name) if ops.is_key(edit, index) else name
            texts = [head, *(str(row[index]) for row in rows[:_MEASURED] if index < len(row))]
            widest = max(Text(one_line(text, WIDEST)).cell_len for text in texts)
            table.add_column(cell(head), width=min(max(widest, 4) + 2, WIDEST))
        for row in rows:
            padded = [*row, *[""] * len(names)][: len(names)]
            table.add_row(*(cell(str(value)) for value in padded))
        empty = not rows or not names
        self.query_one(EmptyState).display = empty
        self.query_one("#cell").display = not empty
        if not empty:
            table.scroll_to(x=scroll.x, y=scroll.y, animate=False)
            table.move_cursor(row=min(at.row, len(rows) - 1), column=min(at.column, len(names) - 1))
        self._show_cell()
        self.refresh_bindings()

    def _show_cell(self) -> None:
        edit, at = self._edit, self.table.cursor_coordinate
        if edit is None or at == self._at:
            return
        self.commit()
        names = ops.column_names(edit)
        if not self.table.row_count or at.column >= len(names):
            return
        self._at = at
        name = one_line(names[at.column], 24)
        self.query_one("#cell-name", Label).update(f"{at.row + 1} · {name}")
        self.editor.value = one_line_of(edit.get((*ops.ROWS, *at), ""))
        self._shown = self.editor.value
