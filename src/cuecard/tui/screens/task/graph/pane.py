"""The tab of triples: a sheet to type them into, beside what surrounds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual import events

from cuecard.annotate.authoring import graph_ops, ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.graph_paste import read_urls
from cuecard.annotate.authoring.trees import Path, parse_place
from cuecard.annotate.authoring.validity import Problem
from cuecard.tui.screens.task.graph.room import TriplesRoom
from cuecard.tui.screens.task.graph.rows import (
    HEAD,
    NUMBER,
    SOURCES,
)
from cuecard.tui.widgets.grid import Sheet


class TriplesPane(TriplesRoom):
    """Typing into the sheet, and what a pane of the editor can do. `GraphPane` adds the keys."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._typing: tuple[int, int] | None = None
        self._before: dict[str, Any] = {}
        self._adding: int | None = None
        self._fresh: int | None = None
        self._fresh_version = -1

    # A pane of the editor

    def load(self, edit: TaskEdit) -> None:
        here = self.index
        self.rows.load(edit)
        row = self.rows.view.row(here) if here >= 0 else None
        self.show_rows(self.grid.cursor_row if row is None else row)
        self._mend_cell()

    def commit(self) -> None:
        """Write what is in the cell or in the detail now, before messages about it arrive."""
        self._write_cell()
        self.detail.form.commit()

    def noticed(self, path: Path) -> None:
        if len(path) > 1 and path[:2] not in (ops.TRIPLES, ops.NODES):
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
        marks: dict[int, tuple[str, str]] = {}
        for problem in problems:
            match parse_place(problem.place):
                case ("gold", "triples", int(index), *_) if not problem.silenced:
                    if index not in marks or problem.severity == "error" != marks[index][0]:
                        marks[index] = (problem.severity, problem.reason)
                case _:
                    pass
        if marks != self.rows.problems:
            self.rows.problems = marks
            self.grid.changed()
            self.tell()

    def locate(self, path: Path) -> None:
        match path[2:]:
            case (int(index), *rest) if path[:2] == ops.TRIPLES:
                self.go(index, str(rest[0]) if rest else "")
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
        inside = self.sheet.has_focus_within
        if inside and not self.rows.view.filter.active:
            return False
        if inside or self.box.has_focus:
            self.end_filter()
        self.remove_class("-aside")
        self.grid.focus()
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
        place = (event.row, event.column)
        if place == self._typing and event.row < len(self.rows):
            # What undo has put there since is not overwritten by a key that came before it.
            text = self.sheet.value if self.sheet.editing == place else event.text
            self.rows.write(event.row, event.column, text)

    def on_sheet_cell_given_up(self, event: Sheet.CellGivenUp) -> None:
        event.stop()
        if not self.rows.edit.give_up(self._before):
            self.rows.write(event.row, event.column, event.text)

    def on_sheet_cell_committed(self, event: Sheet.CellCommitted) -> None:
        event.stop()
        self.rows.edit.seal()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        # The focus may have gone on to a new cell before this arrives.
        if event.widget is self.grid and self.grid.has_focus:
            self._adding = None
            self._drop_untouched()

    def begin(self, row: int, column: int) -> None:
        """Edit a cell."""
        self._write_cell()
        self._typing, self._before = (row, column), self.rows.edit.data
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
        self.show_rows(row, HEAD)
        self._adding, self._fresh, self._fresh_version = row, at, self.rows.edit.version
        self.begin(row, HEAD)

    def _add_another(self, row: int) -> None:
        """From a triple that was added Enter goes on to one more, not over the one below."""
        if self.rows.is_blank(row - 1):
            self.sheet.refuse()
        else:
            self.add_row(row)

    def settle_cell(self) -> None:
        """Write what is in the cell and end typing there; later messages about it come too late."""
        self._write_cell()
        self._typing = None
        self.sheet.commit()

    def _write_cell(self) -> None:
        place = self.sheet.editing
        if place is not None and place == self._typing and place[0] < len(self.rows):
            self.rows.write(place[0], place[1], self.sheet.value)

    def settle(self) -> None:
        """Places are about to shift: write what is typed, then let go of them."""
        self.settle_cell()
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
            self.show_rows(max(0, row - 1))

    def _mend_cell(self) -> None:
        """The edit changed as a whole: what is being typed shows what stands there now."""
        place = self.sheet.editing
        if place is None or place != self._typing:
            return
        if place[0] < len(self.rows) and self.rows.text(*place) != self.sheet.value:
            self._typing = None
            self.begin(*place)

    def _sources_typed(self, text: str) -> None:
        """An address pasted on the count of sources is one more; anything else goes to the field."""
        urls, bad = read_urls(text)
        if urls and not bad:
            graph_ops.assign_sources(self.rows.edit, [self.index], urls, "add")
        else:
            self.open_detail(("sources",))
