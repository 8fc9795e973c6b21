"""The entities of a graph: as rows of a grid, and one with its neighbourhood beside the triples."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.text import Text
from textual.app import ComposeResult
from textual.message import Message
from textual.theme import Theme

from cuecard.annotate.authoring import graph_entities, ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.graph_entities import (
    NodeRow,
    NodeSort,
    filtered,
    joined_aliases,
    node_rows,
    ordered,
    split_aliases,
)
from cuecard.annotate.authoring.graph_names import GraphIndex
from cuecard.annotate.authoring.graph_view import (
    Branch,
    Figures,
    Neighbourhood,
    TripleIndex,
    figures,
)
from cuecard.core.i18n import N_, _, listed, ngettext
from cuecard.core.text import one_line
from cuecard.tui.drawing import Vertical
from cuecard.tui.grid import Grid, GridCell, GridColumn, ListSource
from cuecard.tui.grid.cell_input import HintLine
from cuecard.tui.present.entries import ink
from cuecard.tui.present.keyboard import hint
from cuecard.tui.screens.task.fields import SOURCES, FieldSpec, Form, list_cell
from cuecard.tui.widgets.text import PlainText

_NAMES_SHOWN = 4


class AroundPane(Vertical):
    """`show` an entity's neighbourhood; Enter on a branch chooses its triple."""

    class Chosen(Message):
        """The person wants to see this triple."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self) -> None:
        super().__init__(classes="around")
        self._shown: tuple[TripleIndex, str] | None = None
        self._indices: list[int] = []

    def compose(self) -> ComposeResult:
        yield Grid((GridColumn(N_("Neighbours"), 10, grow=1),))

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, self._show_again)

    @property
    def grid(self) -> Grid:
        return self.query_one(Grid)

    def _show_again(self, _theme: Theme) -> None:
        """In other colours."""
        if self._shown is not None:
            shown, self._shown = self._shown, None
            self.show(*shown)

    def show(self, surroundings: TripleIndex, entity: str) -> None:
        """Show what surrounds an entity; an empty name shows nothing."""
        if self._shown == (surroundings, entity):
            return
        self._shown = (surroundings, entity)
        ink_of = self.app.theme_variables
        self._indices = []
        lines: list[Sequence[Text]] = []
        if entity:
            around = surroundings.around(entity)
            for index, text in branch_lines(around, ink_of):
                self._indices.append(index)
                lines.append((text,))
        label = one_line(entity, 60) or _("Neighbours")
        if entity:
            degree = surroundings.degree(entity)
            counted = ngettext("{n} triple", "{n} triples", degree).format(n=degree)
            label = f"{label}  {counted}"
        self.grid.set_columns((GridColumn(label, 10, grow=1, raw=True),))
        self.grid.load(ListSource(lines), cursor=(0, 0))

    def on_grid_cursor_moved(self, event: Grid.CursorMoved) -> None:
        event.stop()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        index = self._indices[event.row] if event.row < len(self._indices) else -1
        if index >= 0:
            self.post_message(self.Chosen(index))


def branch_lines(around: Neighbourhood, variables: Mapping[str, str]) -> Iterator[tuple[int, Text]]:
    """The tree line by line, each with its triple; -1 for a line that is none."""
    yield from _below(around.branches, around.hidden, "", variables)


def _below(
    branches: Sequence[Branch], hidden: int, indent: str, variables: Mapping[str, str]
) -> Iterator[tuple[int, Text]]:
    muted, accent = ink(variables, "muted"), ink(variables, "primary")
    for position, branch in enumerate(branches):
        last = position == len(branches) - 1 and not hidden
        line = Text(f"{indent}{'└' if last else '├'}", style=muted)
        relation = one_line(branch.relation, 40)
        line.append(f" ← {relation} ← " if branch.inward else f" {relation} → ", style=accent)
        line.append(one_line(branch.entity, 80))
        if branch.again:
            line.append(" ↑", style=muted)
        yield branch.index, line
        deeper = f"{indent}{' ' if last else '│'} "
        yield from _below(branch.branches, branch.hidden, deeper, variables)
    if hidden:
        text = ngettext("└ {n} more", "└ {n} more", hidden).format(n=hidden)
        yield -1, Text(f"{indent}{text}", style=muted)


class StatusLine(HintLine):
    """What the list shows, in one line above it."""


class FiguresPane(PlainText):
    """`show` what a graph amounts to."""

    def __init__(self) -> None:
        super().__init__(classes="figures")
        self._shown = ""

    def show(self, figures: Figures) -> None:
        text = "\n".join(figure_lines(figures))
        if text != self._shown:
            self._shown = text
            self.load(text)


def headline(figures: Figures) -> str:
    """The most important figures in one line."""
    parts = (
        ngettext("{n} triple", "{n} triples", figures.triples).format(n=figures.triples),
        ngettext("{n} node", "{n} nodes", figures.nodes).format(n=figures.nodes),
        ngettext("{n} relation", "{n} relations", figures.relations).format(n=figures.relations),
        _("depth {n}").format(n=figures.depth),
        _("{percent}% with sources").format(percent=_percent(figures.sourced, figures.triples)),
    )
    return " · ".join(parts)


def figure_lines(figures: Figures) -> list[str]:
    """All figures, a few to a line."""
    lines = [
        headline(figures),
        _("sources: {n} of {total} triples").format(n=figures.sourced, total=figures.triples),
    ]
    if figures.components > 1:
        form = _("in {n} pieces; apart: {names}")
        lines.append(form.format(n=figures.components, names=_some(figures.loose)))
    elif figures.triples:
        lines.append(_("in one piece"))
    if figures.unused:
        lines.append(_("listed but not used: {names}").format(names=_some(figures.unused)))
    if figures.incomplete:
        form = ngettext(
            "{n} triple is incomplete", "{n} triples are incomplete", figures.incomplete
        )
        lines.append(form.format(n=figures.incomplete))
    stages = [f"{stage}:{count}" for stage, count in (figures.stages or {}).items()]
    if stages:
        lines.append(_("by stage  {counts}").format(counts="  ".join(stages)))
    if figures.without_stage:
        lines.append(_("without a stage: {n}").format(n=figures.without_stage))
    return lines


def _percent(part: int, whole: int) -> int:
    return round(100 * part / whole) if whole else 0


def _some(names: Sequence[Any]) -> str:
    return listed((one_line(str(name), 30) for name in names), _NAMES_SHOWN)


DETAIL = (
    SOURCES,
    FieldSpec(("note",), N_("Note"), "text", tip=N_("The sentence of a source, or a remark")),
)


class GraphSide(Vertical):
    """`show` the surroundings of an entity; knows what it has counted, and counts no more than once."""

    def __init__(self) -> None:
        super().__init__()
        self._surroundings = TripleIndex(())
        self._counted: object = None
        self.summary = ""

    def compose(self) -> ComposeResult:
        yield AroundPane()
        yield FiguresPane()

    @property
    def around(self) -> AroundPane:
        return self.query_one(AroundPane)

    def show(self, edit: TaskEdit, entity: str) -> None:
        """Show an entity's neighbours and the graph's figures as they are now."""
        triples, nodes = edit.items(ops.TRIPLES), edit.items(ops.NODES)
        if not self._surroundings.is_of(triples):
            self._surroundings = TripleIndex(triples)
        self.around.show(self._surroundings, entity)
        if self._counted != (id(triples), id(nodes), edit.version):
            self._counted = (id(triples), id(nodes), edit.version)
            found = figures(triples, nodes)
            self.summary = headline(found) if triples else ""
            self.query_one(FiguresPane).show(found)


class TripleDetail(Vertical):
    """The sources and the note of one triple; `load` with -1 shows none."""

    def compose(self) -> ComposeResult:
        yield Form(DETAIL)

    @property
    def form(self) -> Form:
        return self.query_one(Form)

    def on_mount(self) -> None:
        self.border_title = _("Triple")

    def load(self, edit: TaskEdit, index: int) -> None:
        self.form.display = index >= 0
        if index >= 0:
            self.border_title = _("Triple {n}").format(n=index + 1)
            self.form.load(edit, (*ops.TRIPLES, index))
        else:
            self.border_title = _("Triple")
            self.form.unload()


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
        return node.name, node.shown, GridCell(list_cell(list(node.aliases)), "muted"), uses

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
                graph_entities.write_shown_name(edit, node.name, text)
            case 2:
                aliases = split_aliases(text, node.aliases)
                graph_entities.write_aliases(edit, node.name, aliases)
            case _:
                pass

    def hint(self, row: int, column: int, text: str, index: GraphIndex) -> str:
        node = self.rows[row]
        if column == ALIASES:
            taken = [a for a in split_aliases(text) if a != node.name and index.uses("entity", a)]
            if taken:
                said = _("“{name}” is a node itself; <nodes.merge> merges")
                return hint(said, typing=True, name=taken[0])
        return ""
