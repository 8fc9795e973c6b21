"""The rows of the sheet of nodes. Knows no widget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cuecard.annotate.authoring import graph_renames, ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.graph_names import GraphIndex
from cuecard.annotate.authoring.graph_nodes import (
    NodeRow,
    NodeSort,
    filtered,
    joined_aliases,
    node_rows,
    ordered,
    split_aliases,
)
from cuecard.core.i18n import N_, _
from cuecard.tui.screens.task.choices import listed
from cuecard.tui.widgets.grid import GridCell, GridColumn

NAME, SHOWN, ALIASES, USES = range(4)
COLUMNS = (
    GridColumn(N_("Node"), 12, grow=2, most=40),
    GridColumn(N_("Shown as"), 8, grow=1, most=24),
    GridColumn(N_("Aliases"), 12, grow=3, most=60),
    GridColumn(N_("Uses"), 4, right=True, editable=False),
)
SORTS: tuple[NodeSort, ...] = ("name", "shown", "aliases", "uses")
FIELD_COLUMN = {"id": NAME, "name": SHOWN, "aliases": ALIASES}
_NOTHING, _LISTED = GridCell(""), GridCell("•", "accent")


class NodeRows:
    """`load` it with an edit and its index; `follow` keeps the order while cells are typed."""

    def __init__(self) -> None:
        self.rows: list[NodeRow] = []
        self.text = ""
        self.sort: NodeSort | None = None
        self.descending = False
        self._edit: TaskEdit | None = None

    def load(self, edit: TaskEdit, index: GraphIndex) -> None:
        """Filter and sort anew."""
        self._edit = edit
        rows = filtered(node_rows(edit, index), self.text)
        self.rows = ordered(rows, self.sort, descending=self.descending)

    def follow(
        self, edit: TaskEdit, index: GraphIndex, renamed: tuple[str, str] = ("", "")
    ) -> None:
        """The same rows where they were, as they are now; others as they come. A node `renamed` from
        one name to another keeps its row too.
        """
        self._edit = edit
        fresh = node_rows(edit, index)
        entries = {row.listed: row for row in fresh if row.listed is not None}
        names = {row.name: row for row in fresh}
        kept: dict[str, NodeRow] = {}
        for row in self.rows:
            name = renamed[1] if row.name and row.name == renamed[0] else row.name
            same = names.get(name) or (entries.get(row.listed) if row.listed is not None else None)
            if same is not None:
                kept.setdefault(same.name, same)
        new = filtered([row for row in fresh if row.name not in kept], self.text)
        self.rows = [*kept.values(), *new]

    def follow_entry(self, edit: TaskEdit, entry: int) -> bool:
        """Something other than the name of one entry changed; False where its row is not shown."""
        row = self.row_of_entry(entry)
        if row is None:
            return False
        self._edit = edit
        node = edit.get((*ops.NODES, entry), {})
        aliases = tuple(str(alias) for alias in node.get("aliases", ()))
        shown = str(node.get("name", ""))
        self.rows[row] = replace(self.rows[row], shown=shown, aliases=aliases)
        return True

    def sort_by(self, column: int) -> None:
        """By this column; the same again turns it round, and a third time ends it."""
        key = SORTS[column]
        if self.sort != key:
            self.sort, self.descending = key, False
        elif not self.descending:
            self.descending = True
        else:
            self.sort, self.descending = None, False

    def row_of(self, name: str) -> int | None:
        return next((i for i, row in enumerate(self.rows) if row.name == name), None)

    def row_of_entry(self, entry: int) -> int | None:
        """The row of an entry among the nodes."""
        return next((i for i, row in enumerate(self.rows) if row.listed == entry), None)

    def names(self, rows: Sequence[int]) -> list[str]:
        found = (self.rows[row].name for row in sorted(rows) if row < len(self.rows))
        return [name for name in found if name]

    # The source of a grid

    def __len__(self) -> int:
        return len(self.rows)

    def cells(self, row: int) -> Sequence[str | GridCell]:
        node = self.rows[row]
        uses = str(node.uses) if node.uses else GridCell("0", "warn")
        return node.name, node.shown, GridCell(listed(list(node.aliases)), "muted"), uses

    def gutter(self, row: int) -> GridCell:
        return _NOTHING if self.rows[row].listed is None else _LISTED

    # Typing

    def text_at(self, row: int, column: int) -> str:
        node = self.rows[row]
        match column:
            case 0:
                return node.name
            case 1:
                return node.shown
            case 2:
                return joined_aliases(node.aliases)
            case _:
                return ""

    def write(self, row: int, column: int, text: str) -> None:
        """Put what is typed for a name to show or for aliases into the edit; an entry that has no
        name yet gets one. Other names change when they are complete.
        """
        edit, node = self._edit, self.rows[row]
        if edit is None:
            return
        match column:
            case 0 if not node.name and node.listed is not None:
                edit.set((*ops.NODES, node.listed, "id"), text.strip(), typing=True)
            case 1:
                graph_renames.write_shown_name(edit, node.name, text)
            case 2:
                aliases = split_aliases(text, node.aliases)
                graph_renames.write_aliases(edit, node.name, aliases)
            case _:
                pass

    def hint(self, row: int, column: int, text: str, index: GraphIndex) -> str:
        node = self.rows[row]
        if column == ALIASES:
            taken = [a for a in split_aliases(text) if a != node.name and index.uses("entity", a)]
            if taken:
                return _("“{name}” is a node itself; ^u merges").format(name=taken[0])
        return ""
