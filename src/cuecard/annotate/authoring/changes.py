"""What differs between versions of a task, field by field and item by item, and what each changed place is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from cuecard.annotate.authoring.diff import MatchRule, match, match_by_key, moved
from cuecard.annotate.authoring.schema import (
    COLUMNS,
    STAGES,
    Items,
    Leaf,
    Record,
    Ref,
    Shape,
    described,
    fields_of,
    is_blank,
    label_of,
    mapping,
    part,
    same,
    table_shape,
    task_shape,
    text_of,
)
from cuecard.annotate.authoring.task_data import Path, parse_place
from cuecard.core.i18n import _, ngettext
from cuecard.core.validation import format_place

Data = Mapping[str, Any]
_ROWS_LOOKED_AT = 50


def identities(lists: Sequence[Sequence[Any]], match_rule: MatchRule) -> list[list[int]]:
    """For each list, a number for each of its items; equal numbers mean the same item in several lists. Items of the
    first list have their index there, items that it lacks have larger numbers.
    """
    base = lists[0]
    found = [list(range(len(base)))]
    free = len(base)
    for items in lists[1:]:
        ids = [-1] * len(items)
        if items is base:
            ids = list(found[0])
        else:
            for i, j in match(base, items, match_rule).items():
                ids[j] = i
        found.append(ids)
    if len(lists) == 3:
        # What both added on their own is one thing only if it has the same name.
        ours = [j for j, known in enumerate(found[1]) if known < 0]
        theirs = [j for j, known in enumerate(found[2]) if known < 0]
        pairs = match_by_key([lists[1][j] for j in ours], [lists[2][j] for j in theirs], match_rule)
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
    """Two or three versions of a task prepared for comparison; the first is the common ancestor. `trees`: their data,
    in which references to stages and columns are `Ref`s instead of numbers, so that renumbering is no change; `shape`
    describes all of them.
    """

    def __init__(self, *data: Data) -> None:
        families = {part(tree.get("gold"), "family") for tree in data}
        self.family = families.pop() if len(families) == 1 else ""
        stages = [_items(tree.get("persona"), "stages") for tree in data]
        self.stage_ids = identities(stages, STAGES.match_rule)
        columns = [_items(tree.get("gold"), "columns") for tree in data]
        filled = [_with_cells(tree, listed) for tree, listed in zip(data, columns, strict=True)]
        self.column_ids = identities(filled, COLUMNS.match_rule)
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
        """The ids of stages and columns that triples and cells of this version newly refer to."""
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
        """Each new item of a list in the gold with the old item it comes from, None for one that was added."""
        before, after = _items(old, name), _items(new, name)
        shape = cast(Items, cast(Record, self.shape.fields["gold"]).fields[name])
        ids = identities([before, after], shape.match_rule)[1]
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
        return identities(lists, shape.match_rule)

    def place(self, path: Path, version: int) -> Path:
        """`path`, with identities of columns, as a path in that version's own data, with positions of cells."""
        if self.family == "table" and path[:2] == ("gold", "rows") and len(path) == 4:
            return (*path[:3], self._position(str(path[3]), version))
        return path

    def unlinked(self, tree: dict[str, Any], stages: Sequence[int], columns: Sequence[int]) -> Data:
        """A tree as plain data: `Ref`s become numbers. `stages` and `columns`: the identities in its order."""
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
    """Columns with the first of their cells added, by which a renamed column is recognised."""
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


ChangeKind = Literal["added", "removed", "changed", "moved"]
MOST_MOVES = 12
"""If more items than this moved within a list, that is reported as one change."""


@dataclass(frozen=True)
class Change:
    """One difference between two versions. `place`: the path in the new data, of a removed thing in the old data;
    `label` names the place for people, `about` describes the item that it is part of. For a moved item, `before` and
    `after` are its old and new number.
    """

    place: str
    label: str
    kind: ChangeKind
    before: str
    after: str
    about: str = ""


