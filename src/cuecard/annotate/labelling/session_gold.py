"""What surrounds an item in the gold."""

from __future__ import annotations

from dataclasses import dataclass

from cuecard.annotate.authoring.graph_neighbours import Neighbourhood, Surroundings
from cuecard.annotate.labelling.session_views import LabelView
from cuecard.core.tasks import Graph, Task
from cuecard.core.verdicts import ItemKind
from cuecard.lab.items import PredictedItem, gold_items


@dataclass(frozen=True)
class GoldAround:
    """`around`: the trees of the entities that the item names; `items`: all of the gold."""

    around: tuple[Neighbourhood, ...]
    items: tuple[PredictedItem, ...]


def gold_around(task: Task, view: LabelView) -> GoldAround:
    """The gold by its neighbourhoods (of a graph) and in full."""
    return GoldAround(
        _trees(task.gold, view) if isinstance(task.gold, Graph) else (), gold_items(task)
    )


def _trees(graph: Graph, view: LabelView) -> tuple[Neighbourhood, ...]:
    named = [graph.named(triple) for triple in graph.triples]
    surroundings = Surroundings([{"head": h, "relation": r, "tail": t} for h, r, t in named])
    item = view.gold.item
    if item.kind is ItemKind.TRIPLE:
        numbers = [item.index]
    elif item.kind is ItemKind.PREDICTED:
        numbers = [near.index for near in view.closest[:1]]
    else:
        return ()
    entities = dict.fromkeys(end for n in numbers for end in (named[n][0], named[n][2]))
    return tuple(surroundings.around(entity) for entity in entities)
