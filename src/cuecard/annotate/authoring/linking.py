"""Versions of a task side by side: items known again across them, references freed of their numbers.

A triple names its stage by number and a cell its column by position. Here both name the thing itself,
so that a stage that was put in front changes one stage, not every triple behind it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from cuecard.annotate.authoring.anatomy import (
    Items,
    Record,
    Ref,
    is_blank,
    mapping,
    part,
    same,
    text_of,
)
from cuecard.annotate.authoring.matching import Likeness, match, match_by_key
from cuecard.annotate.authoring.task_anatomy import COLUMNS, STAGES, table_shape, task_shape
from cuecard.annotate.authoring.trees import Path

Data = Mapping[str, Any]
_ROWS_LOOKED_AT = 50


def identities(lists: Sequence[Sequence[Any]], likeness: Likeness) -> list[list[int]]:
    """A number for each item of each list, the same where it is the same item: the index in the
    first list, a number beyond it for what is not there.
    """
    base = lists[0]
    found = [list(range(len(base)))]
    free = len(base)
    for items in lists[1:]:
        ids = [-1] * len(items)
        if items is base:
            ids = list(found[0])
        else:
            for i, j in match(base, items, likeness).items():
                ids[j] = i
        found.append(ids)
    if len(lists) == 3:
        # What both added on their own is one thing only if it has the same name.
        ours = [j for j, known in enumerate(found[1]) if known < 0]
        theirs = [j for j, known in enumerate(found[2]) if known < 0]
        pairs = match_by_key([lists[1][j] for j in ours], [lists[2][j] for j in theirs], likeness)
        for i, j in sorted(pairs.items()):
            found[1][ours[i]] = found[2][theirs[j]] = free
            free += 1
    for ids in found[1:]:
        for j, known in enumerate(ids):
            if known < 0:
                ids[j] = free
                free += 1
    return found


class Versions:
    """`trees`: the data of two or three versions (the first is what they have in common), with
    references to things instead of numbers; `shape` describes all of them.
    """

    def __init__(self, *data: Data) -> None:
        families = {part(tree.get("gold"), "family") for tree in data}
        self.family = families.pop() if len(families) == 1 else ""
        stages = [_items(tree.get("persona"), "stages") for tree in data]
        self.stage_ids = identities(stages, STAGES.likeness)
        columns = [_items(tree.get("gold"), "columns") for tree in data]
        filled = [_with_cells(tree, listed) for tree, listed in zip(data, columns, strict=True)]
        self.column_ids = identities(filled, COLUMNS.likeness)
        self.trees: list[dict[str, Any]] = []
        for at, tree in enumerate(data):
            gold = tree.get("gold")
            if self.family == "graph":
                gold = self._with_stages(cast(dict[str, Any], gold), stages[at], at)
            elif self.family == "table":
                gold = self._with_columns(cast(dict[str, Any], gold), at)
            self.trees.append({**tree, "gold": gold})
        self.shape = task_shape(self.family, self._table(columns))

    def used(self, version: int) -> tuple[set[int], set[int]]:
        """Stages and columns of which a version says something that the first does not."""
        stages, columns = set[int](), set[int]()
        old, new = (self.trees[at]["gold"] for at in (0, version))
        for before, after in self._pairs(old, new, "triples") if self.family == "graph" else ():
            stage = mapping(after).get("stage")
            if isinstance(stage, Ref) and stage != mapping(before).get("stage"):
                stages.add(stage.id)
        for before, after in self._pairs(old, new, "rows") if self.family == "table" else ():
            for name, cell in mapping(after).items():
                changed = not same(cell, mapping(before).get(name))
                if name[0] == "c" and changed and not is_blank(cell):
                    columns.add(int(name[1:]))
        return stages, columns

    def _pairs(self, old: Any, new: Any, name: str) -> list[tuple[Any, Any]]:
        """Each new item of a list in the gold, with what it was."""
        before, after = _items(old, name), _items(new, name)
        shape = cast(Items, cast(Record, self.shape.fields["gold"]).fields[name])
        ids = identities([before, after], shape.likeness)[1]
        return [
            (before[known] if known < len(before) else None, item)
            for known, item in zip(ids, after, strict=True)
        ]

    def ids(self, path: Path, shape: Items, lists: Sequence[Sequence[Any]]) -> list[list[int]]:
        """The identities of the lists at `path`, in the order of the versions."""
        if path == ("persona", "stages") and len(lists) == len(self.stage_ids):
            return self.stage_ids
        if path == ("gold", "columns") and len(lists) == len(self.column_ids):
            return self.column_ids
        return identities(lists, shape.likeness)

    def place(self, path: Path, version: int) -> Path:
        """`path` as it is in a version's own data: cells by position."""
        if self.family == "table" and path[:2] == ("gold", "rows") and len(path) == 4:
            return (*path[:3], self._position(str(path[3]), version))
        return path

    def unlinked(self, tree: dict[str, Any], stages: Sequence[int], columns: Sequence[int]) -> Data:
        """A tree as plain data again; `stages` and `columns` are the identities in its own order."""
        gold: Any = tree.get("gold")
        if self.family == "graph":
            numbers = {known: number for number, known in enumerate(stages, start=1)}
            triples = [_staged(triple, numbers) for triple in _items(gold, "triples")]
            gold = {**gold, "triples": triples}
        elif self.family == "table":
            at = {known: index for index, known in enumerate(columns)}
            names = [part(column, "name") for column in _items(gold, "columns")]
            keys: list[Any] = []
            for key in _items(gold, "unique_columns"):
                if not isinstance(key, Ref):
                    keys.append(key)
                elif key.id in at:
                    keys.append(names[at[key.id]])
            rows = [_cells(row, at) for row in _items(gold, "rows")]
            gold = {**gold, "rows": rows, "unique_columns": keys}
        return {**tree, "gold": gold}

    def _with_stages(self, gold: dict[str, Any], stages: Sequence[Any], at: int) -> dict[str, Any]:
        refs: list[Ref] = []
        for number, (known, stage) in enumerate(zip(self.stage_ids[at], stages, strict=True), 1):
            title = part(stage, "title")
            refs.append(Ref(known, f"{number} · {title}" if title else str(number)))
        triples: list[Any] = []
        for triple in _items(gold, "triples"):
            number = mapping(triple).get("stage")
            if type(number) is int and 1 <= number <= len(refs):
                triples.append({**triple, "stage": refs[number - 1]})
            else:
                triples.append(triple)
        return {**gold, "triples": triples}

    def _with_columns(self, gold: dict[str, Any], at: int) -> dict[str, Any]:
        ids = self.column_ids[at]
        keys = [f"c{known}" for known in ids]
        rows: list[Any] = []
        for row in _items(gold, "rows"):
            if isinstance(row, list):
                cells = cast(list[Any], row)
                more = [f"x{index}" for index in range(len(keys), len(cells))]
                # A row that is too short has nothing there, which is less than an empty cell.
                filled = [*cells, *[None] * (len(keys) - len(cells))]
                rows.append(dict(zip([*keys, *more], filled, strict=True)))
            else:
                rows.append(row)
        names = [part(column, "name") for column in _items(gold, "columns")]
        unique: list[Any] = [
            Ref(ids[names.index(name)], name) if name in names else name
            for name in _items(gold, "unique_columns")
        ]
        return {**gold, "rows": rows, "unique_columns": unique}

    def _table(self, columns: Sequence[Sequence[Any]]) -> Record | None:
        if self.family != "table":
            return None
        names: dict[str, str] = {}
        for listed, known in zip(columns, self.column_ids, strict=True):
            for column, number in zip(listed, known, strict=True):
                names[f"c{number}"] = part(column, "name")
        keys = _items(self.trees[0]["gold"], "unique_columns")
        return table_shape(names, tuple(f"c{key.id}" for key in keys if isinstance(key, Ref)))

    def _position(self, cell: str, version: int) -> int:
        number, ids = int(cell[1:]), self.column_ids[version]
        if cell[0] == "x":
            return number
        return ids.index(number) if number in ids else 0


