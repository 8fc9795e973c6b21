"""Which rows of a table have the same key, kept up to date while cells are typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.table_types import plain_day
from cuecard.core.scoring.cells import extract_number, key_text, norm_str

Row = list[Any]
Key = tuple[str, ...]


class KeyWatch:
    """`twins` gives each row whose key an earlier or later row has too, and the first or the next of
    those. Keys compare as the scorer joins rows, but for uncommon spellings of dates, which compare
    as text. Rows that did not change since the last call are not read again.
    """

    def __init__(self) -> None:
        self._keys: dict[int, tuple[Row, Key]] = {}
        self._setup: list[tuple[int, tuple[str, ...]]] = []

    def twins(self, edit: TaskEdit) -> dict[int, int]:
        columns = edit.items(ops.COLUMNS)
        setup = [
            (index, tuple(map(str, column.get("preprocess") or ())))
            for index, column in enumerate(columns)
            if ops.is_key(edit, index)
        ]
        rows: list[Row] = edit.items(ops.ROWS)
        if setup != self._setup:
            self._setup, self._keys = setup, {}
        if not setup:
            return {}
        kept: dict[int, tuple[Row, Key]] = {}
        places: dict[Key, list[int]] = {}
        for number, row in enumerate(rows):
            # Rows are never changed in place, so the same object has the same key.
            known = self._keys.get(id(row))
            kept[id(row)] = known = known or (row, self._key(row))
            if any(known[1]):
                places.setdefault(known[1], []).append(number)
        self._keys = kept
        return {
            row: alike[0] if row != alike[0] else alike[1]
            for alike in places.values()
            if len(alike) > 1
            for row in alike
        }

    def _key(self, row: Row) -> Key:
        cells = [(str(row[i]) if i < len(row) else "", steps) for i, steps in self._setup]
        return tuple(_prepared(text, steps) for text, steps in cells)


def _prepared(text: str, steps: Sequence[str]) -> str:
    raw = text
    for step in steps:
        if step == "norm_str":
            text = norm_str(text)
        elif step == "extract_number":
            text = extract_number(text)
        elif step == "norm_date" and (day := plain_day(text)) is not None:
            text = day.isoformat()
    return key_text(raw, text, number="extract_number" in steps)
