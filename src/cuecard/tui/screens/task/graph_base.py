"""The parts of the tabs of a graph, filtering and sorting, and what follows the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.timer import Timer
from textual.widgets import Input

from cuecard.annotate.authoring.graph_view import parse_filter
from cuecard.annotate.authoring.task_data import Path
from cuecard.core.i18n import _, ngettext
from cuecard.tui.drawing import Container, Horizontal, Vertical
from cuecard.tui.grid import EditableGrid, Grid, GridColumn
from cuecard.tui.screens.task.graph_entities import AroundPane, GraphSide, StatusLine, TripleDetail
from cuecard.tui.screens.task.graph_rows import (
    COLUMN_OF,
    COLUMNS,
    HEAD,
    NUMBER,
    TAIL,
    TEXT_FIELD,
    TripleRows,
)
from cuecard.tui.screens.task.pane import TaskPane
from cuecard.tui.widgets.inputs import LineEditor
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import PlainText

if TYPE_CHECKING:
    from cuecard.tui.app import CuecardApp


class GraphRoom(TaskPane):
    """A grid with a filter above it and the graph beside it, which follows the cursor when the keys rest."""

    COLUMNS: ClassVar[Sequence[GridColumn]] = ()
    RESTS: ClassVar[tuple[float, float]] = (0.2, 0.2)
    """Seconds without a move, or without a key in a cell, until what is beside the grid follows."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.rows = TripleRows()
        self._rest: Timer | None = None

    def compose(self) -> ComposeResult:
        with Container(classes="graph-room"):
            with Vertical(classes="graph-main"):
                with Horizontal(classes="graph-filter"):
                    yield PlainText(_("Filter"), classes="field-label")
                    yield self.filter_line()
                yield StatusLine()
                yield EditableGrid(self.COLUMNS, marking=True, numbered=False)
                yield self.empty_state()
                yield from self.compose_below()
            yield GraphSide()

    def filter_line(self) -> LineEditor:
        """What is filtered by; it has the class `filter`."""
        raise NotImplementedError

    def empty_state(self) -> EmptyState:
        """What is shown where there is no row."""
        raise NotImplementedError

    def compose_below(self) -> ComposeResult:
        """What stands below the grid."""
        yield from ()

    @property
    def entity(self) -> str:
        """The entity under the cursor; empty where there is none."""
        raise NotImplementedError

    def settle(self) -> None:
        """Places are about to shift: write what is typed, then let go of them."""
        raise NotImplementedError

    def filter_by(self, text: str) -> None:
        raise NotImplementedError

    def sort_by(self, column: int) -> None:
        raise NotImplementedError

    def tell(self) -> None:
        """Figures, and what the list leaves out, in one line."""
        raise NotImplementedError

    @property
    def editable_grid(self) -> EditableGrid:
        return self.query_one(EditableGrid)

    @property
    def grid(self) -> Grid:
        return self.editable_grid.grid

    @property
    def side(self) -> GraphSide:
        return self.query_one(GraphSide)

    @property
    def box(self) -> Input:
        return self.query_one(".filter", Input)

    def say(self, text: str) -> None:
        cast("CuecardApp", self.app).tell(text)

    def on_grid_cursor_moved(self, event: Grid.CursorMoved) -> None:
        event.stop()
        if event.grid is self.grid:
            self.follow_later()

    def on_grid_marks_changed(self, event: Grid.MarksChanged) -> None:
        event.stop()
        self.tell()

    def on_grid_head_clicked(self, event: Grid.HeadClicked) -> None:
        event.stop()
        if event.grid is self.grid:
            self.sort_by(event.column)

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input is self.box:
            event.stop()
            self.filter_by(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input is self.box:
            event.stop()
            self.grid.focus()

    def action_filter(self) -> None:
        self.query_one(".graph-filter").display = True
        self.box.focus()

    def end_filter(self) -> None:
        """Show all rows again."""
        with self.box.prevent(Input.Changed):
            self.box.value = ""
        self.filter_by("")
        self.query_one(".graph-filter").display = False

    def action_sort(self) -> None:
        self.sort_by(self.grid.cursor_column)

    def action_aside(self) -> None:
        """A wide terminal always shows the side: go there. A narrow one shows it instead."""
        if self.side.has_focus_within:
            self.step_back()
        else:
            self.settle()
            self.follow()
            self.add_class("-aside")
            self.side.around.grid.focus()

    def follow_later(self) -> None:
        """What is beside the grid follows when the keys rest."""
        if self._rest is not None:
            self._rest.stop()
        rest = self.RESTS[self.editable_grid.editing is not None]
        self._rest = self.set_timer(rest, self.follow)

    def follow(self) -> None:
        """The side shows what the cursor is on, as it is now."""
        if self._rest is not None:
            self._rest.stop()
            self._rest = None
        self.side.show(self.rows.edit, self.entity)
        self.tell()


class TriplesRoom(GraphRoom):
    """The grid with a filter above it, the detail of one triple below and the graph beside it."""

    COLUMNS = COLUMNS
    RESTS = (0.15, 0.7)

    def filter_line(self) -> LineEditor:
        words = _("words  stage:3  stage:-  no:source  problem  =Entity")
        return LineEditor(placeholder=words, compact=True, select_on_focus=False, classes="filter")

    def empty_state(self) -> EmptyState:
        return EmptyState(
            _("No triples yet"),
            _("The gold answer of a graph task: head, relation, tail, with sources and its stage."),
            ("⏎", _("type the first one")),
            ("{PASTE}", _("paste rows of a spreadsheet, CSV, JSON or Markdown")),
        )

    def compose_below(self) -> ComposeResult:
        yield TripleDetail()

    @property
    def detail(self) -> TripleDetail:
        return self.query_one(TripleDetail)

    @property
    def index(self) -> int:
        """The triple under the cursor; -1 where there is none."""
        row = self.grid.cursor_row
        return self.rows.view.index(row) if row < len(self.rows) else -1

    @property
    def chosen(self) -> list[int]:
        """The triples that an action is about."""
        return self.rows.chosen(self.grid.marked, self.grid.cursor_row)

    def settle_cell(self) -> None:
        """Write what is in the cell and end typing there."""
        raise NotImplementedError

    # Moving about

    def on_around_pane_chosen(self, event: AroundPane.Chosen) -> None:
        event.stop()
        self.remove_class("-aside")
        self.go(event.index)
        self.grid.focus()

    def action_filter(self) -> None:
        self.settle()
        super().action_filter()

    def open_detail(self, path: Path) -> None:
        """Go to the sources or the note of the triple under the cursor."""
        self.settle_cell()
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

    def filter_by(self, text: str) -> None:
        wanted = parse_filter(text)
        if wanted != self.rows.view.filter:
            self.rows.view.filter = wanted
            self._reapply()

    def _reapply(self) -> None:
        """Filter and sort anew, the cursor staying on its triple if it is still shown."""
        here = self.index
        self.rows.apply()
        self.grid.mark(())
        row = self.rows.view.row(here) if here >= 0 else None
        self.show_rows(0 if row is None else row)

    def go(self, index: int, field: str = "") -> None:
        """To a triple, out of the filter if that hides it."""
        if (
            self.editable_grid.editing is not None
            and self.rows.view.row(index) != self.editable_grid.editing[0]
        ):
            self.settle_cell()
        if self.rows.view.row(index) is None and 0 <= index < len(self.rows.triples):
            self.end_filter()
        row = self.rows.view.row(index)
        if row is not None:
            column = COLUMN_OF.get(field, max(HEAD, self.grid.cursor_column))
            self.grid.move_to(row, column)

    # What follows

    def show_rows(self, row: int, column: int | None = None) -> None:
        """The rows are others now: show them, with the cursor on one of them."""
        column = max(HEAD, self.grid.cursor_column) if column is None else column
        digits = max(2, len(str(len(self.rows.triples))))
        if self.grid.columns[NUMBER].width != digits:
            self.grid.set_columns((replace(COLUMNS[NUMBER], width=digits), *COLUMNS[NUMBER + 1 :]))
        self.editable_grid.load(self.rows, cursor=(max(0, min(row, len(self.rows) - 1)), column))
        state, empty = self.query_one(EmptyState), not self.rows.triples
        if state.display != empty:
            state.display = empty
            self.refresh_bindings()
        self.follow()

    def follow(self) -> None:
        self.detail.load(self.rows.edit, self.index)
        super().follow()

    @property
    def entity(self) -> str:
        """The entity under the cursor: the tail's on the tail, else the head."""
        triple = self.rows.triple(self.grid.cursor_row)
        if triple is None:
            return ""
        return str(triple["tail" if self.grid.cursor_column == TAIL else "head"])

    def tell(self) -> None:
        """Figures, and what the list leaves out, in one line; below, what is wrong with this triple."""
        said = self.rows.said_of(self.grid.cursor_row)
        self.editable_grid.note(said, warning=bool(said))
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
