"""Dialogs for triples: a name, source addresses, and a preview of pasting."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.widgets import Button, Input

from cuecard.annotate.authoring.graph_names import GraphIndex
from cuecard.annotate.authoring.graph_ops import (
    HEADER_WORDS,
    PastedTriple,
    PastePlan,
    PasteState,
    SourceMode,
    plan_paste,
    read_urls,
)
from cuecard.annotate.authoring.paste import PastedTable, parse_rows
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.tasks.base import Frozen
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardDialog, guarded
from cuecard.tui.drawing import Horizontal, Vertical, VerticalScroll
from cuecard.tui.grid import Grid, GridCell, GridColumn, ListSource, Tone
from cuecard.tui.grid.cell_input import Completer
from cuecard.tui.kit.forms import FormDialog
from cuecard.tui.kit.rows import Row
from cuecard.tui.widgets.inputs import LineEditor, TextEditor
from cuecard.tui.widgets.text import PlainText

_OFFERED = 6


class AskName(CuecardDialog[str | None]):
    """One line with names to choose from below it (up and down), and what it would do, live.

    `effect` says that in a sentence; `empty` whether nothing is an answer.
    """

    BINDINGS = keys(
        Key("name.accept", Means.SAVE, "accept", N_("OK"), N_("Take this answer")),
    )  # fmt: skip

    def __init__(
        self,
        title: str,
        text: str,
        *,
        button: str,
        value: str,
        completer: Completer,
        effect: Callable[[str], str],
        empty: bool = False,
    ) -> None:
        super().__init__()
        self._title, self._text, self._button, self._value = title, text, button, value
        self._completer, self._effect, self._empty = completer, effect, empty
        self._offered: list[str] = []
        self._typed = value

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog", can_focus=False) as box:
            box.border_title = Text(self._title)
            yield PlainText(self._text)
            yield LineEditor(self._value, id="answer")
            names = Grid((GridColumn(N_("In use"), 10, grow=1),), classes="offered")
            names.can_focus = False
            yield names
            yield PlainText(id="effect", classes="muted")
            with Horizontal(classes="buttons"):
                yield Button(self._button, variant="primary", id="accept", compact=True)
        yield KeyBar()

    @property
    def answer(self) -> Input:
        return self.query_one("#answer", Input)

    def on_mount(self) -> None:
        self.answer.focus()
        self.answer.action_select_all()
        self._show(self._value)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._show(event.value)

    def on_input_submitted(self) -> None:
        self.action_accept()

    def on_button_pressed(self) -> None:
        self.action_accept()

    def on_key(self, event: events.Key) -> None:
        if event.key in ("up", "down") and self.answer.has_focus and self._offered:
            event.stop()
            grid = self.query_one(Grid)
            here = (
                self._offered.index(self.answer.value) if self.answer.value in self._offered else -1
            )
            to = max(-1, min(here + (1 if event.key == "down" else -1), len(self._offered) - 1))
            with self.answer.prevent(Input.Changed):
                self.answer.value = self._offered[to] if to >= 0 else self._typed
            self.answer.cursor_position = len(self.answer.value)
            grid.move_to(max(0, to))
            self._say(self.answer.value)

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        if event.row < len(self._offered):
            self.answer.value = self._offered[event.row]

    def on_grid_cursor_moved(self, event: Grid.CursorMoved) -> None:
        event.stop()

    def action_accept(self) -> None:
        answer = self.answer.value.strip()
        if answer or self._empty:
            self.dismiss(answer)
        else:
            self.notify(_("Please write something first."), severity="warning", markup=False)

    def _show(self, typed: str) -> None:
        self._typed = typed
        self._offered = self._completer.matching(typed, _OFFERED)
        grid = self.query_one(Grid)
        grid.display = bool(self._offered)
        grid.load(ListSource([(name,) for name in self._offered]), cursor=(0, 0))
        grid.styles.height = len(self._offered) + 1
        self._say(typed)

    def _say(self, text: str) -> None:
        self.query_one("#effect", PlainText).load(self._effect(text.strip()))


_MODES = {"add": N_("Add"), "replace": N_("Replace"), "remove": N_("Take away")}


class SourceChoice(Frozen):
    """Web addresses in a text, and what becomes of them."""

    mode: Annotated[SourceMode, Field(title=N_("Sources")), Row(options=_MODES)] = "add"
    text: Annotated[str, Field(title="", description=N_("Web addresses, one a line")), Row("text")]

    @property
    def urls(self) -> list[str]:
        return read_urls(self.text)[0]


class AskSources(FormDialog[SourceChoice]):
    """Web addresses for several triples, and whether they come beside what is there."""

    BEGINS_AT = "text"

    def __init__(self, text: str, urls: str) -> None:
        super().__init__(_("Sources"), SourceChoice(text=urls), ask=text)

    def problem(self, model: SourceChoice) -> str:
        urls, bad = read_urls(model.text)
        if bad:
            return _("“{text}” is no web address").format(text=bad[0][:60])
        return "" if urls or model.mode == "replace" else _("Please write something first.")


_LOOK: dict[PasteState, tuple[str, Tone]] = {
    "new": ("+", "good"),
    "near": ("~", "warn"),
    "duplicate": ("=", "muted"),
    "bad": ("✗", "bad"),
}
_COLUMNS = (
    GridColumn(N_("Head"), 8, most=30),
    GridColumn(N_("Relation"), 8, most=24),
    GridColumn(N_("Tail"), 8, most=30),
    GridColumn(N_("Stage"), 5, right=True),
    GridColumn(N_("Src"), 3, right=True),
    GridColumn(N_("Remark"), 12, grow=1),
)


class PastePreview(CuecardDialog[list[dict[str, Any]] | None]):
    """Answers with the triples to put in. Without a text it asks for one."""

    BINDINGS = keys(
        Key("paste.take", (Means.OPEN, Means.SAVE), "take", N_("Put in"), N_("Put in what is new, and what is only similar")),
        Key("paste.near", Means.CHOICE, "include('near')", N_("Similar"), N_("Put in what resembles other triples, or not"), letter="n"),
        Key("paste.same", Means.CHOICE, "include('duplicate')", N_("Equal"), N_("Put in what is there already, or not"), letter="e"),
        Key("paste.header", Means.CHOICE, "header", N_("Heading"), N_("The first line names the columns, or is a triple"), letter="h"),
        Key("paste.text", Means.CHOICE, "text", N_("Text"), N_("Change the text"), letter="t"),
    )  # fmt: skip

    def __init__(self, text: str, index: GraphIndex, *, stages: int, stage: int | None) -> None:
        super().__init__()
        self._text, self._index = text, index
        self._stages, self._stage = stages, stage
        self._pasted: PastedTable | None = None
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
                yield Button(_("Look at it"), variant="primary", id="look", compact=True)
        yield KeyBar()

    @property
    def editor(self) -> TextEditor:
        return self.query_one("#pasted", TextEditor)

    def on_mount(self) -> None:
        if self._text.strip():
            self._read_pasted()
        else:
            self.action_text()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("take", "include", "header", "text"):
            return not self.editor.display
        return True

    def on_button_pressed(self) -> None:
        self._read_pasted()

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

    def _read_pasted(self) -> None:
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
