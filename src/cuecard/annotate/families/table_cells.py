"""Fields of tables as authors call them, and cells that versions of a table have in common, wherever their columns stand."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from cuecard.annotate.authoring import schema
from cuecard.annotate.authoring.diff import FuzzyKey, MatchRule
from cuecard.annotate.authoring.schema import Data, Links, identities
from cuecard.core.i18n import N_
from cuecard.core.validation import Place

_COLUMNS = schema.Items(
    N_("Columns"),
    N_("Column {n}"),
    schema.Record(
        N_("Column"),
        {
            "name": schema.Leaf(N_("Name")),
            "preprocess": schema.Leaf(N_("Preprocess")),
            "metric": schema.Leaf(N_("Metric")),
            "criterion": schema.Leaf(N_("Criterion"), schema.PARAGRAPH),
        },
    ),
    # `cells` is what stands below a column: one that got quite another name is known by it.
    MatchRule(
        keys=(
            schema.known_by("name"),
            schema.known_by("name", plain=True),
            schema.known_by("cells"),
        ),
        loose=(FuzzyKey(lambda _column: True, schema.words("cells"), 70),),
        text=schema.words("name"),
        least=60,
    ),
    schema.words("name"),
)
_CELL = N_("Cell")
_ROWS = N_("Rows")
_ROW = N_("Row {n}")


def fields_of_tables(
    columns: Mapping[str, str], keys: tuple[str, ...]
) -> Mapping[str, schema.Shape]:
    """The fields of a table whose rows are mappings. `columns`: what each field of a row is called;
    `keys`: the fields by which rows are known.
    """
    fields: dict[str, schema.Shape] = {
        name: schema.Leaf(label or _CELL, raw=bool(label)) for name, label in columns.items()
    }

    def key_of(row: Any) -> tuple[str, ...] | None:
        cells = tuple(schema.part(row, key) for key in keys or fields)
        return cells if any(cells) else None

    def title(row: Any) -> str:
        return " | ".join(key_of(row) or ())

    def text(row: Any) -> str:
        return " | ".join(cell for key in fields if (cell := schema.part(row, key)))

    rows = schema.Items(
        _ROWS, _ROW, schema.Record("", fields), MatchRule((key_of,), text=text, least=60), title
    )
    return {"columns": _COLUMNS, "unique_columns": schema.Leaf(N_("Key columns")), "rows": rows}


_ROWS_LOOKED_AT = 50


class CellLinks(Links):
    """Of tables: cells by their column, and key columns, in place of positions and names."""

    def __init__(
        self,
        golds: Sequence[Data],
        fields: Mapping[str, schema.Shape],
        staged: str,
        stages: Sequence[Sequence[schema.Ref]],
    ) -> None:
        super().__init__(golds, fields, staged, stages)
        self._columns = identities([_with_cells(gold) for gold in golds], _COLUMNS.match_rule)
        self.ids = {("gold", "columns"): self._columns}
        names: dict[str, str] = {}
        for gold, known in zip(golds, self._columns, strict=True):
            for column, number in zip(schema.listed(gold, "columns"), known, strict=True):
                names[f"c{number}"] = schema.part(column, "name")
        keys = schema.listed(self.linked(0), "unique_columns")
        self.fields = fields_of_tables(
            names, tuple(f"c{key.id}" for key in keys if isinstance(key, schema.Ref))
        )

    def linked(self, at: int) -> Data:
        gold, ids = self._golds[at], self._columns[at]
        keys = [f"c{known}" for known in ids]
        rows: list[Any] = []
        for row in schema.listed(gold, "rows"):
            if isinstance(row, list):
                cells = cast(list[Any], row)
                more = [f"x{index}" for index in range(len(keys), len(cells))]
                # A row that is too short has nothing there, which is less than an empty cell.
                filled = [*cells, *[None] * (len(keys) - len(cells))]
                rows.append(dict(zip([*keys, *more], filled, strict=True)))
            else:
                rows.append(row)
        names = [schema.part(column, "name") for column in schema.listed(gold, "columns")]
        unique: list[Any] = [
            schema.Ref(ids[names.index(name)], name) if name in names else name
            for name in schema.listed(gold, "unique_columns")
        ]
        return {**gold, "rows": rows, "unique_columns": unique}

    def unlinked(self, gold: Data, stages: Sequence[int], columns: Sequence[int]) -> Data:
        at = {known: index for index, known in enumerate(columns)}
        names = [schema.part(column, "name") for column in schema.listed(gold, "columns")]
        keys: list[Any] = []
        for key in schema.listed(gold, "unique_columns"):
            if not isinstance(key, schema.Ref):
                keys.append(key)
            elif key.id in at:
                keys.append(names[at[key.id]])
        rows = [_cells(row, at) for row in schema.listed(gold, "rows")]
        return {**gold, "rows": rows, "unique_columns": keys}

    def used(self, old: Data, new: Data) -> tuple[set[int], set[int]]:
        columns = set[int]()
        for before, after in self.pairs(old, new, "rows"):
            for name, cell in schema.mapping(after).items():
                changed = not schema.same(cell, schema.mapping(before).get(name))
                if name[0] == "c" and changed and not schema.is_blank(cell):
                    columns.add(int(name[1:]))
        return set(), columns

    def place(self, path: Place, version: int) -> Place:
        if path[:2] != ("gold", "rows") or len(path) != 4:
            return path
        name, ids = str(path[3]), self._columns[version]
        number = int(name[1:])
        if name[0] == "x":
            return (*path[:3], number)
        return (*path[:3], ids.index(number) if number in ids else 0)

    def cell(self, path: Place) -> int | None:
        if path[:2] != ("gold", "rows") or len(path) != 4:
            return None
        column, now = self._columns[0][int(path[3])], self._columns[-1]
        if column not in now:
            raise KeyError(column)
        return now.index(column)


def _with_cells(gold: Data) -> list[Any]:
    """Columns with the first of their cells added, by which a renamed column is recognised."""
    rows: list[list[Any]] = [
        cast(list[Any], row) for row in schema.listed(gold, "rows") if isinstance(row, list)
    ]
    found: list[Any] = []
    for at, column in enumerate(schema.listed(gold, "columns")):
        cells = "\n".join(
            schema.text_of(row[at]) for row in rows[:_ROWS_LOOKED_AT] if at < len(row)
        )
        fields = schema.mapping(column)
        found.append({**fields, "cells": cells.strip()} if fields else column)
    return found


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
