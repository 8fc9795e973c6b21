"""CSV files as spreadsheets write them, with line numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cuecard.annotate.labels_io.entries import Problems
from cuecard.core.i18n import _
from cuecard.core.text import one_line

_DELIMITERS = (",", ";", "\t")
_MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Rows:
    """`rows`: line (from 1) and cells by column; every row has every column."""

    columns: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]


def read_text(path: Path) -> str:
    """The file's text, UTF-8 with or without BOM. Raises `FileProblems`."""
    problems = Problems(str(path))
    text = ""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            problems.add(None, _("is larger than {n} MB").format(n=_MOST_BYTES >> 20))
        else:
            text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        problems.add(None, _("is not UTF-8 text; save it as UTF-8 (in Excel: CSV UTF-8)"))
    except OSError as error:
        problems.add(None, error.strerror or str(error))
    problems.raise_any()
    return text


def parse_rows(text: str, problems: Problems) -> Rows:
    """A table with a line of column names; commas, semicolons or tabs. What is wrong goes to `problems`."""
    head = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    columns: list[str] = []
    rows: list[tuple[int, dict[str, str]]] = []
    try:
        line = 1
        for cells in reader:
            at, line = line, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if not columns:
                columns = _columns(cells, at, problems)
                continue
            if len(cells) > len(columns) and any(cell.strip() for cell in cells[len(columns) :]):
                problems.add(at, _("has more cells than there are columns"))
                continue
            padded = [*cells, *[""] * (len(columns) - len(cells))]
            rows.append((at, dict(zip(columns, padded, strict=False))))
    except csv.Error as error:
        problems.add(reader.line_num, str(error))
    if not columns and not problems.found:
        problems.add(None, _("is empty"))
    return Rows(tuple(columns), tuple(rows))


def _columns(cells: Sequence[str], line: int, problems: Problems) -> list[str]:
    columns = [cell.strip().casefold() for cell in cells]
    while columns and not columns[-1]:
        columns.pop()
    for name in dict.fromkeys(columns):
        if columns.count(name) > 1:
            problems.add(line, _("column {name} stands twice").format(name=one_line(name, 40)))
    return columns


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """As spreadsheets read it best: UTF-8 with BOM (which this text begins with), CRLF."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return "\ufeff" + out.getvalue()
