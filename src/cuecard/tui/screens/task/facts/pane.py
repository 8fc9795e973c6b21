"""The tab of a closed world: its facts as a sheet, what else belongs to one, and the world itself."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast

from textual.app import ComposeResult
from textual.containers import Vertical

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.blank import blank_fact
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.facts_ops import (
    HEADER_NAMES,
    apply_facts,
    plan_facts,
    used,
    write_fact,
)
from cuecard.annotate.authoring.paste import Pasted, parse_rows
from cuecard.annotate.authoring.paste_json import text_of
from cuecard.annotate.authoring.trees import Path
from cuecard.core.i18n import N_, _
from cuecard.core.text import normalise, one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import guarded
from cuecard.tui.screens.task.facts.pasting import preview_of
from cuecard.tui.screens.task.facts.rows import COLUMNS, FIELDS, KIND, FactRows, shown
from cuecard.tui.screens.task.form import Form
from cuecard.tui.screens.task.forms_shared import ALIASES, SOURCES
from cuecard.tui.screens.task.paste_preview import PasteChoices, PastePreview, Preview
from cuecard.tui.screens.task.sheet_pane import Begin, SheetPane
from cuecard.tui.screens.task.world_pane import WorldPane
from cuecard.tui.widgets.empty import EmptyState
from cuecard.tui.widgets.grid import GridColumn, GridSource

_LISTS = ("aliases", "sources")


class FactsPane(SheetPane):
    """A wide terminal shows aliases, sources and the world beside the sheet, a narrow one of them below."""

    BINDINGS = keys(
        Key("facts.world", "f8", "world", N_("World"), N_("Ask the closed world what an agent might ask")),
        Key("facts.details", "ctrl+l", "details", N_("Aliases"), N_("Aliases and sources of this fact"), shown_as="^l"),
    )  # fmt: skip
    PLACE = ops.FACTS

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._rows = FactRows()
        self._detailed = -1

    def compose_more(self) -> ComposeResult:
        with Vertical(classes="aside"):
            yield Form((ALIASES, SOURCES))
            yield WorldPane()

    @property
    def form(self) -> Form:
        return self.query_one(Form)

    @property
    def world(self) -> WorldPane:
        return self.query_one(WorldPane)

    def empty_state(self) -> EmptyState:
        return EmptyState(
            _("No facts yet"),
            _("Atomic facts of a closed world, and the rules that the answer needs. Paste them from a spreadsheet, CSV, JSON or Markdown, or type."),
            ("^n", _("add the first one")),
        )  # fmt: skip

    def load(self, edit: TaskEdit) -> None:
        self._detailed = -1
        super().load(edit)
        self.world.load(edit.data)

    def commit(self) -> None:
        super().commit()
        self.form.commit()

    def settle(self) -> None:
        super().settle()
        self.form.commit()
        self.form.unload()
        self._detailed = -1

    def columns_of(self, edit: TaskEdit) -> tuple[list[GridColumn], int]:
        return COLUMNS, 1

    def source_of(self, edit: TaskEdit) -> GridSource:
        self._rows.refresh(edit)
        return self._rows

    def text_at(self, edit: TaskEdit, row: int, column: int) -> str:
        return shown(edit, row, FIELDS[column])

    def write(self, edit: TaskEdit, row: int, column: int, text: str) -> None:
        if FIELDS[column] not in _LISTS:
            write_fact(edit, row, FIELDS[column], text)
        elif not text:
            edit.set((*ops.FACTS, row, FIELDS[column]), [])

    def path_of(self, row: int, column: int) -> Path:
        return (*ops.FACTS, row, FIELDS[column])

    def column_at(self, path: Path) -> int | None:
        return next((i for i, field in enumerate(FIELDS) if path and path[0] == field), None)

    def insert(self, edit: TaskEdit, row: int) -> None:
        edit.insert(ops.FACTS, row, blank_fact())

    def begin(self, row: int, column: int) -> None:
        if FIELDS[column] in _LISTS:
            self.form.reveal((FIELDS[column],))
        else:
            super().begin(row, column)

    def begin_with(self, edit: TaskEdit, row: int, column: int) -> Begin:
        field = FIELDS[column]
        if field == "kind":
            return [_(label) for label in KIND.values()], None
        known = used(edit, field, but=row) if field in ("entity", "attribute", "unit") else []
        folded = {normalise(text): text for text in reversed(known)}

        def hint(text: str) -> str:
            if field == "key":
                twin = self._rows.twin(row)
                return "" if twin is None else _("fact {n} has the same key").format(n=twin + 1)
            other = folded.get(normalise(text), text)
            return "" if other == text else _("other facts write “{text}”").format(text=other)

        return known, hint

    def about(self, edit: TaskEdit, row: int, column: int) -> tuple[str, str]:
        twin = self._rows.twin(row)
        if twin is not None:
            return _("fact {n} has the same key").format(n=twin + 1), ""
        fact = cast(dict[str, Any], edit.get((*ops.FACTS, row)) or {})
        if not str(fact.get("key") or "").strip() or not str(fact.get("value") or "").strip():
            return _("a fact needs a key and a value"), ""
        return "", one_line(shown(edit, row, FIELDS[column]), 300)

    def cells_changed(self, edit: TaskEdit) -> bool:
        return self._rows.refresh(edit)

    def noticed(self, path: Path) -> None:
        super().noticed(path)
        if self.edit is not None:
            self.world.load(self.edit.data)

    def moved(self, edit: TaskEdit, row: int, column: int) -> None:
        if row != self._detailed and row < len(edit.items(ops.FACTS)):
            self._detailed = row
            self.form.load(edit, (*ops.FACTS, row))

    def reveal(self, path: Path) -> None:
        super().reveal(path)
        depth = len(ops.FACTS)
        if len(path) > depth + 1 and path[depth + 1] in _LISTS:
            if self.edit is not None:
                self.moved(self.edit, self.grid.cursor_row, 0)
            self.form.reveal(path[depth + 1 :])

    def step_back(self) -> bool:
        self.remove_class("-asking")
        return super().step_back()

    def copied(self, edit: TaskEdit, rows: Sequence[int]) -> list[list[str]]:
        facts = edit.items(ops.FACTS)
        lines: list[list[str]] = [list(FIELDS)]
        for row in rows:
            lines.append([text_of(facts[row].get(field)) for field in FIELDS])
        return lines

    def take(self, text: str, row: int, column: int) -> None:
        self._offer(text, row)

    def action_world(self) -> None:
        self.commit()
        self.add_class("-asking")
        self.call_after_refresh(self.world.query_line.focus)

    def action_details(self) -> None:
        if self.grid.count:
            self.commit()
            self.remove_class("-asking")
            self.form.reveal(("aliases",))

    @guarded("paste")
    async def _offer(self, text: str, row: int) -> None:
        edit = self.edit
        if edit is None:
            return
        self.settle()
        pasted = await asyncio.to_thread(parse_rows, text, HEADER_NAMES)
        if not pasted.rows:
            self.tell(_("There is nothing in it that could be rows."))
            return

        def preview(now: Pasted, _choices: PasteChoices) -> Preview:
            return preview_of(plan_facts(edit, now), now)

        def done(choices: PasteChoices | None) -> None:
            if choices is not None:
                at = apply_facts(edit, plan_facts(edit, pasted.headed(choices.header)), row)
                self.fill((at, 0))
                self.tell(_("Pasted; ^z takes it back."))

        first = PasteChoices(header=pasted.header is not None)
        self.app.push_screen(PastePreview(pasted, first, preview), done)
