"""Edits of a table's rows and columns, each one step for undo."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.blank import blank_column
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.table_types import ColumnType, plain_day, type_of
from cuecard.annotate.authoring.trees import Path
from cuecard.core.i18n import _
from cuecard.core.scoring.numerals import read_number
from cuecard.core.text import normalise

_PARTS = re.compile(r"(\d+)")


def cell_text(edit: TaskEdit, row: int, column: int) -> str:
    """A cell's text; an empty one where the row is too short."""
    value = edit.get((*ops.ROWS, row, column), "")
    return "" if value is None else str(value)


def insert_row(edit: TaskEdit, row: int) -> None:
    """Put an empty row before `row`."""
    edit.insert(ops.ROWS, row, [""] * len(edit.items(ops.COLUMNS)))


def delete_items(edit: TaskEdit, path: Path, chosen: Collection[int]) -> None:
    """Take several items out of the list at `path`."""
    items = edit.items(path)
    kept = [item for index, item in enumerate(items) if index not in chosen]
    if len(kept) < len(items):
        with edit.together((*path, min(*chosen, max(len(kept) - 1, 0)))):
            edit.set(path, kept)


def move_items(edit: TaskEdit, path: Path, chosen: Collection[int], by: int) -> frozenset[int]:
    """Move several items one place up (-1) or down (1) past their neighbours. Returns where they
    are now; they stay where they are when one of them is at the end already.
    """
    items = list(edit.items(path))
    order = sorted((i for i in chosen if 0 <= i < len(items)), reverse=by > 0)
    if not order or not 0 <= order[0] + by < len(items):
        return frozenset(order)
    for index in order:
        items.insert(index + by, items.pop(index))
    with edit.together((*path, order[0] + by)):
        edit.set(path, items)
    return frozenset(index + by for index in order)


def copy_items(edit: TaskEdit, path: Path, chosen: Collection[int]) -> frozenset[int]:
    """Put a copy of several items below the last of them; returns where the copies are."""
    items = list(edit.items(path))
    order = sorted(i for i in chosen if 0 <= i < len(items))
    if not order:
        return frozenset()
    below = order[-1] + 1
    with edit.together((*path, below)):
        edit.set(path, [*items[:below], *(items[i] for i in order), *items[below:]])
    return frozenset(range(below, below + len(order)))


def sort_rows(edit: TaskEdit, column: int, *, down: bool = False) -> None:
    """Order the rows by a column, numbers and dates by value, empty cells last. Equal rows keep
    their order.
    """
    kind = type_of(edit.items(ops.COLUMNS)[column])
    rows = edit.items(ops.ROWS)
    texts = [str(row[column]).strip() if column < len(row) else "" for row in rows]
    filled = [(sort_key(kind, text), index) for index, text in enumerate(texts) if text]
    filled.sort(key=lambda item: item[0], reverse=down)
    order = [*(index for _key, index in filled), *(i for i, text in enumerate(texts) if not text)]
    with edit.together((*ops.ROWS, 0, column)):
        edit.set(ops.ROWS, [rows[index] for index in order])


def sort_key(kind: ColumnType, text: str) -> tuple[Any, ...]:
    """Orders texts of a type among themselves; what does not fit the type comes after what does."""
    if kind == "number" and (number := read_number(text)) is not None:
        return (0, number, ())
    if kind == "date" and (day := plain_day(text)) is not None:
        return (0, float(day.toordinal()), ())
    parts = _PARTS.split(normalise(text))
    # Digits among letters count as numbers: Apollo 9 comes before Apollo 11.
    natural = tuple((0, int(p), "") if p.isdecimal() and len(p) < 20 else (1, 0, p) for p in parts)
    return (1, 0.0, natural)


def add_column(edit: TaskEdit, index: int) -> None:
    """Put a new column with a name of its own before `index`."""
    name = new_name(ops.column_names(edit))
    ops.insert_item(edit, ops.COLUMNS, index, {**blank_column(), "name": name})


def new_name(taken: Collection[str]) -> str:
    """A name that no column has."""
    number = len(taken) + 1
    while (name := _("Column {n}").format(n=number)) in taken:
        number += 1
    return name
