"""The forms of a graph: triples and nodes."""

from __future__ import annotations

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.blank import blank_node, blank_triple
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.core.i18n import N_
from cuecard.tui.screens.task import choices
from cuecard.tui.screens.task.choices import listed
from cuecard.tui.screens.task.collection import CollectionSpec
from cuecard.tui.screens.task.forms_shared import ALIASES, SOURCES
from cuecard.tui.screens.task.specs import FieldSpec
from cuecard.tui.widgets.fitted_table import FittedColumn

TRIPLE = (
    FieldSpec(("head",), N_("Head"), suggest=choices.node_names),
    FieldSpec(("relation",), N_("Relation"), suggest=choices.relations),
    FieldSpec(("tail",), N_("Tail"), suggest=choices.node_names),
    FieldSpec(("stage",), N_("Stage"), "choice", options=choices.stage_options),
    SOURCES,
)
NODE = (
    FieldSpec(
        ("id",), N_("Node"), tip=N_("As heads and tails name it"), suggest=choices.node_names
    ),
    FieldSpec(("name",), N_("Shown as"), tip=N_("Only if unlike the node's own name")),
    ALIASES,
)


def _triple_cells(edit: TaskEdit, index: int) -> tuple[str, ...]:
    triple = edit.items(ops.TRIPLES)[index]
    stage = triple["stage"]
    return (
        str(index + 1),
        str(triple["head"]),
        str(triple["relation"]),
        str(triple["tail"]),
        "–" if stage is None else str(stage),
        str(len(triple["sources"])),
    )


def _node_cells(edit: TaskEdit, index: int) -> tuple[str, ...]:
    node = edit.items(ops.NODES)[index]
    return str(node["id"]), str(node["name"]), listed(node["aliases"])


TRIPLES = CollectionSpec(
    path=ops.TRIPLES,
    columns=(
        FittedColumn("#", 3, right=True),
        FittedColumn(N_("Head"), 10, grow=3),
        FittedColumn(N_("Relation"), 8, grow=2),
        FittedColumn(N_("Tail"), 10, grow=3),
        FittedColumn(N_("Stage"), 5, right=True),
        FittedColumn(N_("Src"), 3, right=True),
    ),
    cells=_triple_cells,
    fields=TRIPLE,
    blank=blank_triple,
    title=N_("No triples yet"),
    about=N_("The gold answer of a graph task: head, relation, tail, with sources and its stage."),
)
NODES = CollectionSpec(
    path=ops.NODES,
    columns=(
        FittedColumn(N_("Node"), 12, grow=2),
        FittedColumn(N_("Shown as"), 10, grow=1),
        FittedColumn(N_("Aliases"), 12, grow=3),
    ),
    cells=_node_cells,
    fields=NODE,
    blank=blank_node,
    title=N_("No nodes listed"),
    about=N_(
        "Only nodes with other names need be listed; triples name all the others by themselves."
    ),
)