def changes_between(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """Every difference, in the order of the new data; none when both say the same."""
    if old is new:
        return []
    versions = Versions(old, new)
    before, after = versions.trees
    return list(_Walk(versions).between(versions.shape, before, after, _Here()))


@dataclass(frozen=True)
class _Here:
    """The current place of the comparison: its paths in the old and the new data, and their label."""

    old: Path = ()
    new: Path = ()
    label: str = ""
    about: str = ""

    def below(self, part: str | int, label: str = "") -> _Here:
        return _Here((*self.old, part), (*self.new, part), joined(self.label, label), self.about)


def joined(*labels: str) -> str:
    """`Stage 3 · Line`."""
    return " · ".join(filter(None, labels))


@dataclass(frozen=True)
class _Walk:
    versions: Versions

    def between(self, shape: Shape, old: Any, new: Any, here: _Here) -> Iterator[Change]:
        if same(old, new):
            return
        if isinstance(shape, Record) and isinstance(old, dict) and isinstance(new, dict):
            fields = fields_of(shape, old, new)
            for name, inner in fields.items():
                label = label_of(inner) if isinstance(inner, Leaf | Record) else ""
                below = here.below(name, label)
                yield from self.between(inner, old.get(name), new.get(name), below)
        elif isinstance(shape, Items) and _is_list(old) and _is_list(new):
            left, right = cast(list[Any], old or []), cast(list[Any], new or [])
            yield from self._items(shape, left, right, here)
        else:
            yield self._change(shape, old, new, here)

    def _items(self, shape: Items, old: list[Any], new: list[Any], here: _Here) -> Iterator[Change]:
        olds, news = self.versions.ids(here.new, shape, [old, new])
        now = {known: index for index, known in enumerate(news)}
        gone = [index for index, known in enumerate(olds) if known not in now]
        shifted = moved([known for known in news if known < len(old)])
        told = shifted if len(shifted) <= MOST_MOVES else set[int]()
        waiting = 0
        for index, known in enumerate(news):
            if known < len(old) and known not in shifted:
                while waiting < len(gone) and gone[waiting] < known:
                    yield self._item(shape, old, None, gone[waiting], here)
                    waiting += 1
            if known >= len(old):
                yield self._item(shape, None, new, index, here)
                continue
            if known in told:
                yield self._moved(shape, new[index], known, index, here)
            label = numbered(shape, here.label, index)
            inner = _Here(
                (*here.old, known), (*here.new, index), label, here.about or shape.title(new[index])
            )
            yield from self.between(shape.item, old[known], new[index], inner)
        for index in gone[waiting:]:
            yield self._item(shape, old, None, index, here)
        if len(shifted) > MOST_MOVES:
            text = ngettext(
                "{n} item stands elsewhere", "{n} items stand elsewhere", len(shifted)
            ).format(n=len(shifted))
            label = joined(here.label, label_of(shape))
            yield Change(format_place(here.new), label, "moved", "", text, here.about)

    def _item(
        self, shape: Items, old: list[Any] | None, new: list[Any] | None, index: int, here: _Here
    ) -> Change:
        """An item that only one of the lists has."""
        item = (old or new or [])[index]
        label = numbered(shape, here.label, index)
        place = format_place((*(here.old if new is None else here.new), index))
        text = described_item(shape, item)
        if new is None:
            return Change(place, label, "removed", text, "", here.about)
        return Change(place, label, "added", "", text, here.about)

    def _moved(self, shape: Items, item: Any, old: int, new: int, here: _Here) -> Change:
        label = numbered(shape, here.label, new)
        place = format_place((*here.new, new))
        about = here.about or shape.title(item)
        return Change(place, label, "moved", str(old + 1), str(new + 1), about)

    def _change(self, shape: Shape, old: Any, new: Any, here: _Here) -> Change:
        kind: ChangeKind = "added" if is_blank(old) else "removed" if is_blank(new) else "changed"
        place = self.versions.place(here.new, 1)
        label = here.label or label_of(shape)
        before, after = described(shape, old), described(shape, new)
        return Change(format_place(place), label, kind, before, after, here.about)


def described_item(shape: Items, item: Any) -> str:
    """All fields of an item of a list as text, beginning with its title."""
    title, text = shape.title(item), described(shape.item, item)
    if isinstance(shape.item, Leaf) or not title:
        return text or title
    spoken = set(title.split(" · "))
    more = [line for line in text.split("\n") if line.partition(": ")[2] not in spoken]
    return "\n".join([title, *more])


def numbered(shape: Items, owner: str, index: int) -> str:
    """`Triple 12`, or `Triple 12 · Source 2`."""
    one = _(shape.one).format(n=index + 1)
    return one if shape.apart else joined(owner, one)


def _is_list(value: Any) -> bool:
    return value is None or isinstance(value, list)


def place_in_words(place: str, data: Mapping[str, Any]) -> str:
    """The label of a place in a task's data: `Stage 3 · Line`. Unknown parts are left out; "" for the whole task."""
    path = parse_place(place)
    gold = data.get("gold")
    family = str(cast(dict[str, Any], gold).get("family", "")) if isinstance(gold, dict) else ""
    table = table_shape({}, ()) if family == "table" else None
    shape: Shape | None = task_shape(family, table)
    label = ""
    for at, step in enumerate(path):
        if isinstance(shape, Items) and isinstance(step, int):
            label, shape = numbered(shape, label, step), shape.item
        elif isinstance(shape, Record) and isinstance(step, str) and step in shape.fields:
            shape = shape.fields[step]
            last = at == len(path) - 1
            if last or not isinstance(shape, Items):
                label = joined(label, label_of(shape)) if label != _("Persona") else label_of(shape)
        elif path[:2] == ("gold", "rows") and isinstance(step, int):
            return joined(label, _column_name(path, data) or str(step + 1))
        else:
            break
    return label


def _column_name(path: Path, data: Mapping[str, Any]) -> str:
    try:
        return str(data["gold"]["columns"][path[3]]["name"])
    except (LookupError, TypeError):
        return ""
