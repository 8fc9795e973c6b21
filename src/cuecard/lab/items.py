"""The two sides of a verdict as text: the gold item, and what the agent handed in."""

from __future__ import annotations

from cuecard.core.i18n import _
from cuecard.core.prediction import (
    AnswerPrediction,
    Prediction,
    TablePrediction,
    TriplesPrediction,
    UnusablePrediction,
)
from cuecard.core.tasks import CheckpointChain, FactWorld, Graph, Table, Task
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import normalise
from cuecard.core.verdicts import Item, ItemKind


class GoldItem(Frozen):
    """`text` is one line; `also` other accepted names; `context` what else decides (the stage, the
    row's key, the column's criterion), translated.
    """

    item: Item
    text: str
    also: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


class PredictedItem(Frozen):
    """Triple or row `index` (from 0) of a prediction, or its answer. `cell` is the one cell that a
    table verdict is about, "" where the predicted table has no such column.
    """

    index: int
    text: str
    cell: str = ""


def gold_item(task: Task, item: Item) -> GoldItem:
    """What a gold triple, cell, row or answer says in this revision. Raises `IndexError` if it has no
    such item.
    """
    match task.gold:
        case Graph() as graph:
            return _triple(graph, item)
        case Table() as table:
            return _row(table, item) if item.kind is ItemKind.ROW else _cell(table, item)
        case CheckpointChain(final_answer=answer, final_aliases=also):
            return GoldItem(item=item, text=answer, also=also, context=(task.query,))
        case FactWorld(answer=answer, answer_aliases=also):
            return GoldItem(item=item, text=answer, also=also, context=(task.query,))


def _triple(graph: Graph, item: Item) -> GoldItem:
    triple = graph.triples[item.index]
    context: list[str] = []
    if triple.stage is not None:
        context.append(_("stage {n}").format(n=triple.stage))
    also = [*graph.names_of(triple.head)[1:], *graph.names_of(triple.tail)[1:]]
    return GoldItem(
        item=item,
        text=_joined(graph.named(triple)),
        also=tuple(dict.fromkeys(also)),
        context=tuple(context),
        sources=triple.sources,
    )


def _cell(table: Table, item: Item) -> GoldItem:
    row = table.rows[item.index]
    column = table.columns[table.column_names.index(item.column)]
    key = ", ".join(table.key_of(row))
    context = [_("row {key}").format(key=key), _("column {column}").format(column=column.name)]
    if column.criterion:
        context.append(_("criterion: {criterion}").format(criterion=column.criterion))
    value = row[table.column_names.index(item.column)]
    return GoldItem(item=item, text=value, context=tuple(context))


def _row(table: Table, item: Item) -> GoldItem:
    row = table.rows[item.index]
    columns = _("columns: {names}").format(names=" | ".join(table.column_names))
    context = [_("row {key}").format(key=", ".join(table.key_of(row))), columns]
    context += [
        f"{column.name}: {column.criterion}" for column in table.columns if column.criterion
    ]
    return GoldItem(item=item, text=" | ".join(row), context=tuple(context))


def gold_items(task: Task) -> tuple[PredictedItem, ...]:
    """All of the gold by its own numbers, a line each."""
    match task.gold:
        case Graph() as graph:
            texts = [_joined(graph.named(triple)) for triple in graph.triples]
        case Table() as table:
            texts = [" | ".join(row) for row in table.rows]
        case CheckpointChain() as chain:
            texts = [_joined((step.question, *step.names)) for step in chain.steps]
        case FactWorld() as world:
            texts = [_joined((fact.key, fact.value)) for fact in world.facts]
    return tuple(PredictedItem(index=index, text=text) for index, text in enumerate(texts))


def predicted_items(prediction: Prediction, column: str = "") -> tuple[PredictedItem, ...]:
    """Everything the agent handed in, in its order; none for an unusable prediction."""
    match prediction:
        case TriplesPrediction(triples=triples):
            texts = [_joined((t.head, t.relation, t.tail)) for t in triples]
            return tuple(PredictedItem(index=i, text=text) for i, text in enumerate(texts))
        case TablePrediction(columns=columns, rows=rows):
            names = [_column_name(name) for name in columns]
            wanted = _column_name(column)
            at = names.index(wanted) if wanted in names else None
            return tuple(
                PredictedItem(index=i, text=" | ".join(row), cell=row[at] if at is not None else "")
                for i, row in enumerate(rows)
            )
        case AnswerPrediction(answer=answer):
            return (PredictedItem(index=0, text=answer),)
        case UnusablePrediction():
            return ()


def closest_items(
    task: Task, item: Item, prediction: Prediction, limit: int = 5
) -> tuple[PredictedItem, ...]:
    """The predicted items that look most like the gold one, best first; beside a predicted triple the
    gold triples.

    Likeness is lexical (token set and partial ratios of rapidfuzz over the names, or over a row's
    key) and owes nothing to any judge's verdict.
    """
    from rapidfuzz import fuzz, process

    if item.kind is ItemKind.PREDICTED:
        candidates = gold_items(task)
    else:
        candidates = predicted_items(prediction, item.column)
    if item.kind is ItemKind.ANSWER:
        return candidates[:limit]
    if item.kind in (ItemKind.STATUS, ItemKind.CUE, ItemKind.LEAK):
        return ()
    if isinstance(task.gold, Table) and isinstance(prediction, TablePrediction):
        wanted = " | ".join(task.gold.key_of(task.gold.rows[item.index]))
        texts = _keys(task.gold, prediction)
    else:
        if item.kind is ItemKind.PREDICTED:
            wanted = predicted_items(prediction)[item.index].text
        else:
            wanted = gold_item(task, item).text
        texts = [candidate.text for candidate in candidates]
    best = process.extract(
        normalise(wanted), [normalise(text) for text in texts], scorer=fuzz.WRatio, limit=limit
    )
    return tuple(candidates[index] for _text, _score, index in best)


def _keys(table: Table, prediction: TablePrediction) -> list[str]:
    """Each predicted row's key cells; whole rows where the key columns are not all there."""
    names = [_column_name(name) for name in prediction.columns]
    keys = [_column_name(name) for name in table.unique_columns]
    at = [names.index(name) for name in keys if name in names]
    if len(at) < len(keys):
        at = list(range(len(names)))
    return [" | ".join(row[index] for index in at) for row in prediction.rows]


def _joined(parts: tuple[str, ...]) -> str:
    return " — ".join(parts)


def _column_name(name: str) -> str:
    """Column names compare after strip, lower and removal of blanks (FORMATS: widesearch)."""
    return "".join(name.lower().split())