def _items(owner: Any, name: str) -> list[Any]:
    value = mapping(owner).get(name)
    return cast(list[Any], value) if isinstance(value, list) else []


def _with_cells(tree: Data, columns: Sequence[Any]) -> list[Any]:
    """Columns with the beginning of what stands in them."""
    rows: list[list[Any]] = [
        cast(list[Any], row) for row in _items(tree.get("gold"), "rows") if isinstance(row, list)
    ]
    found: list[Any] = []
    for at, column in enumerate(columns):
        cells = "\n".join(text_of(row[at]) for row in rows[:_ROWS_LOOKED_AT] if at < len(row))
        fields = mapping(column)
        found.append({**fields, "cells": cells.strip()} if fields else column)
    return found


def _staged(triple: Any, numbers: Mapping[int, int]) -> Any:
    fields = mapping(triple)
    if isinstance(stage := fields.get("stage"), Ref):
        return {**fields, "stage": numbers.get(stage.id)}
    return triple


def _cells(row: Any, at: Mapping[int, int]) -> Any:
    """A row in column order; cells that no column holds any more are left out."""
    if not isinstance(row, dict):
        return row
    cells: dict[int, Any] = {}
    for key, value in cast(dict[str, Any], row).items():
        number = int(key[1:])
        if key[0] == "x":
            cells[number] = value
        elif number in at:
            cells[at[number]] = value
    width = max((len(at) - 1, *cells)) + 1
    row = [cells.get(index, "") for index in range(width)]
    while row and row[-1] is None:
        row.pop()
    return ["" if cell is None else cell for cell in row]
