"""Two golds of one task side by side."""

from __future__ import annotations

from cuecard.annotate.second_gold.chains import align_chains, align_worlds
from cuecard.annotate.second_gold.elements import Alignment
from cuecard.annotate.second_gold.graphs import align_graphs
from cuecard.annotate.second_gold.tables import align_tables
from cuecard.core.tasks import CheckpointChain, FactWorld, Gold, Graph, Table


def align(author: Gold, second: Gold) -> Alignment:
    """Pair what belongs together, one to one, the best way there is. The outcome follows from what both
    say: neither the order of triples or rows nor who is called first changes how much agrees. Raises
    `ValueError` for golds of two families.
    """
    match author, second:
        case Graph(), Graph():
            return align_graphs(author, second)
        case Table(), Table():
            return align_tables(author, second)
        case CheckpointChain(), CheckpointChain():
            return align_chains(author, second)
        case FactWorld(), FactWorld():
            return align_worlds(author, second)
        case _:
            raise ValueError("two golds of one family can be compared")
