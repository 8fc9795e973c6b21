"""Tables as Markdown, CSV, JSON and HTML, a cell taken apart for any form, and the environment of templates of pages."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from cuecard.core.i18n import _, listed
from cuecard.core.tables.table import STAR, Cell, Table
from cuecard.core.text import for_display, one_line, storable

if TYPE_CHECKING:
    from jinja2 import Environment


_LISTED = 6


def remarks_of(table: Table) -> tuple[str, ...]:
    """Why numbers, or their intervals, are missing: each reason once, with the lines it applies to; what a star says."""
    about: dict[str, list[str]] = {}
    for line in table.lines:
        for reason in dict.fromkeys(cell.remark for cell in line if cell.remark):
            about.setdefault(reason, []).append(line[0].text)
    missing = (
        _("{reason}: {lines}").format(reason=reason, lines=listed(dict.fromkeys(lines), _LISTED))
        for reason, lines in about.items()
    )
    apart = any(cell.apart for line in table.lines for cell in line)
    return (*missing, *([apart_word()] if apart else []))


def apart_word() -> str:
    """What the star behind a difference says."""
    return f"{STAR} " + _("The interval of the difference does not hold zero.")


_SIDES = " ---: ", " --- "


def as_markdown(table: Table) -> str:
    """A heading, the table, and remarks and notes as paragraphs."""
    lines = [
        f"## {escaped(table.title)}",
        "",
        _row([Cell(heading) for heading in table.headings]),
        "|".join(("", *(_SIDES[table.is_of_words(at)] for at in range(len(table.headings))), "")),
        *(_row(line) for line in table.lines),
        "",
    ]
    for remark in (*remarks_of(table), *table.notes):
        lines += [escaped(remark), ""]
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Text with Markdown's special characters escaped."""
    for mark in "\\|<*_`":
        text = text.replace(mark, f"\\{mark}" if mark != "<" else "&lt;")
    # Neither a link nor a picture, which would be fetched from elsewhere.
    return one_line(text).replace("](", "]\\(").replace("][", "]\\[")


def _row(cells: Sequence[Cell]) -> str:
    return "| " + " | ".join(escaped(cell.text) for cell in cells) + " |"


_INTERVAL = re.compile(r"(?P<value>[^\[\]]+?) (?P<interval>\[[^\[\]]+\])(?P<rest>[^\[\]]*)")


class CellFigure(NamedTuple):
    """A cell taken apart. `text`: as shown, of which `shown` is the part before the interval, `interval` that with its
    brackets ("" for none), and `rest` what follows. `value`, interval and n: unrounded, None if there are none. `key`
    as in `Cell`; `remark`: why number or interval is missing.
    """

    text: str
    shown: str
    interval: str
    rest: str
    value: float | None
    low: float | None
    high: float | None
    n: int | None
    key: str
    remark: str

    @property
    def is_figure(self) -> bool:
        """Whether the cell is meant for a number, known or not."""
        return self.value is not None or bool(self.key)


def figure_of(cell: Cell) -> CellFigure:
    """What stands in the cell; texts are one line without control characters."""
    text = plain(cell.text)
    statistic = cell.statistic
    parts = _INTERVAL.fullmatch(text) if statistic and statistic.interval else None
    return CellFigure(
        text=text,
        shown=parts["value"] if parts else text,
        interval=parts["interval"] if parts else "",
        rest=parts["rest"] if parts else "",
        value=cell.number,
        low=statistic.low if statistic else None,
        high=statistic.high if statistic else None,
        n=statistic.n if statistic else None,
        key=for_display(storable(cell.key)),
        remark=plain(cell.remark),
    )


def plain(text: str) -> str:
    """The text on one line, without control characters."""
    return one_line(storable(text))


def number(value: float | None) -> str:
    """The shortest text that reads back as the same number; "" for none."""
    return "" if value is None else repr(value)


# What spreadsheets take for a formula and would run.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def guarded(text: str) -> str:
    """`text` with an apostrophe before it if a spreadsheet would run it as a formula."""
    return f"'{text}" if text.lstrip("'").startswith(_FORMULA) else text


def unguarded(text: str) -> str:
    """The inverse of `guarded`."""
    guard = text.startswith("'") and text.lstrip("'").startswith(_FORMULA)
    return text[1:] if guard else text


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """CSV for spreadsheets: UTF-8 with BOM (the text begins with it), CRLF."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return "\ufeff" + out.getvalue()


COLUMNS = ("table", "line", "column", "text", "value", "low", "high", "n", "key", "remark")


def as_csv(tables: Iterable[Table]) -> str:
    """CSV for spreadsheets: a header, then a row for each cell of each table, with the columns `COLUMNS`. `line`: the first
    cell of its line; `text`: as shown; numbers are unrounded. Texts that would run as a formula begin with an apostrophe.
    """
    return csv_text(COLUMNS, (row for table in tables for row in _csv_rows(table)))


def _csv_rows(table: Table) -> Iterator[tuple[str, ...]]:
    title = guarded(plain(table.title))
    for line in table.lines:
        name = guarded(plain(line[0].text)) if line else ""
        for heading, cell in zip(table.headings[1:], line[1:], strict=False):
            found = figure_of(cell)
            figures = map(number, (found.value, found.low, found.high, found.n))
            column, more = guarded(plain(heading)), (guarded(found.key), guarded(found.remark))
            yield (title, name, column, _text(found.text), *figures, *more)


def _text(text: str) -> str:
    """A plain negative number is no formula."""
    try:
        float(text)
    except ValueError:
        return guarded(text)
    return text


def table_data(table: Table) -> dict[str, Any]:
    """A table as JSON. `lines`: cells as `{"text": …}` and, for numbers, unrounded `value`, `n`, `low` and `high` (null
    without an interval), and `remark`: why value or interval is missing.
    """
    return {
        "title": plain(table.title),
        "headings": [plain(heading) for heading in table.headings],
        "lines": [[cell_data(cell) for cell in line] for line in table.lines],
        "notes": [plain(note) for note in table.notes],
    }


def cell_data(cell: Cell) -> dict[str, Any]:
    if cell.statistic is not None:
        one = cell.statistic
        return {
            "text": cell.text,
            "value": one.value,
            "n": one.n,
            "low": one.low,
            "high": one.high,
            "remark": cell.remark,
        }
    if cell.value is not None:
        return {"text": cell.text, "value": cell.value}
    return {"text": cell.text}


Form = Literal["md", "tex", "csv", "json"]


def tables_text(tables: Sequence[Table], form: Form, **beside: object) -> str:
    """The tables as one text, as it stands in a file. `beside`: what an object of JSON has before its `sheets`."""
    match form:
        case "tex":
            from cuecard.core.tables.latex import latex_of

            return latex_of(tables)
        case "csv":
            return as_csv(tables)
        case "json":
            data = {**beside, "sheets": [table_data(table) for table in tables]}
            return json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
        case "md":
            return "\n".join(as_markdown(table) for table in tables)


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
    classes = [_class(column) if table.is_of_words(at) else "" for at, column in enumerate(columns)]
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


def _class(column: Sequence[CellFigure]) -> str:
    """Of the cells of a column of words: how these are set."""
    words = [cell.text for cell in column if not cell.is_figure]
    if words and all(_DIGEST.fullmatch(word) for word in words):
        return "code"
    return "text short" if max(map(len, words), default=0) <= _SHORT else "text"


def _clean(value: object) -> object:
    # Markup is a text too, of ours.
    return for_display(storable(value)) if type(value) is str else value
