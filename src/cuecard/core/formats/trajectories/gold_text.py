"""The gold of a task in a few words, for programs that show a target."""

from __future__ import annotations

from cuecard.core.scoring.aggregate import BEST_BY
from cuecard.core.scoring.checkpoints import CHECKPOINT_MEASURES
from cuecard.core.scoring.graph import GRAPH_MEASURES
from cuecard.core.scoring.table import TABLE_MEASURES
from cuecard.core.tasks import CheckpointChain, FactWorld, Family, Graph, Table, Task
from cuecard.core.verdicts import Item, ItemKind

MEASURES: dict[Family, tuple[str, ...]] = {
    "graph": (BEST_BY, *(name for name in GRAPH_MEASURES if name != BEST_BY)),
    "table": ("item_f1", *(name for name in TABLE_MEASURES if name != "item_f1")),
    "checkpoints": CHECKPOINT_MEASURES,
    "facts": ("pass_at_1", "fcr", "hit_rate"),
}
"""What tells how good a trial was, by family; the first is the one that stands for it."""


def target_of(task: Task) -> str | tuple[str, ...]:
    """The accepted answers; of a graph or table all its triples or rows, one a line."""
    match task.gold:
        case Graph() as graph:
            return "\n".join(" | ".join(graph.named(triple)) for triple in graph.triples)
        case Table() as table:
            return "\n".join(" | ".join(row) for row in (table.column_names, *table.rows))
        case CheckpointChain(final_answer=answer, final_aliases=also):
            return (answer, *also)
        case FactWorld(answer=answer, answer_aliases=also):
            return (answer, *also)


def item_text(task: Task, item: Item) -> str:
    """What a gold item says; its key where the task has none such."""
    try:
        match task.gold, item.kind:
            case Graph() as graph, ItemKind.TRIPLE:
                return " | ".join(graph.named(graph.triples[item.index]))
            case Table() as table, ItemKind.CELL:
                row = table.rows[item.index]
                value = row[table.column_names.index(item.column)]
                return f"{', '.join(table.key_of(row))} | {item.column}: {value}"
            case (
                (CheckpointChain(final_answer=answer) | FactWorld(answer=answer)),
                ItemKind.ANSWER,
            ):
                return answer
            case _:
                return item.key
    except (IndexError, ValueError):
        return item.key
