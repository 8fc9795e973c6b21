"""Edits of a table's rows and columns, and pasting rows into it, each one step for undo."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.paste import PastedTable
from cuecard.annotate.authoring.paste_formats import fold
from cuecard.annotate.authoring.table_columns import ColumnType, plain_day, settings_for, type_of
from cuecard.annotate.authoring.task_data import Path, blank_column
from cuecard.core.i18n import _
from cuecard.core.text import normalise, read_number

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


PasteMode = Literal["rows", "cells"]


@dataclass(frozen=True)
class TablePaste:
    """What pasting would do. `targets`: for each pasted column the column it goes to, None if it is left out; `named`:
    unnamed columns that get a name; `new`: columns added at the end; `start`: the first row that is written; `added`:
    how many of the rows are new.
    """

    pasted: PastedTable
    mode: PasteMode
    start: int
    targets: tuple[int | None, ...]
    named: dict[int, str]
    new: tuple[str, ...]
    left_out: tuple[str, ...]
    added: int
    changed: int
    replaces_blank: bool


def plan_paste(
    edit: TaskEdit,
    pasted: PastedTable,
    mode: PasteMode,
    row: int,
    column: int,
    *,
    add_columns: bool,
) -> TablePaste:
    """`rows`: new rows below `row`; `cells`: over the cells from (`row`, `column`) on, with rows added
    at the end as needed. With a header its names say which column is which; without one, order.
    """
    names = ops.column_names(edit)
    targets, named, unknown = _targets(names, pasted, column if mode == "cells" else 0)
    new: list[str] = []
    if add_columns:
        for index, name in unknown:
            targets[index] = len(names) + len(new)
            new.append(name or new_name([*names, *new]))
    left_out = () if add_columns else tuple(name for _index, name in unknown)
    rows = edit.items(ops.ROWS)
    blank = not any(str(cell).strip() for old in rows for cell in old)
    start = 0 if blank else (min(row + 1, len(rows)) if mode == "rows" else min(row, len(rows)))
    added = len(pasted.rows)
    changed = 0
    if mode == "cells" and not blank:
        added = max(start + len(pasted.rows) - len(rows), 0)
        changed = sum(
            _merged(rows[start + i], texts, targets, len(names) + len(new))
            != _filled(rows[start + i], len(names) + len(new))
            for i, texts in enumerate(pasted.rows[: len(pasted.rows) - added])
        )
    return TablePaste(
        pasted, mode, start, tuple(targets), named, tuple(new), left_out, added, changed, blank
    )


def apply_paste(edit: TaskEdit, plan: TablePaste) -> None:
    """Do what was planned for the edit as it is, in one step."""
    with edit.together((*ops.ROWS, plan.start)):
        for index, name in plan.named.items():
            ops.rename_column(edit, index, name)
        for name in plan.new:
            index = plan.targets.index(len(edit.items(ops.COLUMNS)))
            cells = [texts[index] for texts in plan.pasted.rows]
            column: dict[str, Any] = {**blank_column(), "name": name, **settings_for(cells)}
            ops.insert_item(edit, ops.COLUMNS, len(edit.items(ops.COLUMNS)), column)
        width = len(edit.items(ops.COLUMNS))
        rows = [] if plan.replaces_blank else edit.items(ops.ROWS)
        over = (
            0 if plan.mode == "rows" or plan.replaces_blank else len(plan.pasted.rows) - plan.added
        )
        old: list[list[Any]] = [
            *rows[plan.start : plan.start + over],
            *([] for _ in range(plan.added)),
        ]
        written = [
            _merged(row, texts, plan.targets, width)
            for row, texts in zip(old, plan.pasted.rows, strict=True)
        ]
        edit.set(ops.ROWS, [*rows[: plan.start], *written, *rows[plan.start + over :]])


def _targets(
    names: list[str], pasted: PastedTable, first: int
) -> tuple[list[int | None], dict[int, str], list[tuple[int, str]]]:
    targets: list[int | None] = [None] * pasted.width
    unknown: list[tuple[int, str]] = []
    named: dict[int, str] = {}
    if pasted.header is None:
        for index in range(pasted.width):
            if first + index < len(names):
                targets[index] = first + index
            else:
                unknown.append((index, ""))
        return targets, named, unknown
    free = {fold(name): index for index, name in reversed(list(enumerate(names))) if name.strip()}
    nameless = [index for index, name in enumerate(names) if not name.strip()]
    for index, name in enumerate(pasted.header):
        if (place := free.pop(fold(name), None)) is not None:
            targets[index] = place
    for index, name in enumerate(pasted.header):
        if targets[index] is not None:
            continue
        taken = [*names, *named.values(), *(other for _index, other in unknown)]
        unique = name if name.strip() and name not in taken else ""
        if nameless and unique:
            targets[index] = nameless.pop(0)
            named[int(targets[index] or 0)] = unique
        else:
            unknown.append((index, unique))
    return targets, named, unknown


def _filled(row: list[Any], width: int) -> list[Any]:
    return [*row, *[""] * (width - len(row))]


def _merged(
    row: list[Any],
    texts: tuple[str, ...],
    targets: tuple[int | None, ...] | list[int | None],
    width: int,
) -> list[Any]:
    cells = _filled(row, width)
    for target, text in zip(targets, texts, strict=True):
        if target is not None:
            cells[target] = text
    return cells
