"""The columns of a table: their types, cells that do not fit, rows with equal keys, and previews of preprocessing."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, cast

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.paste_formats import value_type
from cuecard.core.families.table.gold import Column, Preprocess
from cuecard.core.families.table.score import (
    extract_number,
    key_text,
    norm_str,
    preprocess,
    tolerance,
)
from cuecard.core.i18n import N_, _
from cuecard.core.judges.quantities import parse_date, parse_plain_date
from cuecard.core.text import first_number

_YEAR = re.compile(r"[0-9]{4}")
_ADDRESS = re.compile(r"https?://[^\s/]", re.IGNORECASE)

ColumnType = Literal["text", "number", "date", "url"]

TYPE_LABEL: dict[ColumnType, str] = {
    "text": N_("text"),
    "number": N_("number"),
    "date": N_("date"),
    "url": N_("address"),
}
_HINTS: list[tuple[ColumnType, str, str]] = [
    ("number", "preprocess", "extract_number"),
    ("number", "metric", "number_near"),
    ("date", "preprocess", "norm_date"),
    ("date", "metric", "date_near"),
    ("url", "metric", "url_match"),
]
_NEW: dict[str, dict[str, Any]] = {
    "number": {"preprocess": ["extract_number"], "metric": ["number_near"]},
    "date": {"preprocess": ["norm_date"], "metric": ["exact_match"]},
    "url": {"preprocess": [], "metric": ["url_match"]},
}


def type_of(column: Mapping[str, Any]) -> ColumnType:
    """A column's type, from its preprocessing and metric."""
    for kind, field, name in _HINTS:
        if name in (column.get(field) or ()):
            return kind
    return "text"


def settings_for(cells: list[str]) -> dict[str, Any]:
    """`preprocess` and `metric` for a new column with these cells; nothing for one of texts."""
    types = {value_type(cell) for cell in cells if cell.strip()}
    return dict(_NEW.get(types.pop(), {})) if len(types) == 1 else {}


def plain_day(text: str) -> date | None:
    """The day in a date of a common spelling, or of a bare year; read at once."""
    moment = parse_plain_date(text)
    if moment is None and _YEAR.fullmatch(text):
        return parse_date(text)
    return moment.first_day if moment else None


class CellChecks:
    """Checks whether cells fit their column's type. Dates in uncommon spellings are slow to parse: they count as
    fitting until `settle`, to be called on another thread, has read them.
    """

    def __init__(self) -> None:
        self._slow: dict[str, bool] = {}
        self._pending: set[str] = set()

    @property
    def pending(self) -> bool:
        return bool(self._pending)

    def misfit(self, kind: ColumnType, text: str) -> str:
        """Why a cell does not fit, in one line; "" if it fits or is empty."""
        text = text.strip()
        if not text or kind == "text":
            return ""
        match kind:
            case "number":
                return "" if first_number(text) else _("there is no number in this cell")
            case "url":
                return "" if _ADDRESS.search(text) else _("there is no web address in this cell")
            case "date":
                return "" if self._is_date(text) else _("this cannot be read as a date with a year")

    def settle(self) -> None:
        """Parse the dates that are pending."""
        for text in list(self._pending):
            self._slow[text] = parse_date(text) is not None
            self._pending.discard(text)

    def _is_date(self, text: str) -> bool:
        if plain_day(text) is not None:
            return True
        if not any(char.isdigit() for char in text):
            return False
        if text not in self._slow:
            self._pending.add(text)
            return True
        return self._slow[text]


Row = list[Any]
Key = tuple[str, ...]


class DuplicateKeys:
    """Finds rows with equal keys, with a cache of unchanged rows. Keys are compared as the scorer joins rows, except
    that dates in uncommon spellings compare as text.
    """

    def __init__(self) -> None:
        self._keys: dict[int, tuple[Row, Key]] = {}
        self._setup: list[tuple[int, tuple[str, ...]]] = []

    def duplicates(self, edit: TaskEdit) -> dict[int, int]:
        """For each row whose key another row has too, the index of the first (or, for that one, the next) of them."""
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


METRIC_HELP: dict[str, str] = {
    "exact_match": N_("Right if the prepared texts are equal but for case; with “the first number”, if the numbers are: 5.0 counts as 5."),
    "number_near": N_("Right if the numbers are equal within the criterion: 5% or 0.05 of the gold number; without one they must be equal."),
    "date_near": N_("Right if the dates are at most 31 days apart."),
    "url_match": N_("Right if both name the same hosts; what follows the host does not count."),
    "in_match": N_("Right if the answer's text stands somewhere in the gold cell."),
    "llm_judge": N_("A model decides by the criterion; without a model, by similarity of the words."),
}  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """A cell as written, as it is compared after preprocessing, and why it does not fit the column, "" if it does."""

    raw: str
    prepared: str
    misfit: str


@dataclass(frozen=True)
class ColumnPreview:
    """`odd` of `filled` cells do not fit; `samples` begin with those. `tolerance` is the relative one
    of `number_near`, None where the column has no such metric.
    """

    filled: int
    empty: int
    odd: int
    samples: tuple[Sample, ...]
    tolerance: float | None


def preview_column(rows: Sequence[Sequence[Any]], column: Mapping[str, Any], index: int, most: int = 8) -> ColumnPreview:  # fmt: skip
    """The preview of one column. Reads every different cell once: for use off the screen's thread."""
    texts = [str(row[index]).strip() if index < len(row) else "" for row in rows]
    kind, checks = type_of(column), CellChecks()
    distinct = list(dict.fromkeys(text for text in texts if text))
    for text in distinct:
        checks.misfit(kind, text)
    checks.settle()
    reasons = {text: checks.misfit(kind, text) for text in distinct}
    odd = sum(bool(reasons.get(text)) for text in texts)
    shown = sorted(distinct, key=lambda text: not reasons[text])[:most]
    model = _as_column(column)
    samples = tuple(Sample(text, preprocess(model, text), reasons[text]) for text in shown)
    filled = sum(map(bool, texts))
    near = "number_near" in (column.get("metric") or ())
    allowed = tolerance(str(column.get("criterion") or "")) if near else None
    return ColumnPreview(filled, len(texts) - filled, odd, samples, allowed)


def _as_column(column: Mapping[str, Any]) -> Column:
    """The column's preprocessing, whatever else is wrong with it."""
    steps = cast(list[Any], column.get("preprocess") or [])
    known = [Preprocess(step) for step in steps if step in list(Preprocess)]
    return Column.model_construct(preprocess=tuple(known))
