"""The tab of a closed world: its facts as a grid, pasting, and asking the world as an agent would."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, cast

from textual.app import ComposeResult
from textual.widgets import Input, Label

from cuecard.annotate.authoring import facts_ops, ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.paste import PastedTable, parse_rows
from cuecard.annotate.authoring.paste_formats import text_of
from cuecard.annotate.authoring.rehearsal import WorldTrial
from cuecard.annotate.authoring.task_data import Path, blank_fact
from cuecard.core.i18n import N_, _, listed, ngettext
from cuecard.core.text import normalise, one_line
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.drawing import Vertical, VerticalScroll
from cuecard.tui.grid import GridCell, GridColumn, GridSource
from cuecard.tui.present.entries import Paragraph, Piece
from cuecard.tui.present.keyboard import with_keys
from cuecard.tui.present.task_trials import answer_said, explained, numbered
from cuecard.tui.screens.task.fields import ALIASES, SOURCES, Form
from cuecard.tui.screens.task.grid_pane import Begin, GridPane
from cuecard.tui.screens.task.pasting import PasteChoices, PastePreview, Preview
from cuecard.tui.widgets.inputs import LineEditor
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import Paragraphs

FIELDS: tuple[facts_ops.FactField, ...] = (*facts_ops.TYPED, "aliases", "sources")
COLUMNS = [
    GridColumn(N_("Key"), 12, 3, most=40),
    GridColumn(N_("Value"), 9, 2, most=30),
    GridColumn(N_("Kind"), 4),
    GridColumn(N_("Entity"), 10, 2, most=26),
    GridColumn(N_("Attribute"), 9, 2, most=24),
    GridColumn(N_("Unit"), 5, most=10),
    GridColumn(N_("Aliases"), 7, right=True, hidden_below=100, editable=False),
    GridColumn(N_("Sources"), 7, right=True, hidden_below=100, editable=False),
]
KIND: dict[str, str] = {"fact": N_("fact"), "rule": N_("rule")}


def shown(edit: TaskEdit, row: int, field: facts_ops.FactField) -> str:
    """A cell's text; a kind in the reader's language."""
    facts = edit.items(ops.FACTS)
    text = facts_ops.fact_text(facts[row], field) if row < len(facts) else ""
    return _(KIND[text]) if field == "kind" and text in KIND else text


class FactRows:
    """Reads the edit whenever cells are asked for; `refresh` after it changed."""

    def __init__(self) -> None:
        self._edit: TaskEdit | None = None
        self._twins: dict[int, int] = {}

    def refresh(self, edit: TaskEdit) -> bool:
        """Look at the edit anew; whether other facts than before have the same key."""
        before = self._twins
        self._edit, self._twins = edit, facts_ops.duplicate_keys(edit)
        return before != self._twins

    def twin(self, row: int) -> int | None:
        """A fact with the same key."""
        return self._twins.get(row)

    def __len__(self) -> int:
        return len(self._edit.items(ops.FACTS)) if self._edit else 0

    def cells(self, row: int) -> Sequence[str | GridCell]:
        if self._edit is None:
            return ()
        cells: list[str | GridCell] = [shown(self._edit, row, field) for field in FIELDS]
        if row in self._twins:
            cells[0] = GridCell(str(cells[0]), "bad")
        rule = self._edit.get((*ops.FACTS, row, "kind")) == "rule"
        cells[2] = GridCell(str(cells[2]), "accent" if rule else "muted")
        return cells

    def gutter(self, row: int) -> GridCell:
        if row in self._twins:
            return GridCell("=", "bad")
        fact = self._edit.get((*ops.FACTS, row)) if self._edit else None
        blank = fact and not (str(fact.get("key") or "").strip() and str(fact.get("value") or "").strip())  # fmt: skip
        return GridCell("!", "warn") if blank else GridCell("")


def preview_of(plan: facts_ops.FactsPaste, pasted: PastedTable) -> Preview:
    """The plan in words."""
    new, changed = len(plan.added), len(plan.updated)
    words = [ngettext("{n} new fact", "{n} new facts", new).format(n=new)]
    if changed:
        words.append(ngettext("{n} fact of the same key changes", "{n} facts of the same key change", changed).format(n=changed))  # fmt: skip
    if plan.same:
        words.append(ngettext("{n} is there already", "{n} are there already", plan.same).format(n=plan.same))  # fmt: skip
    said = [[Piece(" · ".join(words))]]
    if plan.left_out:
        names = listed((one_line(name, 24) or _("(no name)") for name in plan.left_out), 6)
        said.append([Piece(_("no field has this name, so it is left out: {names}").format(names=names), "bad")])  # fmt: skip
    labels = {field: _(column.label) for field, column in zip(FIELDS, COLUMNS, strict=True)}
    columns = [
        labels[field] if field else _("(left out)") for field in facts_ops.fields_of(pasted)[0]
    ]
    return Preview(said, columns, bool(new or changed), frozenset({"header"}))


_AFTER = 0.2


class WorldPane(Vertical):
    """The answer follows every key and every change of the draft."""

    DEFAULT_CSS = """
    WorldPane { height: 1fr; padding: 0 1; }
    WorldPane > Label { color: $muted; width: 1fr; height: 1; text-style: bold; }
    WorldPane > VerticalScroll { height: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._trial = WorldTrial()
        self._one = asyncio.Lock()
        self._data: Mapping[str, Any] | None = None

    def compose(self) -> ComposeResult:
        yield Label(_("Ask the world"), markup=False)
        yield LineEditor(
            placeholder=_("one entity and one attribute…"), compact=True, classes="editor"
        )
        with VerticalScroll(can_focus=False):
            yield Paragraphs()

    @property
    def query_line(self) -> Input:
        return self.query_one(LineEditor)

    def load(self, data: Mapping[str, Any]) -> None:
        """The draft as it stands; asked again what was asked."""
        first, self._data = self._data is None, data
        if first or self.query_line.value.strip():
            self._ask()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._ask()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()

    def _ask(self) -> None:
        self.run_worker(self._answer(), group="world", exclusive=True)

    async def _answer(self) -> None:
        data, query = self._data, self.query_line.value.strip()
        if data is None or not query:
            self.query_one(Paragraphs).load([Paragraph(explained(), "muted")])
            return
        await asyncio.sleep(_AFTER)
        async with self._one:
            answer = await asyncio.to_thread(lambda: asyncio.run(self._trial.ask(data, query)))
        # The pane may be gone by the time the world has answered.
        for paragraphs in self.query(Paragraphs):
            paragraphs.load(answer_said(answer, numbered(data)))


_LISTS = ("aliases", "sources")


class FactsPane(GridPane):
    """A wide terminal shows aliases, sources and the world beside the grid, a narrow one of them below."""

    BINDINGS = keys(
        Key("facts.world", Means.TRY, "world", N_("World"), N_("Ask the closed world what an agent might ask")),
        Key("facts.details", Means.DETAILS, "details", N_("Aliases"), N_("Aliases and sources of this fact")),
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
            ("{ADD}", _("add the first one")),
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
            facts_ops.write_fact(edit, row, FIELDS[column], text)
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
        known = (
            facts_ops.used(edit, field, but=row) if field in ("entity", "attribute", "unit") else []
        )
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

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "add" and self.form.has_focus_within:
            return True
        return super().check_action(action, parameters)

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
        pasted = await asyncio.to_thread(parse_rows, text, facts_ops.HEADER_NAMES)
        if not pasted.rows:
            self.tell(_("There is nothing in it that could be rows."))
            return

        def preview(now: PastedTable, _choices: PasteChoices) -> Preview:
            return preview_of(facts_ops.plan_facts(edit, now), now)

        def done(choices: PasteChoices | None) -> None:
            if choices is not None:
                at = facts_ops.apply_facts(
                    edit, facts_ops.plan_facts(edit, pasted.headed(choices.header)), row
                )
                self.fill((at, 0))
                self.tell(with_keys(_("Pasted; {UNDO} takes it back.")))

        first = PasteChoices(header=pasted.header is not None)
        self.app.push_screen(PastePreview(pasted, first, preview), done)
