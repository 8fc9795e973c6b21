"""The tab of a table's rows."""

from __future__ import annotations

import asyncio

from cuecard.annotate.authoring import ops, table_ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.paste import Pasted, parse_rows
from cuecard.annotate.authoring.table_keys import KeyWatch
from cuecard.annotate.authoring.table_paste import apply_paste
from cuecard.annotate.authoring.table_types import TYPE_LABEL, CellChecks
from cuecard.annotate.authoring.trees import Path
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import guarded
from cuecard.tui.screens.task.paste_preview import PasteChoices, PastePreview, Preview
from cuecard.tui.screens.task.sheet_pane import Begin, SheetPane
from cuecard.tui.screens.task.table.pasting import planned, preview_of
from cuecard.tui.screens.task.table.rows import TableRows, columns_of
from cuecard.tui.widgets.empty import EmptyState
from cuecard.tui.widgets.grid import Grid, GridColumn, GridSource

_PER_COLUMN = ("sort", "shift_column", "remove_column")


class TablePane(SheetPane):
    """Keys stand first and stay in view; what does not fit its column, or has another row's key, shows."""

    BINDINGS = keys(
        Key("table.sort", "f8", "sort", N_("Sort"), N_("Sort the rows by this column; once more: downwards")),
        Key("table.add_column", "ctrl+l", "add_column", N_("Column"), N_("Add a column to the right"), shown_as="^l"),
        Key("table.delete_column", "ctrl+x", "remove_column", N_("Delete column"), N_("Delete this column with its cells; ^z brings it back"), shown_as="^x", show=False),
        Key("table.column_left", "alt+left,ctrl+left", "shift_column(-1)", N_("Column left"), N_("Move this column to the left"), show=False),
        Key("table.column_right", "alt+right,ctrl+right", "shift_column(1)", N_("Column right"), N_("Move this column to the right"), show=False),
    )  # fmt: skip
    PLACE = ops.ROWS

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._rows = TableRows(CellChecks(), KeyWatch())
        self._sorted: tuple[int, bool] | None = None

    def empty_state(self) -> EmptyState:
        return EmptyState(
            _("No rows yet"),
            _("The rows that a complete answer has. Paste them from a spreadsheet, CSV, JSON or Markdown, or type."),
            ("^n", _("add the first row")),
        )  # fmt: skip

    def columns_of(self, edit: TaskEdit) -> tuple[list[GridColumn], int]:
        return columns_of(edit)

    def source_of(self, edit: TaskEdit) -> GridSource:
        self._rows.refresh(edit)
        return self._rows

    def text_at(self, edit: TaskEdit, row: int, column: int) -> str:
        return table_ops.cell_text(edit, row, column)

    def write(self, edit: TaskEdit, row: int, column: int, text: str) -> None:
        ops.write_cell(edit, row, column, text)

    def path_of(self, row: int, column: int) -> Path:
        return (*ops.ROWS, row, column)

    def column_at(self, path: Path) -> int | None:
        return path[0] if path and isinstance(path[0], int) else None

    def insert(self, edit: TaskEdit, row: int) -> None:
        table_ops.insert_row(edit, row)

    def begin_with(self, edit: TaskEdit, row: int, column: int) -> Begin:
        kind, key = self._rows.type(column), self._rows.is_key(column)

        def hint(text: str) -> str:
            if reason := self._rows.checks.misfit(kind, text):
                return reason
            twin = self._rows.twin(row) if key else None
            return "" if twin is None else _("row {n} has the same key").format(n=twin + 1)

        rows = edit.items(ops.ROWS)
        used = dict.fromkeys(
            str(cells[column]) for cells in rows[:5000] if column < len(cells) and cells[column]
        )
        # A column of many different texts is no vocabulary.
        few = len(used) * 2 <= len(rows) and kind == "text" and not key
        return (list(used) if few else ()), hint

    def about(self, edit: TaskEdit, row: int, column: int) -> tuple[str, str]:
        columns = edit.items(ops.COLUMNS)
        if column >= len(columns):
            return "", ""
        text, kind = table_ops.cell_text(edit, row, column), self._rows.type(column)
        name = one_line(str(columns[column].get("name") or ""), 24)
        words = [name, _("key") if self._rows.is_key(column) else _(TYPE_LABEL[kind])]
        wrong, twin = self._rows.checks.misfit(kind, text), self._rows.twin(row)
        if not wrong and twin is not None:
            wrong = _("row {n} has the same key").format(n=twin + 1)
        return wrong, " · ".join([*words, *([text] if text else [])])

    def cells_changed(self, edit: TaskEdit) -> bool:
        self._sorted = None
        return self._rows.refresh(edit)

    def moved(self, edit: TaskEdit, row: int, column: int) -> None:
        self.call_after_refresh(self._settle_dates)

    def take(self, text: str, row: int, column: int) -> None:
        self._offer(text, row, column)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "add_column":
            return self.grid.has_focus
        if action in _PER_COLUMN:
            return self.grid.has_focus and self.grid.count > 0
        return super().check_action(action, parameters)

    def on_grid_head_clicked(self, event: Grid.HeadClicked) -> None:
        event.stop()
        self._sort(event.column)

    def action_sort(self) -> None:
        self._sort(self.grid.cursor_column)

    def action_add_column(self) -> None:
        if (edit := self.edit) is not None:
            self.settle()
            index = self.grid.cursor_column + 1 if edit.items(ops.COLUMNS) else 0
            table_ops.add_column(edit, index)
            self.fill((self.grid.cursor_row, index))
            self.tell(_("Its name and how it is compared are on the tab Columns."))

    def action_remove_column(self) -> None:
        edit, column = self.edit, self.grid.cursor_column
        if edit is not None and column < len(edit.items(ops.COLUMNS)):
            self.settle()
            name = one_line(ops.column_names(edit)[column], 24)
            ops.delete_item(edit, ops.COLUMNS, column)
            self.fill((self.grid.cursor_row, max(0, min(column, len(edit.items(ops.COLUMNS)) - 1))))
            said = _("Column “{name}” deleted; ^z brings it back.")
            self.tell(said.format(name=name))

    def action_shift_column(self, by: int) -> None:
        edit, column = self.edit, self.grid.cursor_column
        if edit is not None and 0 <= column + by < len(edit.items(ops.COLUMNS)):
            self.settle()
            ops.move_item(edit, ops.COLUMNS, column, column + by)
            self.fill((self.grid.cursor_row, column + by))

    def _sort(self, column: int) -> None:
        edit = self.edit
        if edit is None or column >= len(edit.items(ops.COLUMNS)):
            return
        self.settle()
        down = self._sorted == (column, False)
        table_ops.sort_rows(edit, column, down=down)
        self.fill((0, column))
        self._sorted = (column, down)
        name = one_line(ops.column_names(edit)[column], 24)
        said = _("Sorted by “{name}”, downwards.") if down else _("Sorted by “{name}”.")
        self.tell(said.format(name=name))

    @guarded("paste")
    async def _offer(self, text: str, row: int, column: int) -> None:
        edit = self.edit
        if edit is None:
            return
        self.settle()
        pasted = await asyncio.to_thread(parse_rows, text, ops.column_names(edit))
        if not pasted.rows and pasted.header is None:
            self.notify(_("There is nothing in it that could be rows."), markup=False)
            return
        # One row, or cells of one column, are meant for where the cursor is.
        over = pasted.header is None and self.grid.count > 0
        first = PasteChoices(header=pasted.header is not None, over=over)

        def preview(now: Pasted, choices: PasteChoices) -> Preview:
            return preview_of(edit, planned(edit, now, choices, row, column))

        def done(choices: PasteChoices | None) -> None:
            if choices is None:
                return
            plan = planned(edit, pasted.headed(choices.header), choices, row, column)
            apply_paste(edit, plan)
            self.fill((plan.start, column))
            count = len(plan.pasted.rows)
            said = ngettext("{n} row pasted; ^z takes it back.", "{n} rows pasted; ^z takes them back.", count)  # fmt: skip
            self.tell(said.format(n=count))

        self.app.push_screen(PastePreview(pasted, first, preview), done)

    def _settle_dates(self) -> None:
        """Uncommon spellings of dates are read on another thread, then shown as what they are."""
        if self._rows.checks.pending:
            self.run_worker(self._settle_later(), group="dates", exclusive=True)

    async def _settle_later(self) -> None:
        await asyncio.to_thread(self._rows.checks.settle)
        self.grid.changed()
