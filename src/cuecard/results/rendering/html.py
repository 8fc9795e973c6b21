"""A Sheet as an HTML table, through Jinja2 with autoescape: what stands in a Sheet is data and never markup."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from cuecard.annotate.labelling.comparison.markdown import remarks_of
from cuecard.annotate.labelling.comparison.sheets import Sheet
from cuecard.core.text import for_display, storable
from cuecard.results.rendering.figures import CellFigure, figure_of, number

if TYPE_CHECKING:
    from jinja2 import Environment

_NUMBER = re.compile(r"[\d–+−.,:%/×() \[\]-]*")
_SHORT = 36
"""Letters that a column of words keeps on one line."""
_LONG = 16
"""Letters of a heading that get along with a narrow column."""
_MANY = 7
"""Columns beside each other that have room for intervals beside their values."""
_DIGEST = re.compile(r"[0-9a-f]{8,}")


def as_html(sheet: Sheet, *, id: str = "", caption: str = "") -> str:
    """A `figure` with its table, caption and notes; `id`: of the figure, `caption`: what stands before the title.
    The cell of every figure has `data-key`, `data-value`, `data-low`, `data-high`, `data-n` (those that it has)
    and its remark as `title`.
    """
    found = [[figure_of(cell) for cell in line] for line in sheet.lines]
    columns = list(zip(*found, strict=False))
    classes = [_class(column, names=not at) for at, column in enumerate(columns)]
    classes += [""] * (len(sheet.headings) - len(columns))
    return (
        environment()
        .get_template("table.html")
        .render(
            sheet=sheet,
            id=id,
            caption=caption,
            classes=classes,
            longest=_LONG,
            most=_MANY,
            rows=[[(cell, attributes(cell)) for cell in line] for line in found],
            notes=(*remarks_of(sheet), *sheet.notes),
        )
    )


@cache
def environment() -> Environment:
    """Templates of this package. Every value is cleaned of control characters and escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("cuecard.results.rendering"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_clean,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def attributes(cell: CellFigure) -> dict[str, str]:
    """Of a cell's element, by name; those without a value are left out."""
    data = {
        "data-key": cell.key,
        "data-value": number(cell.value),
        "data-low": number(cell.low),
        "data-high": number(cell.high),
        "data-n": number(cell.n),
    }
    shown = data if cell.is_figure else {}
    return {name: value for name, value in {**shown, "title": cell.remark}.items() if value}


def _class(column: Sequence[CellFigure], *, names: bool) -> str:
    """Of a column's cells: how its words are set, "" for numbers. `names`: it names the lines."""
    words = [cell.text for cell in column if not cell.is_figure]
    if not names:
        if not words or all(_NUMBER.fullmatch(word) for word in words):
            return ""
        if all(_DIGEST.fullmatch(word) for word in words):
            return "code"
    return "text short" if max(map(len, words), default=0) <= _SHORT else "text"


def _clean(value: object) -> object:
    # Markup is a text too, of ours.
    return for_display(storable(value)) if type(value) is str else value
