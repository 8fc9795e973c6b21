"""What is pasted, looked at before it becomes triples."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Footer

from cuecard.annotate.authoring.graph_names import GraphIndex
from cuecard.annotate.authoring.graph_paste import (
    HEADER_WORDS,
    PastedTriple,
    PastePlan,
    PasteState,
    plan_paste,
)
from cuecard.annotate.authoring.paste import Pasted, parse_rows
from cuecard.core.i18n import N_, _, ngettext
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog, guarded
from cuecard.tui.screens.task.fields import TextEditor
from cuecard.tui.widgets.grid import Grid, GridCell, GridColumn, ListSource, Tone
from cuecard.tui.widgets.plain import PlainText

_LOOK: dict[PasteState, tuple[str, Tone]] = {
    "new": ("+", "good"),
    "near": ("~", "warn"),
    "duplicate": ("=", "muted"),
    "bad": ("✗", "bad"),
}
_COLUMNS = (
    GridColumn(N_("Head"), 8, grow=2),
    GridColumn(N_("Relation"), 8, grow=1),
    GridColumn(N_("Tail"), 8, grow=2),
    GridColumn(N_("Stage"), 5, right=True),
    GridColumn(N_("Src"), 3, right=True),
    GridColumn(N_("Remark"), 12, grow=2),
)


class PastePreview(CuecardDialog[list[dict[str, Any]] | None]):
    """Answers with the triples to put in. Without a text it asks for one."""

    BINDINGS = keys(
        Key("paste.take", "ctrl+s,enter", "take", N_("Put in"), N_("Put in what is new, and what is only similar"), shown_as="⏎"),
        Key("paste.near", "n", "include('near')", N_("Similar"), N_("Put in what resembles other triples, or not")),
        Key("paste.same", "e", "include('duplicate')", N_("Equal"), N_("Put in what is there already, or not")),
        Key("paste.header", "h", "header", N_("Heading"), N_("The first line names the columns, or is a triple")),
        Key("paste.text", "t", "text", N_("Text"), N_("Change the text")),
    )  # fmt: skip

    def __init__(self, text: str, index: GraphIndex, *, stages: int, stage: int | None) -> None:
        super().__init__()
        self._text, self._index = text, index
        self._stages, self._stage = stages, stage
        self._pasted: Pasted | None = None
        self.plan = PastePlan((), ())
        self._taken: set[PasteState] = {"new", "near"}

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog paste") as box:
            box.border_title = Text(_("Paste triples"))
            yield PlainText(id="summary")
            yield TextEditor(
                self._text,
                placeholder=_(
                    "Paste rows here: from a spreadsheet, CSV, JSON or a Markdown table.\n"
                    "Head, relation, tail; then stage and sources if there are any."
                ),
                id="pasted",
            )
            yield Grid(_COLUMNS)
            with Horizontal(classes="buttons"):
                yield Button(_("Look at it"), variant="primary", id="look")
        yield Footer(show_command_palette=False)

    @property
    def editor(self) -> TextEditor:
        return self.query_one("#pasted", TextEditor)

    def on_mount(self) -> None:
        if self._text.strip():
            self._look()
        else:
            self.action_text()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("take", "include", "header", "text"):
            return not self.editor.display
        return True

    def on_button_pressed(self) -> None:
        self._look()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self.action_take()

    def action_text(self) -> None:
        """Show the text itself, to paste or to change it."""
        self._arrange(looking=False)
        self.query_one("#summary", PlainText).load(_("What is to become triples?"))
        self.editor.focus()

    def action_include(self, state: PasteState) -> None:
        (self._taken.remove if state in self._taken else self._taken.add)(state)
        self._show()

    def action_header(self) -> None:
        if self._pasted is not None:
            self._pasted = self._pasted.headed(self._pasted.header is None)
            self._make_plan()

    def action_take(self) -> None:
        self.dismiss(self.plan.of(*self._taken))

    def _look(self) -> None:
        self._text = self.editor.text
        self._pasted = parse_rows(self._text, HEADER_WORDS)
        self._arrange(looking=True)
        self._make_plan()
        self.query_one(Grid).focus()

    def _arrange(self, *, looking: bool) -> None:
        self.editor.display = self.query_one(".buttons").display = not looking
        self.query_one(Grid).display = looking
        self.refresh_bindings()

    @guarded("plan")
    async def _make_plan(self) -> None:
        pasted = self._pasted
        if pasted is not None:
            self.query_one("#summary", PlainText).load(_("Comparing with what is there…"))
            plan = await asyncio.to_thread(
                plan_paste,
                self._index,
                pasted.header,
                pasted.rows,
                stages=self._stages,
                stage=self._stage,
            )
            self.plan = replace(plan, problems=pasted.problems)
            self._show()

    def _show(self) -> None:
        plan = self.plan
        self.query_one(Grid).load(
            ListSource(
                [self._cells(row) for row in plan.triples],
                [GridCell(*_LOOK[row.state]) for row in plan.triples],
            )
        )
        taken = len(plan.of(*self._taken))
        lines = [
            _("+ {new} new   ~ {near} similar   = {same} there already   ✗ {bad} bad").format(
                new=plan.count("new"),
                near=plan.count("near"),
                same=plan.count("duplicate"),
                bad=plan.count("bad"),
            ),
            ngettext("Enter puts in {n} triple.", "Enter puts in {n} triples.", taken).format(
                n=taken
            ),
            *plan.problems[:3],
        ]
        self.query_one("#summary", PlainText).load("\n".join(lines))

    def _cells(self, row: PastedTriple) -> tuple[GridCell, ...]:
        triple = row.triple
        tone: Tone = "plain" if row.state in self._taken else "muted"
        stage = triple["stage"]
        return (
            GridCell(triple["head"], tone),
            GridCell(triple["relation"], tone),
            GridCell(triple["tail"], tone),
            GridCell("" if stage is None else str(stage), tone),
            GridCell(str(len(triple["sources"])), tone),
            GridCell(row.reason, _LOOK[row.state][1]),
        )
