"""Tables from and for the clipboard: spreadsheet cells, CSV, JSON and Markdown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from cuecard.annotate.authoring import paste_formats
from cuecard.core.formats.extraction import find_table, split_line
from cuecard.core.i18n import _, plural
from cuecard.core.text import storable

Kind = Literal["tsv", "csv", "json", "markdown"]
Row = tuple[str, ...]

MAX_TEXT = 4_000_000
MAX_ROWS = 20_000
MAX_COLUMNS = 100
MAX_CELL = 20_000

_BOM = "\ufeff"
# A line break and a tab mean something here; every other control character is an accident.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
_BREAKS = re.compile("\r\n?|\u0085|\u2028|\u2029")
_FENCE = re.compile(r"\A\s*(`{3,}|~{3,})[ \t]*([\w+-]*)[ \t]*\n(.*?)(?:\n[ \t]*\1[`~]*\s*)?\Z", re.DOTALL)  # fmt: skip
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True)
class PastedTable:
    """Every row, and the header if there is one, has the same number of cells; a cell is one line.

    `problems` says in plain sentences what could not be taken as it stood.
    """

    header: Row | None
    rows: tuple[Row, ...]
    kind: Kind
    problems: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        return len(self.header or (self.rows[0] if self.rows else ()))

    def headed(self, header: bool) -> PastedTable:
        """The same with its first line taken as the header, or as a row like the others."""
        if header and self.header is None and self.rows:
            return replace(self, header=self.rows[0], rows=self.rows[1:])
        if not header and self.header is not None:
            return replace(self, header=None, rows=(self.header, *self.rows))
        return self


def parse_rows(text: str, known: Collection[str] = ()) -> PastedTable:
    """Read a table out of any text; never raises.

    A first line is taken as the header when Markdown or JSON says so, when half of its cells are
    names in `known` (or common names of this program's own columns), or when the columns below
    hold numbers, dates or addresses and it does not. Short rows are filled up with empty cells.
    """
    problems: list[str] = []
    if len(text) > MAX_TEXT:
        text = text[:MAX_TEXT]
        problems.append(_("the text is very long; only its beginning was read"))
    text = _BREAKS.sub("\n", storable(_CONTROLS.sub("", text).lstrip(_BOM)))
    header, rows, kind = _read(text, known, problems)
    return _squared(header, rows, kind, problems)


def _read(
    text: str, known: Collection[str], problems: list[str]
) -> tuple[Sequence[str] | None, list[Sequence[str]], Kind]:
    if not text.strip():
        return None, [], "tsv"
    fence = _FENCE.match(text)
    inner = fence[3] if fence else text
    if inner.lstrip()[:1] in ("[", "{") and (found := paste_formats.read_json(inner, known)):
        problems.extend(found.problems)
        return found.header, found.rows, "json"
    if table := find_table(text):
        if table.over:
            problems.append(
                plural(
                    "{n} row has more cells than the header; what is over was left out",
                    "{n} rows have more cells than the header; what is over was left out",
                    table.over,
                )
            )
        return table.columns, list(table.rows), "markdown"
    lines = [line.strip() for line in inner.split("\n") if line.strip()]
    if all(len(line) > 1 and line.startswith("|") and line.endswith("|") for line in lines):
        return None, [split_line(line) for line in lines], "markdown"
    delimiter, rows, clean = paste_formats.read_lines(inner, MAX_ROWS + 1)
    if not clean:
        problems.append(_("a quotation mark is never closed; every line was read as one row"))
    kind: Kind = "csv" if delimiter in paste_formats.COMMAS else "tsv"
    if rows and paste_formats.is_header(rows, known):
        return rows[0], rows[1:], kind
    return None, rows, kind


def _squared(
    header: Sequence[str] | None, rows: list[Sequence[str]], kind: Kind, problems: list[str]
) -> PastedTable:
    if len(rows) > MAX_ROWS:
        del rows[MAX_ROWS:]
        problems.append(_("more than {n} rows; the rest was left out").format(n=MAX_ROWS))
    widths = [len(row) for row in rows] + ([len(header)] if header is not None else [])
    width = max(widths, default=0)
    if width > MAX_COLUMNS:
        width = MAX_COLUMNS
        problems.append(_("more than {n} columns; the rest was left out").format(n=MAX_COLUMNS))
    expected = len(header) if header is not None else max(widths, key=widths.count, default=0)
    if uneven := [n for n, row in enumerate(rows, 1) if len(row) != expected]:
        problems.append(
            plural(
                "row {first} has another number of cells than the others",
                "{n} rows have another number of cells than the others, the first is row {first}",
                len(uneven),
                first=uneven[0],
            )
        )
    cut = False

    def cells(row: Iterable[str]) -> Row:
        nonlocal cut
        folded = [_SPACES.sub(" ", cell.lstrip(_BOM)).strip() for cell in row][:width]
        cut = cut or any(len(cell) > MAX_CELL for cell in folded)
        return (*(cell[:MAX_CELL] for cell in folded), *[""] * (width - len(folded)))

    head = cells(header) if header is not None else None
    squared = tuple(row for row in map(cells, rows) if any(row))
    if cut:
        problems.append(_("a cell is longer than {n} characters and was cut").format(n=MAX_CELL))
    return PastedTable(head, squared, kind, tuple(problems))


_QUOTED = ("\t", "\n", "\r", '"')


def as_tsv(rows: Iterable[Sequence[str]]) -> str:
    """Cells with tabs between them, quoted as spreadsheets do where they must be."""
    return "\n".join("\t".join(map(_quoted, row)) for row in rows)


def as_markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(_escaped, line)) + " |" for line in lines)


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(c in cell for c in _QUOTED) else cell


def _escaped(cell: str) -> str:
    return " ".join(cell.split()).replace("|", "\\|")
