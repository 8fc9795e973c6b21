"""Gold items of two revisions, matched by what they say and never by where they stand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum

from cuecard.core.scoring.table import distinct_gold_rows, row_key
from cuecard.core.tasks import CheckpointChain, FactWorld, Graph, Table, Task
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Item, ItemKind

_ANSWER = Item(kind=ItemKind.ANSWER)


class Fate(StrEnum):
    """What became of a gold item. `changed`: the same item by its key (a cell), or another that shares two of
    three parts with it (a triple).
    """

    SAME = "same"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"


class ItemChange(Frozen):
    """`old` is None for what was added, `new` for what was removed."""

    fate: Fate
    old: Item | None
    new: Item | None


def item_changes(old: Task, new: Task) -> tuple[ItemChange, ...]:
    """Every gold item of either revision once: those of `new` in their order, then what was removed.

    Triples are the same with the same names of head and tail (aliases in any order) and the same relation; cells
    with the same row key and column, the same text and the same rules of comparison; answers with the same text
    and aliases. Raises `ValueError` for tasks of two families.
    """
    match old.gold, new.gold:
        case Graph() as before, Graph() as after:
            return _triples(before, after)
        case Table() as before, Table() as after:
            return _cells(before, after)
        case (CheckpointChain() | FactWorld(), CheckpointChain() | FactWorld()):
            same = _answers(old) == _answers(new)
            fate = Fate.SAME if same else Fate.CHANGED
            return (ItemChange(fate=fate, old=_ANSWER, new=_ANSWER),)
        case _:
            raise ValueError("gold of two families")


def _answers(task: Task) -> tuple[str, frozenset[str]]:
    match task.gold:
        case CheckpointChain(final_answer=answer, final_aliases=also):
            return answer, frozenset(also)
        case FactWorld(answer=answer, answer_aliases=also):
            return answer, frozenset(also)
        case _:
            raise ValueError("no answer")


_Part = tuple[str, frozenset[str]]
_Said = tuple[_Part, str, _Part]


def _said(graph: Graph, index: int) -> _Said:
    triple = graph.triples[index]
    (head, *heads), (tail, *tails) = graph.names_of(triple.head), graph.names_of(triple.tail)
    return (head, frozenset(heads)), triple.relation, (tail, frozenset(tails))


def _triples(old: Graph, new: Graph) -> tuple[ItemChange, ...]:
    before = {index: _said(old, index) for index in range(len(old.triples))}
    after = {index: _said(new, index) for index in range(len(new.triples))}
    same = _paired(after, before)
    left = {index: said for index, said in before.items() if index not in same.values()}
    found: list[ItemChange] = []
    for index, said in after.items():
        if index in same:
            found.append(_change(Fate.SAME, same[index], index))
            continue
        near = next((i for i, other in left.items() if _near(said, other)), None)
        if near is not None:
            del left[near]
        found.append(_change(Fate.ADDED if near is None else Fate.CHANGED, near, index))
    return (*found, *(_change(Fate.REMOVED, index, None) for index in left))


def _near(one: _Said, other: _Said) -> bool:
    """Two of three parts say the same; of head and tail the name counts, whatever the aliases."""
    parts = zip(_names(one), _names(other), strict=True)
    return sum(mine == theirs for mine, theirs in parts) >= 2


def _names(said: _Said) -> tuple[str, str, str]:
    return said[0][0], said[1], said[2][0]


def _paired(after: dict[int, _Said], before: dict[int, _Said]) -> dict[int, int]:
    """Equal ones, each once, in order."""
    waiting: dict[_Said, list[int]] = defaultdict(list)
    for index, said in before.items():
        waiting[said].append(index)
    return {index: waiting[said].pop(0) for index, said in after.items() if waiting.get(said)}


def _change(fate: Fate, old: int | None, new: int | None) -> ItemChange:
    return ItemChange(fate=fate, old=_triple(old), new=_triple(new))


def _triple(index: int | None) -> Item | None:
    return None if index is None else Item(kind=ItemKind.TRIPLE, index=index)


def _cells(old: Table, new: Table) -> tuple[ItemChange, ...]:
    keys = {row_key(old, old.rows[index]): index for index in distinct_gold_rows(old)}
    columns = {column.name: (place, column) for place, column in enumerate(old.columns)}
    found: list[ItemChange] = []
    met: set[tuple[int, str]] = set()
    for index in distinct_gold_rows(new):
        row = keys.get(row_key(new, new.rows[index]))
        for place, column in enumerate(new.columns):
            item = Item(kind=ItemKind.CELL, index=index, column=column.name)
            if row is None or column.name not in columns:
                found.append(ItemChange(fate=Fate.ADDED, old=None, new=item))
                continue
            met.add((row, column.name))
            was, rules = columns[column.name]
            same = rules == column and old.rows[row][was] == new.rows[index][place]
            before = Item(kind=ItemKind.CELL, index=row, column=column.name)
            found.append(ItemChange(fate=Fate.SAME if same else Fate.CHANGED, old=before, new=item))
    return (*found, *_removed(old, met))


def _removed(old: Table, met: Iterable[tuple[int, str]]) -> list[ItemChange]:
    known = set(met)
    return [
        ItemChange(
            fate=Fate.REMOVED,
            old=Item(kind=ItemKind.CELL, index=index, column=column.name),
            new=None,
        )
        for index in distinct_gold_rows(old)
        for column in old.columns
        if (index, column.name) not in known
    ]
