"""What a table's columns hold, and which cells do not fit them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Literal

from cuecard.annotate.authoring.paste_lines import value_type
from cuecard.core.i18n import N_, _
from cuecard.core.scoring.dates import parse_date, parse_plain_date
from cuecard.core.scoring.numerals import first_number

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
    """What a column holds, by how its cells are prepared and compared."""
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
    """Says of cells whether they fit their column, at once. Uncommon spellings of dates take long to
    read: they count as fitting until `settle`, which belongs on another thread, has read them.
    """

    def __init__(self) -> None:
        self._slow: dict[str, bool] = {}
        self._pending: set[str] = set()

    @property
    def pending(self) -> bool:
        return bool(self._pending)

    def misfit(self, kind: ColumnType, text: str) -> str:
        """Why a cell does not fit, in one line; nothing where it does or is empty."""
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
        """Read what is pending."""
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
