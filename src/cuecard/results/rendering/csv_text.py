"""Sheets as one CSV in long form: a row for each cell."""

from __future__ import annotations

from collections.abc import Iterable

from cuecard.annotate.labelling.comparison.sheets import Sheet

COLUMNS = ("table", "line", "column", "text", "value", "low", "high", "n", "key")


def as_csv(sheets: Iterable[Sheet]) -> str:
    """A header, then a row for each cell of each sheet, by `COLUMNS`."""
    raise NotImplementedError
