"""The tab of nodes: every entity of the graph with its aliases, beside its neighbourhood."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, cast

from textual import events

from cuecard.annotate.authoring import graph_entities, ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.task_data import Path, blank_node
from cuecard.core.i18n import N_, _, ngettext
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.grid import EditableGrid
from cuecard.tui.screens.task.graph_base import GraphRoom
from cuecard.tui.screens.task.graph_entities import (
    COLUMNS,
    FIELD_COLUMN,
    NAME,
    USES,
    AroundPane,
    NodeRows,
    StatusLine,
)
from cuecard.tui.screens.task.graph_rows import Bulk, Names, renamed
from cuecard.tui.widgets.inputs import LineEditor
from cuecard.tui.widgets.nav import EmptyState

if TYPE_CHECKING:
    from cuecard.tui.app import CuecardApp

_ON_ROWS = frozenset(("remove", "change", "merge"))
_ON_GRID = frozenset(("add", "filter", "sort"))


class NodesPane(GraphRoom):
    """The nodes as a grid. A finished change of a name renames the entity everywhere; aliases change at once."""

    BINDINGS = keys(
        Key("nodes.add", Means.ADD, "add", N_("Add"), N_("Add a node that triples are to name")),
        Key("nodes.delete", Means.DELETE, "remove", N_("Delete entry"), N_("Delete the names listed here; triples keep naming the node"), show=False),
        Key("nodes.change", Means.CHANGE, "change", N_("Rename"), N_("Rename this node everywhere")),
        Key("nodes.merge", Means.COMMAND, "merge", N_("Merge"), N_("Make the marked nodes one; their names become its aliases"), letter="u"),
        Key("nodes.filter", Means.FILTER, "filter", N_("Filter"), N_("Show only nodes with these words in a name")),
        Key("nodes.aside", Means.VIEW, "aside", N_("Graph"), N_("Neighbours of this node; Enter goes to the triple")),
        Key("nodes.sort", Means.SORT, "sort", N_("Sort"), N_("Sort by this column, the other way round, not at all"), show=False),
    )  # fmt: skip

    COLUMNS = COLUMNS

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.nodes = NodeRows()
        self._typing: tuple[int, int, str] | None = None
        self._before: dict[str, Any] = {}
        self._renaming = ("", "")

    def filter_line(self) -> LineEditor:
        words = _("words of a name or an alias")
        return LineEditor(placeholder=words, compact=True, classes="filter")

    def empty_state(self) -> EmptyState:
        return EmptyState(
            _("No nodes yet"),
            _("Triples bring their nodes here by themselves; give them other names here."),
            ("{ADD}", _("add the first one")),
        )

    @property
    def entity(self) -> str:
        row = self.grid.cursor_row
        return self.nodes.rows[row].name if row < len(self.nodes) else ""

    @property
    def _edit(self) -> TaskEdit:
        return self.rows.edit

    # A pane of the editor

    def load(self, edit: TaskEdit) -> None:
        self.rows.load(edit)
        self._fill(self.entity)

    def commit(self) -> None:
        place = self._typing
        if place is not None and self.editable_grid.editing == place[:2]:
            self._write(self.editable_grid.value)

    def noticed(self, path: Path) -> None:
        if len(path) > 1 and path[:2] not in (ops.NODES, ops.TRIPLES):
            return
        self.rows.follow()
        match path:
            case ("gold", "nodes", int(entry), "name" | "aliases", *_) if self.nodes.follow_entry(
                self._edit, entry
            ):
                pass
            case _:
                self.nodes.follow(self._edit, self.rows.index, self._renaming)
        self.grid.changed()
        self.follow_later()

    def locate(self, path: Path) -> None:
        match path:
            case ("gold", "nodes", int(entry), *rest):
                row = self.nodes.row_of_entry(entry)
                if row is None and self.nodes.text:
                    self.end_filter()
                    row = self.nodes.row_of_entry(entry)
                if row is not None:
                    field = str(rest[0]) if rest else ""
                    self.grid.move_to(row, FIELD_COLUMN.get(field, self.grid.cursor_column))
            case _:
                pass

    def reveal(self, path: Path) -> None:
        self.locate(path)
        self.grid.focus()

    def step_back(self) -> bool:
        if self.editable_grid.has_focus_within and not self.nodes.text:
            return False
        if not self.side.has_focus_within:
            self.end_filter()
        self.remove_class("-aside")
        self.grid.focus()
        return True

    # Typing

    def on_editable_grid_begin_asked(self, event: EditableGrid.BeginAsked) -> None:
        event.stop()
        row, column = event.row, event.column
        if row >= len(self.nodes) or column == USES:
            self.editable_grid.refuse()
        else:
            self._begin(row, column)

    def on_editable_grid_next_row_asked(self, event: EditableGrid.NextRowAsked) -> None:
        event.stop()
        self.editable_grid.refuse()

    def on_editable_grid_cell_edited(self, event: EditableGrid.CellEdited) -> None:
        event.stop()
        if self._typing is not None and self._typing[:2] == (event.row, event.column):
            self._write(event.text)

    def on_editable_grid_cell_given_up(self, event: EditableGrid.CellGivenUp) -> None:
        event.stop()
        if not self._edit.give_up(self._before):
            self._write(event.text)

    def on_editable_grid_cell_committed(self, event: EditableGrid.CellCommitted) -> None:
        event.stop()
        self._edit.seal()
        place = self._typing
        if place is None or place[:2] != (event.row, event.column) or event.column != NAME:
            return
        old, new = place[2], event.text.strip()
        if old and new and new != old:
            self._renaming = (old, new)
            done = graph_entities.rename_entity(self._edit, old, new, at=ops.NODES)
            self.say(renamed(done))
            self._renaming = ("", "")

    def _begin(self, row: int, column: int) -> None:
        index = self.rows.index
        self._before = self._edit.data
        self._typing = (row, column, self.nodes.rows[row].name)
        self.editable_grid.begin(
            row,
            column,
            self.nodes.text_at(row, column),
            candidates=Names(index, "entity") if column == NAME else (),
            hint=lambda text: self._hint(row, column, text),
        )

    def _hint(self, row: int, column: int, text: str) -> str:
        if row >= len(self.nodes):
            return ""
        if column == NAME:
            return self._bulk.rename_effect(self.nodes.rows[row].name, text.strip())
        return self.nodes.hint(row, column, text, self.rows.index)

    def _write(self, text: str) -> None:
        if self._typing is not None and self._typing[0] < len(self.nodes):
            row, column, name = self._typing
            if self.nodes.rows[row].name == name or not name:
                self.nodes.write(row, column, text)

    # Moving about

    def on_around_pane_chosen(self, event: AroundPane.Chosen) -> None:
        event.stop()
        self.post_message(self.PlaceWanted((*ops.TRIPLES, event.index)))

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if event.widget is self.grid:
            self._typing = None

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in _ON_GRID:
            return self.grid.has_focus
        if action in _ON_ROWS:
            return self.grid.has_focus and len(self.nodes) > 0
        return action != "aside" or self.grid.has_focus or self.has_class("-aside")

    def action_add(self) -> None:
        self.end_filter()
        entry = len(self._edit.items(ops.NODES))
        self._edit.insert(ops.NODES, entry, blank_node())
        self._fill("")
        row = self.nodes.row_of_entry(entry)
        if row is not None:
            self._begin(row, NAME)

    def action_remove(self) -> None:
        chosen = self.grid.marked or {self.grid.cursor_row}
        rows = [self.nodes.rows[row] for row in chosen if row < len(self.nodes)]
        entries = {row.listed for row in rows if row.listed is not None}
        nodes = self._edit.items(ops.NODES)
        kept = [node for entry, node in enumerate(nodes) if entry not in entries]
        if entries:
            with self._edit.together((*ops.NODES, min(entries))):
                self._edit.arrange(ops.NODES, kept)
            self.grid.mark(())
            self._fill(self.entity)
        if used := sum(row.uses > 0 for row in rows):
            form = ngettext(
                "{n} node stays, for triples name it.",
                "{n} nodes stay, for triples name them.",
                used,
            )
            self.say(form.format(n=used))

    def action_change(self) -> None:
        if name := self.entity:
            self._do(self._bulk.rename("entity", name))

    def action_merge(self) -> None:
        names = self.nodes.names(sorted(self.grid.marked or {self.grid.cursor_row}))
        if names:
            self._do(self._bulk.merge("entity", names))

    def settle(self) -> None:
        self.editable_grid.commit()

    @guarded("nodes")
    async def _do(self, action: Awaitable[str]) -> None:
        if said := await action:
            self.grid.mark(())
            self.rows.follow()
            self._fill(self.entity)
            self.say(said)

    @property
    def _bulk(self) -> Bulk:
        return Bulk(cast("CuecardApp", self.app), self.rows, at=ops.NODES)

    # What is shown

    def sort_by(self, column: int) -> None:
        here = self.entity
        self.nodes.sort_by(column)
        self._fill(here)

    def filter_by(self, text: str) -> None:
        if text != self.nodes.text:
            self.nodes.text = text
            self._fill(self.entity)

    def _fill(self, name: str) -> None:
        """Show the list anew, with the cursor on a node."""
        self.nodes.load(self._edit, self.rows.index)
        row = self.nodes.row_of(name)
        row = self.grid.cursor_row if row is None else row
        self.editable_grid.load(
            self.nodes, cursor=(max(0, min(row, len(self.nodes) - 1)), self.grid.cursor_column)
        )
        self.query_one(EmptyState).display = not len(self.nodes) and not self.nodes.text
        self.follow()

    def tell(self) -> None:
        listed = len(self._edit.items(ops.NODES))
        total = len(self.nodes)
        parts = [
            ngettext("{n} node", "{n} nodes", total).format(n=total),
            _("• {n} listed with a name or aliases of their own").format(n=listed),
        ]
        if marked := len(self.grid.marked):
            parts.insert(0, ngettext("{n} marked", "{n} marked", marked).format(n=marked))
        self.query_one(StatusLine).load(" · ".join(parts))
