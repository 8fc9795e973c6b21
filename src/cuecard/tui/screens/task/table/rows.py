"""A table's rows as cells of a grid: misfits and rows with the same key stand out."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.table_keys import KeyWatch
from cuecard.annotate.authoring.table_ops import cell_text
from cuecard.annotate.authoring.table_types import CellChecks, ColumnType, type_of
from cuecard.core.i18n import _
from cuecard.core.text import one_line
from cuecard.tui.widgets.grid import GridCell, GridColumn

KEY_MARK = "◆"
_TYPE_MARK: dict[ColumnType, str] = {"text": "", "number": " #", "date": " ▫", "url": " ↗"}
_LEAST, _ROOM, _MOST = 4, 16, 34
_SAMPLED = 60


class TableRows:
    """Reads the edit whenever cells are asked for; `refresh` after rows or columns changed."""

    def __init__(self, checks: CellChecks, watch: KeyWatch) -> None:
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
        self._twins = self._watch.twins(edit)
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
