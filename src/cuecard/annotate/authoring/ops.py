"""Edits that touch more than one place of a task, and silencing a finding of the linter, each one step for undo."""

from collections.abc import Callable
from typing import Any

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.task_data import Path, parse_place
from cuecard.annotate.families.registry import ANNOTATE
from cuecard.annotate.lint.codes import Finding, may_silence

PERSONA: Path = ("persona",)
STAGES: Path = ("persona", "stages")
SOURCES: Path = ("sources",)
NODES: Path = ("gold", "nodes")
TRIPLES: Path = ("gold", "triples")
COLUMNS: Path = ("gold", "columns")
KEYS: Path = ("gold", "unique_columns")
ROWS: Path = ("gold", "rows")
STEPS: Path = ("gold", "steps")
FACTS: Path = ("gold", "facts")


def insert_item(edit: TaskEdit, path: Path, index: int, value: Any) -> None:
    """Insert `value` before `index`. Triples keep their stages; for a new column, every row gets a cell."""
    with edit.together((*path, index)):
        if path == STAGES:
            _renumber(edit, lambda stage: stage + 1 if stage > index else stage)
        elif path == COLUMNS:
            _each_row(edit, lambda row: [*row[:index], "", *row[index:]])
        edit.insert(path, index, value)


def delete_item(edit: TaskEdit, path: Path, index: int) -> None:
    """Delete an item. Triples of a deleted stage have no stage afterwards; a column's cells are deleted with it."""
    with edit.together((*path, index)):
        if path == STAGES:
            gone = index + 1
            _renumber(edit, lambda s: None if s == gone else s - 1 if s > gone else s)
        elif path == COLUMNS:
            write_key(edit, index, False)
            _each_row(edit, lambda row: [*row[:index], *row[index + 1 :]])
        edit.delete((*path, index))


def move_item(edit: TaskEdit, path: Path, index: int, to: int) -> None:
    """Move an item: triples follow their stage, cells their column."""
    with edit.together((*path, to)):
        if path == STAGES:
            order = list(range(1, len(edit.items(path)) + 1))
            order.insert(to, order.pop(index))
            places = {old: new for new, old in enumerate(order, start=1)}
            _renumber(edit, lambda stage: places.get(stage, stage))
        elif path == COLUMNS:

            def moved(row: list[Any]) -> list[Any]:
                cells = list(row)
                cells.insert(to, cells.pop(index))
                return cells

            _each_row(edit, moved)
        edit.move(path, index, to)


def add_persona(edit: TaskEdit, persona: dict[str, Any]) -> None:
    edit.set(PERSONA, persona)


def remove_persona(edit: TaskEdit) -> None:
    """Take the persona with its stages away; triples have no stage afterwards."""
    with edit.together(PERSONA):
        _renumber(edit, lambda stage: None)
        edit.set(PERSONA, None)


def column_names(edit: TaskEdit) -> list[str]:
    """The columns' names, in order."""
    return [str(column.get("name", "")) for column in edit.items(COLUMNS)]


def write_cell(edit: TaskEdit, row: int, column: int, text: str) -> None:
    """Type into a cell; a row that is too short (from an import) is filled up first."""
    here = (*ROWS, row, column)
    cells = edit.items((*ROWS, row))
    if column < len(cells):
        edit.set(here, text, typing=True)
        return
    with edit.together(here, typing=True):
        edit.set((*ROWS, row), [*cells, *[""] * (column - len(cells)), text])


def is_key(edit: TaskEdit, column: int) -> bool:
    """Whether rows are joined on this column. Of several columns of one name the first ones are."""
    names = column_names(edit)
    if column >= len(names):
        return False
    earlier = names[:column].count(names[column])
    return edit.items(KEYS).count(names[column]) > earlier


def write_key(edit: TaskEdit, column: int, key: bool) -> None:
    """Make a column a key column, or not."""
    flags = [is_key(edit, index) for index in range(len(column_names(edit)))]
    flags[column] = key
    _write_keys(edit, flags)


def rename_column(edit: TaskEdit, column: int, name: str) -> None:
    """Rename a column; a key column stays one."""
    with edit.together((*COLUMNS, column, "name"), typing=True):
        flags = [is_key(edit, index) for index in range(len(column_names(edit)))]
        edit.set((*COLUMNS, column, "name"), name)
        _write_keys(edit, flags)


def write_ambiguity(edit: TaskEdit, step: Path, kind: str | None) -> None:
    """Give a step an ambiguity of this type, change its type, or take it away with all it says."""
    here = (*step, "ambiguity")
    if kind is None:
        edit.set(here, None)
    elif isinstance(edit.get(here), dict):
        edit.set((*here, "type"), kind)
    else:
        from cuecard.annotate.authoring.task_data import blank_ambiguity

        edit.set(here, blank_ambiguity(kind))


def _write_keys(edit: TaskEdit, flags: list[bool]) -> None:
    """In column order, and what names no column stays where it can be seen and mended."""
    names = column_names(edit)
    keys = [name for name, key in zip(names, flags, strict=True) if key]
    edit.set(KEYS, keys)


def staged(edit: TaskEdit) -> Path | None:
    """The list of gold whose items say which stage they answer, such as triples; None where none do."""
    family = ANNOTATE.get(edit.family)
    return ("gold", family.staged) if family and family.staged else None


def _renumber(edit: TaskEdit, new: Callable[[int], int | None]) -> None:
    if (path := staged(edit)) is None:
        return
    items = [
        {**item, "stage": new(item["stage"])} if isinstance(item.get("stage"), int) else item
        for item in edit.items(path)
    ]
    edit.set(path, items)


def _each_row(edit: TaskEdit, change: Callable[[list[Any]], list[Any]]) -> None:
    edit.set(ROWS, [change(list(row)) for row in edit.items(ROWS)])


SILENCED: Path = ("silenced",)


def can_silence(problem: Finding) -> bool:
    """Whether the author may silence this problem: not a structural error, and not invalid data."""
    return not problem.silenced and may_silence(problem.code, problem.severity)


def can_unsilence(problem: Finding) -> bool:
    """Whether there is a silence to take back: over the problem, or without one."""
    return bool(problem.silenced) or problem.place.startswith("silenced[")


def silence(edit: TaskEdit, problem: Finding, reason: str) -> None:
    """Silence a problem, with a reason. Raises `ValueError` for one that may not be silenced, or without a reason."""
    if not can_silence(problem) or not reason.strip():
        raise ValueError("this cannot be silenced")
    entry = {"code": problem.code, "about": problem.about, "reason": reason.strip()}
    # Drafts from before there were silences lack the list.
    edit.set(SILENCED, [*_without(edit, problem.code, problem.about), entry])


def unsilence(edit: TaskEdit, problem: Finding) -> None:
    """Remove the silence from a problem, or the obsolete silence that a problem is about (L044)."""
    path = parse_place(problem.place)
    if path[:1] == SILENCED:
        if edit.get(path) is not None:
            edit.delete(path)
        return
    edit.set(SILENCED, _without(edit, problem.code, problem.about))


def _without(edit: TaskEdit, code: str, about: str) -> list[Any]:
    return [
        entry
        for entry in edit.items(SILENCED)
        if (entry.get("code"), entry.get("about", "")) != (code, about)
    ]
