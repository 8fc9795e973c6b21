"""The tab of triples: a grid to type in, its keys, and the neighbourhood beside it."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, Any, cast

from textual import events

from cuecard.annotate.authoring import graph_ops, ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.graph_ops import read_urls
from cuecard.annotate.authoring.paste import as_tsv
from cuecard.annotate.authoring.task_data import Path, parse_place
from cuecard.annotate.lint.codes import Finding
from cuecard.core.i18n import N_, _, ngettext
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.grid import EditableGrid
from cuecard.tui.present.keyboard import hint
from cuecard.tui.screens.task.graph_base import TriplesRoom
from cuecard.tui.screens.task.graph_dialogs import PastePreview
from cuecard.tui.screens.task.graph_rows import (
    HEAD,
    KIND,
    NUMBER,
    SOURCES,
    STAGE,
    TEXT_FIELD,
    Bulk,
    stage_count,
)

if TYPE_CHECKING:
    from cuecard.tui.app import CuecardApp


class TriplesPane(TriplesRoom):
    """Typing into the grid, and what a pane of the editor can do. `GraphPane` adds the keys."""

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

    def found(self, problems: Sequence[Finding]) -> None:
        """Mark the triples with problems; errors take precedence over warnings."""
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
        inside = self.editable_grid.has_focus_within
        if inside and not self.rows.view.filter.active:
            return False
        if inside or self.box.has_focus:
            self.end_filter()
        self.remove_class("-aside")
        self.grid.focus()
        return True

    # Typing

    def on_editable_grid_begin_asked(self, event: EditableGrid.BeginAsked) -> None:
        event.stop()
        row, column = event.row, event.column
        if row >= len(self.rows):
            self.editable_grid.refuse()
        elif column == SOURCES:
            self.editable_grid.refuse()
            self._sources_typed(event.typed or "")
        elif column == NUMBER:
            self.begin(row, HEAD)
        elif self._adding is not None and (row, column) == (self._adding + 1, HEAD):
            self._add_another(row)
        else:
            self.begin(row, column)

    def on_editable_grid_next_row_asked(self, event: EditableGrid.NextRowAsked) -> None:
        event.stop()
        if len(self.rows) and self.rows.is_blank(len(self.rows) - 1):
            self.editable_grid.refuse()
        else:
            self.add_row(len(self.rows))

    def on_editable_grid_cell_edited(self, event: EditableGrid.CellEdited) -> None:
        event.stop()
        place = (event.row, event.column)
        if place == self._typing and event.row < len(self.rows):
            # What undo has put there since is not overwritten by a key that came before it.
            text = self.editable_grid.value if self.editable_grid.editing == place else event.text
            self.rows.write(event.row, event.column, text)

    def on_editable_grid_cell_given_up(self, event: EditableGrid.CellGivenUp) -> None:
        event.stop()
        if not self.rows.edit.give_up(self._before):
            self.rows.write(event.row, event.column, event.text)

    def on_editable_grid_cell_committed(self, event: EditableGrid.CellCommitted) -> None:
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
        self.editable_grid.begin(
            row,
            column,
            self.rows.text(row, column),
            candidates=self.rows.completer(row, column),
            hint=lambda text: self.rows.hint(row, column, text) if row < len(self.rows) else "",
        )

    def add_row(self, row: int) -> None:
        """Put an empty triple at a row of the grid, of the stage of the one above, and type there."""
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
            self.editable_grid.refuse()
        else:
            self.add_row(row)

    def settle_cell(self) -> None:
        """Write what is in the cell and end typing there; later messages about it come too late."""
        self._write_cell()
        self._typing = None
        self.editable_grid.commit()

    def _write_cell(self) -> None:
        place = self.editable_grid.editing
        if place is not None and place == self._typing and place[0] < len(self.rows):
            self.rows.write(place[0], place[1], self.editable_grid.value)

    def settle(self) -> None:
        """Write pending input and end editing, because rows are about to move."""
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
        place = self.editable_grid.editing
        if place is None or place != self._typing:
            return
        if place[0] < len(self.rows) and self.rows.text(*place) != self.editable_grid.value:
            self._typing = None
            self.begin(*place)

    def _sources_typed(self, text: str) -> None:
        """An address pasted on the count of sources is one more; anything else goes to the field."""
        urls, bad = read_urls(text)
        if urls and not bad:
            graph_ops.assign_sources(self.rows.edit, [self.index], urls, "add")
        else:
            self.open_detail(("sources",))


_ANYWHERE = frozenset(("filter", "paste", "aside", "sort"))
_IN_CELL = frozenset(("add", "above"))
_ON_ROWS = frozenset(("above", "remove", "copy", "shift", "change", "stage", "sources", "text"))


class GraphPane(TriplesPane):
    """Every action is about the marked triples, else about the one under the cursor."""

    BINDINGS = keys(
        Key("graph.add", Means.ADD, "add", N_("Add"), N_("Add a triple below, of the same stage")),
        Key("graph.above", Means.REPEAT, "above", N_("As above"), N_("Take over what stands in the cell above"), priority=True, show=False),
        Key("graph.delete", Means.DELETE, "remove", N_("Delete"), N_("Delete these triples; {UNDO} brings them back"), show=False),
        Key("graph.filter", Means.FILTER, "filter", N_("Filter"), N_("Show only some: words, stage:3, no:source, problem, =Entity")),
        Key("graph.paste", Means.PASTE, "paste", N_("Paste"), N_("Rows from a spreadsheet, CSV, JSON or Markdown, looked at first"), show=False),
        Key("graph.change", Means.CHANGE, "change", N_("Change"), N_("By column: rename this everywhere, or write into all marked triples; their stage; their sources")),
        Key("graph.merge", Means.COMMAND, "merge", N_("Merge"), N_("Make the marked names one; the others become aliases"), show=False, letter="u"),
        Key("graph.stage", Means.COMMAND, "stage", N_("Stage"), N_("Give these triples a stage"), show=False, letter="s"),
        Key("graph.sources", Means.DETAILS, "sources", N_("Sources"), N_("Sources and note of this triple; sources of the marked ones")),
        Key("graph.aside", Means.VIEW, "aside", N_("Graph"), N_("Neighbours of this entity, and figures")),
        Key("graph.sort", Means.SORT, "sort", N_("Sort"), N_("Sort by this column, the other way round, not at all"), show=False),
        Key("graph.copy", Means.DUPLICATE, "copy", N_("Double"), N_("Add these triples once more below"), show=False),
        Key("graph.text", Means.COPY, "text", N_("Copy text"), N_("Copy these triples for a spreadsheet"), show=False),
        Key("graph.up", Means.MOVE_UP, "shift(-1)", N_("Move up"), N_("Move these triples up"), show=False),
        Key("graph.down", Means.MOVE_DOWN, "shift(1)", N_("Move down"), N_("Move these triples down"), show=False),
    )  # fmt: skip

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        on_grid = self.grid.has_focus
        if action in _IN_CELL and self.editable_grid.editing is not None:
            return True
        if action == "add":
            return on_grid or self.detail.form.has_focus_within
        if action in _ANYWHERE:
            return on_grid or (action == "aside" and self.has_class("-aside"))
        if action == "merge":
            return on_grid and bool(self.chosen) and self.text_column is not None
        if action in _ON_ROWS:
            return on_grid and bool(self.chosen)
        return True

    def on_editable_grid_pasted(self, event: EditableGrid.Pasted) -> None:
        event.stop()
        self.paste(event.text)

    def on_paste(self, event: events.Paste) -> None:
        # With no triple yet there is no cell that it could go into.
        if self.grid.has_focus:
            event.stop()
            self.paste(event.text)

    def action_add(self) -> None:
        self.add_row(min(self.grid.cursor_row + 1, len(self.rows)))

    def action_above(self) -> None:
        row, column = self.editable_grid.editing or (self.grid.cursor_row, self.grid.cursor_column)
        above, here = self.rows.triple(row - 1), self.rows.triple(row)
        if above is None or here is None:
            self.say(_("There is no row above to take anything from."))
            return
        if column == SOURCES:
            urls = [str(url) for url in above.get("sources", ())]
            graph_ops.assign_sources(self.rows.edit, [self.rows.view.index(row)], urls, "add")
        elif column in TEXT_FIELD or column == STAGE:
            editing = self.editable_grid.editing is not None
            self.settle_cell()
            self.rows.write(row, column, self.rows.text(row - 1, column))
            if editing:
                self.begin(row, column)

    def action_remove(self) -> None:
        chosen, row = self.chosen, self.grid.cursor_row
        first = min(self.grid.marked, default=row)
        self.settle()
        self.grid.mark(())
        count = graph_ops.delete_triples(self.rows.edit, chosen)
        self.rows.apply()
        self.show_rows(first)
        if count > 1:
            text = ngettext("{n} triple deleted.", "{n} triples deleted.", count).format(n=count)
            self.say(text)

    def action_copy(self) -> None:
        chosen = self.chosen
        self.settle()
        at = graph_ops.duplicate_triples(self.rows.edit, chosen)
        self.grid.mark(())
        self.rows.follow()
        self.show_rows(self.rows.view.row(at) or 0)

    def action_text(self) -> None:
        chosen = self.chosen
        self.app.copy_to_clipboard(as_tsv(self.rows.copied(index) for index in chosen))
        count = len(chosen)
        self.say(ngettext("{n} triple copied.", "{n} triples copied.", count).format(n=count))

    def action_shift(self, by: int) -> None:
        if not self.rows.view.plain:
            self.say(
                _(
                    "Triples are moved in the task's own order; end the filter and the sorting first."
                )
            )
            return
        chosen, row = self.chosen, self.grid.cursor_row
        marked = bool(self.grid.marked)
        self.settle()
        places = graph_ops.move_triples(self.rows.edit, chosen, by)
        self.rows.follow()
        self.show_rows(row + places[0] - chosen[0])
        if marked:
            self.grid.mark(places)

    def action_change(self) -> None:
        column = self.grid.cursor_column
        if column == STAGE:
            self.action_stage()
        elif column == SOURCES:
            self.action_sources()
        elif column in TEXT_FIELD and self.grid.marked:
            self.do(self._bulk.fill(column, self.chosen))
        elif column in KIND and (name := self.rows.text(self.grid.cursor_row, column)):
            self.do(self._bulk.rename(KIND[column], name))

    def action_merge(self) -> None:
        if (column := self.text_column) is not None:
            field = TEXT_FIELD[column]
            names = dict.fromkeys(str(self.rows.triples[i][field]) for i in self.chosen)
            self.do(self._bulk.merge(KIND[column], [name for name in names if name]))

    def action_stage(self) -> None:
        self.do(self._bulk.stage(self.chosen))

    def action_sources(self) -> None:
        if self.grid.marked:
            self.do(self._bulk.sources(self.chosen))
        else:
            self.open_detail(("sources",))

    def action_paste(self) -> None:
        self.paste(self.app.clipboard)

    @guarded("bulk")
    async def do(self, action: Awaitable[str]) -> None:
        """Do what may ask first, and say what came of it."""
        self.settle()
        if said := await action:
            self.rows.follow()
            self.show_rows(self.grid.cursor_row)
            self.say(said)
        else:
            self.follow()

    @guarded("bulk")
    async def paste(self, text: str) -> None:
        """Look at rows from elsewhere, then put them in below the cursor."""
        self.settle()
        row = self.grid.cursor_row
        here = self.rows.triple(row)
        stage = here.get("stage") if here else None
        preview = PastePreview(text, self.rows.index, stages=stage_count(self.rows), stage=stage)
        triples = await self.app.push_screen_wait(preview)
        if not triples:
            self.follow()
            return
        if self.rows.view.filter.active:
            self.end_filter()
        # One that says nothing yet makes room.
        blank = here is not None and not any(map(here.get, ("head", "relation", "tail", "sources")))
        at = len(self.rows.triples) if here is None else self.index + (not blank)
        graph_ops.insert_triples(self.rows.edit, at, triples, instead=blank)
        self.rows.apply()
        self.show_rows(self.rows.view.row(at) or 0, HEAD)
        said = ngettext("{n} triple put in; {UNDO} takes it back.", "{n} triples put in; {UNDO} takes them back.", len(triples))  # fmt: skip
        self.say(hint(said, n=len(triples)))

    @property
    def _bulk(self) -> Bulk:
        return Bulk(cast("CuecardApp", self.app), self.rows)
