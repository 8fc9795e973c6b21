"""The form of a table's columns."""

from __future__ import annotations

from typing import Any

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.blank import blank_column
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.trees import Path
from cuecard.core.i18n import N_, NP_
from cuecard.tui.screens.task import choices
from cuecard.tui.screens.task.choices import labelled, listed
from cuecard.tui.screens.task.collection import CollectionSpec
from cuecard.tui.screens.task.specs import FieldSpec
from cuecard.tui.widgets.fitted_table import FittedColumn


def _is_key(edit: TaskEdit, place: Path) -> bool:
    return ops.is_key(edit, int(place[-1]))


def _write_key(edit: TaskEdit, place: Path, value: Any) -> None:
    ops.write_key(edit, int(place[-1]), bool(value))


def _rename_column(edit: TaskEdit, place: Path, value: Any) -> None:
    ops.rename_column(edit, int(place[-1]), str(value))


COLUMN = (
    FieldSpec(("name",), N_("Column"), write=_rename_column),
    FieldSpec(
        (),
        NP_("of a table", "Key"),
        "flag",
        N_("rows are joined on it"),
        read=_is_key,
        write=_write_key,
    ),
    FieldSpec(("metric",), N_("Metric"), "choices", options=labelled(choices.METRIC)),
    FieldSpec(("preprocess",), N_("Preprocess"), "choices", options=labelled(choices.PREPROCESS)),
    FieldSpec(
        ("criterion",),
        N_("Criterion"),
        "text",
        N_("Tolerance for number_near, instruction for llm_judge"),
    ),
)


def _column_cells(edit: TaskEdit, index: int) -> tuple[str, ...]:
    column = edit.items(ops.COLUMNS)[index]
    key = "✓" if ops.is_key(edit, index) else ""
    metric, preprocess = listed(column["metric"]), listed(column["preprocess"])
    return str(column["name"]), key, metric, preprocess, str(column["criterion"])


COLUMNS = CollectionSpec(
    path=ops.COLUMNS,
    columns=(
        FittedColumn(N_("Column"), 12, grow=2),
        FittedColumn(NP_("of a table", "Key"), 3),
        FittedColumn(N_("Metric"), 12, grow=2),
        FittedColumn(N_("Preprocess"), 10, grow=1),
        FittedColumn(N_("Criterion"), 9, grow=1),
    ),
    cells=_column_cells,
    fields=COLUMN,
    blank=blank_column,
    title=N_("No columns yet"),
    about=N_(
        "What the answer's table must have, how cells are compared, and which columns are the key."
    ),
)
