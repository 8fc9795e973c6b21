"""Edits that touch more than one place of a task, find and replace, and silencing a finding of the linter, each one step for
undo.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuecard.annotate.authoring.changes import place_in_words
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.task_data import Path, get, leaves, parse_place
from cuecard.annotate.families.registry import ANNOTATE
from cuecard.annotate.lint.codes import Finding, may_silence
from cuecard.core.i18n import plural
from cuecard.core.text import words_pattern
from cuecard.core.validation import format_place

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


_FIXED = {"id", "family", "language", "difficulty", "kind", "type", "metric", "preprocess", "unique_columns", "foreign", "code", "about"}  # fmt: skip
"""Fields whose values are identities or one of a few; with all that is in them."""


@dataclass(frozen=True)
class TextMatch:
    """A text at `path` in which words stand, at `marks`; `put` would stand there instead. An entity of a graph is one hit,
    wherever it is named: `paths` are all its places, of which `path` is the first.
    """

    path: Path
    before: str
    marks: tuple[tuple[int, int], ...]
    put: str
    paths: tuple[Path, ...] = ()

    @property
    def address(self) -> bool:
        """Whether it is a web address, which other words may lead astray."""
        return self.before.startswith(("http://", "https://"))

    @property
    def after(self) -> str:
        return "".join(text for text, _marked in self.pieces(after=True))

    def pieces(self, *, after: bool) -> Iterator[tuple[str, bool]]:
        """The text before or `after`, in pieces; whether each is of what is replaced."""
        at = 0
        for start, end in self.marks:
            yield self.before[at:start], False
            yield self.put if after else self.before[start:end], True
            at = end
        yield self.before[at:], False

    def place(self, data: Mapping[str, Any]) -> str:
        """What the place is called."""
        if len(self.paths) > 1:
            return plural("an entity, {n} place", "an entity, {n} places", len(self.paths))
        return place_in_words(format_place(self.path), data)


def find(
    data: Mapping[str, Any], words: str, put: str, *, case: bool = False, whole: bool = False
) -> list[TextMatch]:
    """Every text that would be another one, in the order of the data; see `words_pattern`. Not in identities: ids, kinds,
    and names by which triples refer to an entity that is shown by another one.
    """
    if not words:
        return []
    pattern, hits = words_pattern(words, case=case, whole=whole), list[TextMatch]()
    entities: dict[str, list[Path]] = {}
    for path, text in leaves(data):
        marks = tuple(match.span() for match in pattern.finditer(text))
        if not marks:
            continue
        if _names_entity(path):
            entities.setdefault(text, []).append(path)
        elif not _FIXED.intersection(path):
            hits.append(TextMatch(path, text, marks, put))
    for name in entities.keys() - _shown_otherwise(data):
        paths = tuple(entities[name])
        marks = tuple(match.span() for match in pattern.finditer(name))
        hits.append(TextMatch(paths[0], name, marks, put, paths))
    order = {path: at for at, (path, _text) in enumerate(leaves(data))}
    return sorted((hit for hit in hits if hit.after != hit.before), key=lambda hit: order[hit.path])


def replace(edit: TaskEdit, hits: Sequence[TextMatch]) -> int:
    """Replace in these texts, as one step for undo; gives how many there were. What is another text by now stays."""
    done = 0
    with edit.together(hits[0].path if len(hits) == 1 else ()):
        for hit in hits:
            paths = [path for path in hit.paths or (hit.path,) if edit.get(path) == hit.before]
            for path in paths:
                if path[:2] == COLUMNS and path[3:] == ("name",):
                    rename_column(edit, int(path[2]), hit.after)
                else:
                    edit.set(path, hit.after)
            done += bool(paths)
    return done


def _names_entity(path: Path) -> bool:
    return (path[:2] == TRIPLES and path[3:] in (("head",), ("tail",))) or (
        path[:2] == NODES and path[3:] == ("id",)
    )


def _shown_otherwise(data: Mapping[str, Any]) -> set[str]:
    """Ids of nodes that have a name besides: these are no words of anybody."""
    try:
        nodes = get(data, NODES)
    except LookupError:
        return set()
    return {str(node["id"]) for node in nodes if str(node.get("name") or "").strip() not in ("", node["id"])}  # fmt: skip
