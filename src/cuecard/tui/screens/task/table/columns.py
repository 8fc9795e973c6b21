"""The tab of a table's columns, with what their settings make of the cells."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from textual.app import ComposeResult

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.column_preview import METRIC_HELP, ColumnPreview, preview_column
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.screens.task.collection import Collection
from cuecard.tui.screens.task.forms_table import COLUMNS
from cuecard.tui.state.entries import Paragraph
from cuecard.tui.widgets.paragraphs import Paragraphs

_LONGEST = 60


class ColumnsPane(Collection):
    """Below the form, or on demand in its place: help for the chosen metrics, and sample cells before
    and after preprocessing.
    """

    BINDINGS = keys(
        Key("columns.preview", "v", "preview", N_("Sample cells"), N_("Show what the settings make of the cells, or the form")),
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
            column = columns[index]
            await asyncio.sleep(0.1)  # while keys are typed, only the last one counts
            found = await asyncio.to_thread(preview_column, rows, column, index)
            self.query_one("#column-preview", Paragraphs).load(_said(column, found))


def _said(column: Mapping[str, Any], found: ColumnPreview) -> list[Paragraph]:
    said: list[Paragraph] = []
    for metric in column.get("metric") or ():
        if metric in METRIC_HELP:
            said.append(Paragraph(f"{metric}: {_(METRIC_HELP[metric])}", "muted"))
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
        said.append(Paragraph(_("as written → as compared") + (f"  ({steps})" if steps else "")))
    for sample in found.samples:
        line = f"{one_line(sample.raw, _LONGEST)} → {one_line(sample.prepared, _LONGEST)}"
        said.append(Paragraph(line, "bad" if sample.misfit else "plain", indent=2))
    return said
