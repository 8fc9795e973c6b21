"""The tabs of a table: its rows as cells of a grid, and how its columns are compared."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from textual.app import ComposeResult

from cuecard.annotate.authoring import ops, table_ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.paste import PastedTable, parse_rows
from cuecard.annotate.authoring.table_columns import (
    METRIC_HELP,
    TYPE_LABEL,
    CellChecks,
    ColumnPreview,
    ColumnType,
    DuplicateKeys,
    preview_column,
    type_of,
)
from cuecard.annotate.authoring.table_ops import apply_paste, cell_text
from cuecard.annotate.authoring.task_data import Path
from cuecard.core.i18n import N_, _, beside, headed, ngettext
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.grid import Grid, GridCell, GridColumn, GridSource
from cuecard.tui.present.entries import Paragraph
from cuecard.tui.present.keyboard import with_keys
from cuecard.tui.screens.task.forms import COLUMNS
from cuecard.tui.screens.task.grid_pane import Begin, GridPane
from cuecard.tui.screens.task.pane import Collection
from cuecard.tui.screens.task.pasting import (
    PasteChoices,
    PastePreview,
    Preview,
    planned,
    preview_of,
)
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import Paragraphs

KEY_MARK = "◆"
_TYPE_MARK: dict[ColumnType, str] = {"text": "", "number": " #", "date": " ▫", "url": " ↗"}
_LEAST, _ROOM, _MOST = 4, 16, 34
_SAMPLED = 60


class TableRows:
    """Reads the edit whenever cells are asked for; `refresh` after rows or columns changed."""

    def __init__(self, checks: CellChecks, watch: DuplicateKeys) -> None:
        self.checks = checks
        self._watch = watch
        self._edit: TaskEdit | None = None
        self._types: list[ColumnType] = []
        self._keys: frozenset[int] = frozenset()
        self._twins: dict[int, int] = {}

    def refresh(self, edit: TaskEdit) -> bool:
        """Look at the edit anew; whether other rows than before have the same key."""
        columns, before = edit.items(ops.COLUMNS), self._twins
        self._edit = edit
        self._types = [type_of(column) for column in columns]
        self._keys = frozenset(i for i in range(len(columns)) if ops.is_key(edit, i))
        self._twins = self._watch.duplicates(edit)
        return before != self._twins

    def type(self, column: int) -> ColumnType:
        return self._types[column] if column < len(self._types) else "text"

    def is_key(self, column: int) -> bool:
        return column in self._keys

    def twin(self, row: int) -> int | None:
        """A row with the same key."""
        return self._twins.get(row)

    def __len__(self) -> int:
        return len(self._edit.items(ops.ROWS)) if self._edit else 0

    def cells(self, row: int) -> Sequence[str | GridCell]:
        if self._edit is None:
            return ()
        twin = row in self._twins
        cells: list[str | GridCell] = []
        for column, kind in enumerate(self._types):
            text = cell_text(self._edit, row, column)
            if twin and column in self._keys:
                cells.append(GridCell(text, "bad"))
            elif self.checks.misfit(kind, text):
                cells.append(GridCell(text, "warn"))
            else:
                cells.append(text)
        return cells

    def gutter(self, row: int) -> GridCell:
        if row in self._twins:
            return GridCell("=", "bad")
        if self._edit is None:
            return GridCell("")
        misfit = any(
            self.checks.misfit(kind, cell_text(self._edit, row, column))
            for column, kind in enumerate(self._types)
            if kind != "text"
        )
        return GridCell("!", "warn") if misfit else GridCell("")


def columns_of(edit: TaskEdit) -> tuple[list[GridColumn], int]:
    """The columns with their marks, and how many keys there are at the left."""
    columns = edit.items(ops.COLUMNS)
    keys = [ops.is_key(edit, index) for index in range(len(columns))]
    sample = edit.items(ops.ROWS)[:_SAMPLED]
    shown: list[GridColumn] = []
    for index, (column, key) in enumerate(zip(columns, keys, strict=True)):
        kind = type_of(column)
        name = one_line(str(column.get("name") or ""), 60) or _("(no name)")
        label = f"{KEY_MARK} {name}" if key else f"{name}{_TYPE_MARK[kind]}"
        texts = [label, *(str(row[index]) for row in sample if index < len(row))]
        least = max(_LEAST, min(max(cell_len(one_line(text, _MOST)) for text in texts), _ROOM))
        shown.append(GridColumn(label, least, 1, right=kind == "number", raw=True, most=_MOST))
    fixed = next((index for index, key in enumerate(keys) if not key), len(keys))
    return shown, fixed


_PER_COLUMN = ("sort", "shift_column", "remove_column")


class TablePane(GridPane):
    """Keys stand first and stay in view; what does not fit its column, or has another row's key, shows."""

    BINDINGS = keys(
        Key("table.sort", Means.SORT, "sort", N_("Sort"), N_("Sort the rows by this column; once more: downwards")),
        Key("table.add_column", Means.COMMAND, "add_column", N_("Column"), N_("Add a column to the right"), letter="c"),
        Key("table.delete_column", Means.COMMAND, "remove_column", N_("Delete column"), N_("Delete this column with its cells; {UNDO} brings it back"), show=False, letter="x"),
        Key("table.column_left", Means.MOVE_LEFT, "shift_column(-1)", N_("Column left"), N_("Move this column to the left"), show=False),
        Key("table.column_right", Means.MOVE_RIGHT, "shift_column(1)", N_("Column right"), N_("Move this column to the right"), show=False),
    )  # fmt: skip
    PLACE = ops.ROWS

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._rows = TableRows(CellChecks(), DuplicateKeys())
        self._sorted: tuple[int, bool] | None = None

    def empty_state(self) -> EmptyState:
        return EmptyState(
            _("No rows yet"),
            _("The rows that a complete answer has. Paste them from a spreadsheet, CSV, JSON or Markdown, or type."),
            ("{ADD}", _("add the first row")),
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
            said = _("Column “{name}” deleted; {UNDO} brings it back.")
            self.tell(with_keys(said).format(name=name))

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
        self.tell(with_keys(said).format(name=name))

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

        def preview(now: PastedTable, choices: PasteChoices) -> Preview:
            return preview_of(edit, planned(edit, now, choices, row, column))

        def done(choices: PasteChoices | None) -> None:
            if choices is None:
                return
            plan = planned(edit, pasted.headed(choices.header), choices, row, column)
            apply_paste(edit, plan)
            self.fill((plan.start, column))
            count = len(plan.pasted.rows)
            said = ngettext("{n} row pasted; {UNDO} takes it back.", "{n} rows pasted; {UNDO} takes them back.", count)  # fmt: skip
            self.tell(with_keys(said).format(n=count))

        self.app.push_screen(PastePreview(pasted, first, preview), done)

    def _settle_dates(self) -> None:
        """Uncommon spellings of dates are read on another thread, then shown as what they are."""
        if self._rows.checks.pending:
            self.run_worker(self._settle_later(), group="dates", exclusive=True)

    async def _settle_later(self) -> None:
        await asyncio.to_thread(self._rows.checks.settle)
        self.grid.changed()


_LONGEST = 60


class ColumnsPane(Collection):
    """Below the form, or on demand in its place: help for the chosen metrics, and sample cells before
    and after preprocessing.
    """

    BINDINGS = keys(
        Key("columns.preview", Means.VIEW, "preview", N_("Sample cells"), N_("Show what the settings make of the cells, or the form")),
    )  # fmt: skip

    def __init__(self, *, id: str) -> None:
        super().__init__(COLUMNS, id=id)

    def compose_more(self) -> ComposeResult:
        yield Paragraphs(id="column-preview")

    def show_item(self, edit: TaskEdit, index: int) -> None:
        self.run_worker(self._preview(edit, index), group="preview", exclusive=True)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "preview":
            return self.table.has_focus and self.index >= 0
        return super().check_action(action, parameters)

    def action_preview(self) -> None:
        self.toggle_class("-card")

    async def _preview(self, edit: TaskEdit, index: int) -> None:
        columns, rows = edit.items(ops.COLUMNS), edit.items(ops.ROWS)
        if index < len(columns):
            column, told = columns[index], self.query_one("#column-preview", Paragraphs)
            await asyncio.sleep(0.1)  # while keys are typed, only the last one counts
            found = await asyncio.to_thread(preview_column, rows, column, index)
            told.load(_said(column, found))  # Which may have gone from the screen meanwhile.


def _said(column: Mapping[str, Any], found: ColumnPreview) -> list[Paragraph]:
    said: list[Paragraph] = []
    for metric in column.get("metric") or ():
        if metric in METRIC_HELP:
            said.append(Paragraph(headed(metric, _(METRIC_HELP[metric])), "muted"))
    if found.tolerance is not None:
        share = f"{found.tolerance * 100:g}"
        said.append(Paragraph(_("Tolerance: {share} %").format(share=share), "muted"))
    counted = ngettext("{n} filled cell", "{n} filled cells", found.filled).format(n=found.filled)
    if found.empty:
        counted += " · " + _("{n} empty").format(n=found.empty)
    said.append(Paragraph(counted, "strong"))
    if found.odd:
        odd = ngettext("{n} does not fit the column", "{n} do not fit the column", found.odd)
        said.append(Paragraph("! " + odd.format(n=found.odd), "bad"))
    steps = " → ".join(str(step) for step in column.get("preprocess") or ())
    if found.samples:
        said.append(Paragraph(beside(_("as written → as compared"), steps)))
    for sample in found.samples:
        line = f"{one_line(sample.raw, _LONGEST)} → {one_line(sample.prepared, _LONGEST)}"
        said.append(Paragraph(line, "bad" if sample.misfit else "plain", indent=2))
    return said
