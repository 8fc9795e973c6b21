"""The tab of triples: a sheet to type them into, beside what surrounds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from textual import events
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.timer import Timer
from textual.widgets import Input

from cuecard.annotate.authoring import graph_ops, ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.graph_paste import read_urls
from cuecard.annotate.authoring.graph_view import parse_filter
from cuecard.annotate.authoring.trees import Path, parse_place
from cuecard.annotate.authoring.validity import Problem
from cuecard.core.i18n import _, ngettext
from cuecard.tui.screens.task.fields import LineEditor
from cuecard.tui.screens.task.graph.around import AroundPane, StatusLine
from cuecard.tui.screens.task.graph.rows import (
    COLUMN_OF,
    COLUMNS,
    HEAD,
    NUMBER,
    RELATION,
    SOURCES,
    TAIL,
    TEXT_FIELD,
    TripleRows,
)
from cuecard.tui.screens.task.graph.side import GraphSide, TripleDetail
from cuecard.tui.screens.task.pane import TaskPane
from cuecard.tui.widgets.empty import EmptyState
from cuecard.tui.widgets.grid import Grid, Sheet
from cuecard.tui.widgets.plain import PlainText

_REST, _REST_TYPING = 0.15, 0.7
"""Seconds without a move, or without a key in a cell, until what is beside the sheet follows."""


class TriplesPane(TaskPane):
    """The sheet, and everything that follows it. Actions are added by `GraphPane`."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.rows = TripleRows()
        self._typing: tuple[int, int] | None = None
        self._adding: int | None = None
        self._fresh: int | None = None
        self._fresh_version = -1
        self._rest: Timer | None = None

    def compose(self) -> ComposeResult:
        with Container(id="graph-room"):
            with Vertical(id="graph-main"):
                with Horizontal(id="graph-filter"):
                    yield PlainText(_("Filter"), classes="field-label")
                    yield LineEditor(
                        placeholder=_("words  stage:3  stage:-  no:source  problem  =Entity"),
                        compact=True,
                        select_on_focus=False,
                        id="filter",
                    )
                yield StatusLine()
                yield Sheet(COLUMNS, marking=True, numbered=False, id="triples")
                yield EmptyState(
                    _("No triples yet"),
                    _("The gold answer of a graph task: head, relation, tail, with sources and its stage."),
                    ("⏎", _("type the first one")),
                    ("^v", _("paste rows of a spreadsheet, CSV, JSON or Markdown")),
                )  # fmt: skip
                yield TripleDetail()
            yield GraphSide()

    @property
    def sheet(self) -> Sheet:
        return self.query_one(Sheet)

    @property
    def grid(self) -> Grid:
        return self.sheet.grid

    @property
    def detail(self) -> TripleDetail:
        return self.query_one(TripleDetail)

    @property
    def side(self) -> GraphSide:
        return self.query_one(GraphSide)

    @property
    def index(self) -> int:
        """The triple under the cursor; -1 where there is none."""
        row = self.grid.cursor_row
        return self.rows.view.index(row) if row < len(self.rows) else -1

    @property
    def chosen(self) -> list[int]:
        """The triples that an action is about."""
        return self.rows.chosen(self.grid.marked, self.grid.cursor_row)

    # A pane of the editor

    def load(self, edit: TaskEdit) -> None:
        here = self.index
        self.rows.load(edit)
        row = self.rows.view.row(here) if here >= 0 else None
        self._reload(self.grid.cursor_row if row is None else row)
        self._mend_cell()

    def commit(self) -> None:
        """Write what is in the cell or in the detail now, before messages about it arrive."""
        self._write_cell()
        self.detail.form.commit()

    def noticed(self, path: Path) -> None:
        if path[:2] not in (ops.TRIPLES, ops.NODES):
            return
        self.rows.follow()
        if path[:2] == ops.TRIPLES and len(path) > 3 and isinstance(path[2], int):
            row = self.rows.view.row(path[2])
            self.grid.changed(row)
        else:
            self.grid.changed()
        self.follow_later()

    def found(self, problems: Sequence[Problem]) -> None:
        """Mark the triples of which something is wrong; an error outweighs a warning."""
        marks: dict[int, str] = {}
        for problem in problems:
            match parse_place(problem.place):
                case ("gold", "triples", int(index), *_) if not problem.silenced:
                    marks[index] = (
                        "error" if problem.severity == "error" else marks.get(index, "warning")
                    )
                case _:
                    pass
        if marks != self.rows.problems:
            self.rows.problems = marks
            self.grid.changed()

    def locate(self, path: Path) -> None:
        match path[2:]:
            case (int(index), *rest) if path[:2] == ops.TRIPLES:
                self._go(index, str(rest[0]) if rest else "")
            case _:
                pass

    def reveal(self, path: Path) -> None:
        self.locate(path)
        match path[3:]:
            case ("sources" | "note", *_) if path[:2] == ops.TRIPLES:
                self.open_detail(path[3:])
            case _:
                self.grid.focus()

    def step_back(self) -> bool:
        if self.query_one("#filter").has_focus:
            self._end_filter()
        elif not self.sheet.has_focus_within:
            self.remove_class("-aside")
            self.grid.focus()
        elif self.rows.view.filter.active:
            self._end_filter()
        else:
            return False
        return True

    # Typing

    def on_sheet_begin_asked(self, event: Sheet.BeginAsked) -> None:
        event.stop()
        row, column = event.row, event.column
        if row >= len(self.rows):
            self.sheet.refuse()
        elif column == SOURCES:
            self.sheet.refuse()
            self._sources_typed(event.typed or "")
        elif column == NUMBER:
            self.begin(row, HEAD)
        elif self._adding is not None and (row, column) == (self._adding + 1, HEAD):
            self._add_another(row)
        else:
            self.begin(row, column)

    def on_sheet_next_row_asked(self, event: Sheet.NextRowAsked) -> None:
        event.stop()
        if len(self.rows) and self.rows.is_blank(len(self.rows) - 1):
            self.sheet.refuse()
        else:
            self.add_row(len(self.rows))

    def on_sheet_cell_edited(self, event: Sheet.CellEdited) -> None:
        event.stop()
        if (event.row, event.column) == self._typing:
            self.rows.write(event.row, event.column, event.text)

    def on_sheet_cell_committed(self, event: Sheet.CellCommitted) -> None:
        event.stop()
        self.rows.edit.seal()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if event.widget is self.grid:
            self._adding = None
            self._drop_untouched()

    def begin(self, row: int, column: int) -> None:
        """Edit a cell."""
        self.settle_cell()
        self._typing = (row, column)
        self.sheet.begin(
            row,
            column,
            self.rows.text(row, column),
            candidates=self.rows.completer(row, column),
            hint=lambda text: self.rows.hint(row, column, text) if row < len(self.rows) else "",
        )

    def add_row(self, row: int) -> None:
        """Put an empty triple at a row of the sheet, of the stage of the one above, and type there."""
        self.settle()
        above = self.rows.triple(row - 1)
        at = len(self.rows.triples)
        if above is not None and row < len(self.rows):
            at = self.rows.view.index(row - 1) + 1
        graph_ops.insert_triples(self.rows.edit, at, [graph_ops.new_triple(above)])
        self.rows.follow()
        self.rows.view.place(at, row)
        self._reload(row, HEAD)
        self._adding, self._fresh, self._fresh_version = row, at, self.rows.edit.version
        self.begin(row, HEAD)

    def _add_another(self, row: int) -> None:
        """From a triple that was added Enter goes on to one more, not over the one below."""
        if self.rows.is_blank(row - 1):
            self.sheet.refuse()
        else:
            self.add_row(row)

    def settle_cell(self) -> None:
        """Write what is in the cell now; later messages about it come too late."""
        self._write_cell()
        self._typing = None

    def _write_cell(self) -> None:
        place = self.sheet.editing
        if place is not None and place == self._typing and place[0] < len(self.rows):
            self.rows.write(place[0], place[1], self.sheet.value)

    def settle(self) -> None:
        """Places are about to shift: write what is typed, then let go of them."""
        self.settle_cell()
        self.sheet.commit()
        self.detail.form.commit()
        self.detail.form.unload()

    def _drop_untouched(self) -> None:
        """A triple that was added and left without a word typed goes again."""
        fresh, self._fresh = self._fresh, None
        edit = self.rows.edit
        if fresh is not None and edit.version == self._fresh_version and edit.can_undo:
            self._typing = None
            row = self.grid.cursor_row
            edit.undo()
            self.rows.follow()
            self._reload(max(0, row - 1))

    def _mend_cell(self) -> None:
        """The edit changed as a whole: what is being typed shows what stands there now."""
        place = self.sheet.editing
        if place is None or place != self._typing:
            return
        if place[0] < len(self.rows) and self.rows.text(*place) != self.sheet.value:
            self._typing = None
            self.sheet.cancel()
            self.begin(*place)

    def _sources_typed(self, text: str) -> None:
        """An address pasted on the count of sources is one more; anything else goes to the field."""
        urls, bad = read_urls(text)
        if urls and not bad:
            graph_ops.assign_sources(self.rows.edit, [self.index], urls, "add")
        else:
            self.open_detail(("sources",))

    # Moving about

    def on_grid_cursor_moved(self, event: Grid.CursorMoved) -> None:
        event.stop()
        if event.grid is self.grid:
            self.follow_later()

    def on_grid_marks_changed(self, event: Grid.MarksChanged) -> None:
        event.stop()
        self.tell()
        self.refresh_bindings()

    def on_grid_head_clicked(self, event: Grid.HeadClicked) -> None:
        event.stop()
        if event.grid is self.grid:
            self.sort_by(event.column)

    def on_around_pane_chosen(self, event: AroundPane.Chosen) -> None:
        event.stop()
        self.remove_class("-aside")
        self._go(event.index)
        self.grid.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "filter":
            event.stop()
            self._filter(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "filter":
            event.stop()
            self.grid.focus()

    def open_filter(self) -> None:
        self.settle()
        self.query_one("#graph-filter").display = True
        self.query_one("#filter").focus()

    def open_detail(self, path: Path) -> None:
        """Go to the sources or the note of the triple under the cursor."""
        self.settle_cell()
        self.sheet.commit()
        self.follow()
        self.detail.form.reveal(path)

    def sort_by(self, column: int) -> None:
        """Sort by a column; the number stands for the task's own order."""
        self.settle()
        view = self.rows.view
        key = next((name for name, place in COLUMN_OF.items() if place == column), None)
        match key:
            case "head" | "relation" | "tail" | "stage" | "sources":
                view.sort_by(key)
            case _:
                view.sort = None
        self._reapply()

    def _filter(self, text: str) -> None:
        wanted = parse_filter(text)
        if wanted != self.rows.view.filter:
            self.rows.view.filter = wanted
            self._reapply()

    def _end_filter(self) -> None:
        box = self.query_one("#filter", Input)
        with box.prevent(Input.Changed):
            box.value = ""
        self._filter("")
        self.query_one("#graph-filter").display = False
        self.grid.focus()

    def _reapply(self) -> None:
        """Filter and sort anew, the cursor staying on its triple if it is still shown."""
        here = self.index
        self.rows.apply()
        self.grid.mark(())
        row = self.rows.view.row(here) if here >= 0 else None
        self._reload(0 if row is None else row)

    def _go(self, index: int, field: str = "") -> None:
        """To a triple, out of the filter if that hides it."""
        if self.sheet.editing is not None and self.rows.view.row(index) != self.sheet.editing[0]:
            self.settle_cell()
            self.sheet.commit()
        if self.rows.view.row(index) is None and 0 <= index < len(self.rows.triples):
            self._end_filter()
        row = self.rows.view.row(index)
        if row is not None:
            column = COLUMN_OF.get(field, max(HEAD, self.grid.cursor_column))
            self.grid.move_to(row, column)

    # What follows

    def _reload(self, row: int, column: int | None = None) -> None:
        column = max(HEAD, self.grid.cursor_column) if column is None else column
        digits = max(2, len(str(len(self.rows.triples))))
        if self.grid.columns[NUMBER].width != digits:
            self.grid.set_columns((replace(COLUMNS[NUMBER], width=digits), *COLUMNS[NUMBER + 1 :]))
        self.sheet.load(self.rows, cursor=(max(0, min(row, len(self.rows) - 1)), column))
        empty = not self.rows.triples
        self.query_one(EmptyState).display = empty
        self.follow()
        self.refresh_bindings()

    def follow_later(self) -> None:
        """What is beside the sheet follows when the keys rest."""
        if self._rest is not None:
            self._rest.stop()
        rest = _REST if self.sheet.editing is None else _REST_TYPING
        self._rest = self.set_timer(rest, self.follow)

    def follow(self) -> None:
        """The side shows what the cursor is on, as it is now."""
        if self._rest is not None:
            self._rest.stop()
            self._rest = None
        index = self.index
        self.detail.load(self.rows.edit, index)
        self.side.show(self.rows.edit, self.entity)
        self.tell()

    @property
    def entity(self) -> str:
        """The entity under the cursor: the tail's on the tail, else the head."""
        triple = self.rows.triple(self.grid.cursor_row)
        if triple is None:
            return ""
        return str(triple["tail" if self.grid.cursor_column == TAIL else "head"])

    def tell(self) -> None:
        """Figures, and what the list leaves out, in one line."""
        view, parts = self.rows.view, [self.side.summary]
        if marked := len(self.grid.marked):
            parts.insert(0, ngettext("{n} marked", "{n} marked", marked).format(n=marked))
        if view.filter.active:
            parts.insert(
                0, _("{n} of {total} shown").format(n=len(view), total=len(self.rows.triples))
            )
        if view.sort is not None:
            arrow = "↓" if view.descending else "↑"
            parts.insert(0, f"{arrow} {_(str(COLUMNS[COLUMN_OF[view.sort]].label))}")
        self.query_one(StatusLine).load(" · ".join(filter(None, parts)))

    @property
    def text_column(self) -> int | None:
        """The column of the cursor, if names stand there."""
        column = self.grid.cursor_column
        return column if column in TEXT_FIELD else None

    @property
    def relation_chosen(self) -> bool:
        return self.grid.cursor_column == RELATION
