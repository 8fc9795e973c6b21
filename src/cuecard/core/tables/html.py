"""Tables as HTML, and the environment of the templates of pages that hold them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from cuecard.core.tables.table import Table
from cuecard.core.tables.texts import CellFigure, figure_of, number, remarks_of
from cuecard.core.text import for_display, storable

if TYPE_CHECKING:
    from jinja2 import Environment

_NUMBER = re.compile(r"[\d–+−.,:%/×() \[\]-]*")
_SHORT = 36
"""Characters that a column of words keeps on one line."""
_LONG = 16
"""Characters of a heading that fit a narrow column."""
_MANY = 7
"""Up to so many columns, intervals stand beside their values."""
_DIGEST = re.compile(r"[0-9a-f]{8,}")


def as_html(table: Table, *, id: str = "", caption: str = "") -> str:
    """A `figure` with its table, caption and notes; `id`: of the figure, `caption`: what stands before the title.
    The cell of every figure has `data-key`, `data-value`, `data-low`, `data-high`, `data-n` (those that it has)
    and its remark as `title`.
    """
    found = [[figure_of(cell) for cell in line] for line in table.lines]
    columns = list(zip(*found, strict=False))
    classes = [_class(column, names=not at) for at, column in enumerate(columns)]
    classes += [""] * (len(table.headings) - len(columns))
    return (
        environment("cuecard.core.tables")
        .get_template("table.html")
        .render(
            table=table,
            id=id,
            caption=caption,
            classes=classes,
            longest=_LONG,
            most=_MANY,
            rows=[[(cell, attributes(cell)) for cell in line] for line in found],
            notes=(*remarks_of(table), *table.notes),
        )
    )


@cache
def environment(package: str) -> Environment:
    """The environment for a package's templates. Every value is cleaned of control characters and escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(package),
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
