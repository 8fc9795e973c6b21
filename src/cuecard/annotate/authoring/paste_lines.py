"""Pasted lines of cells: which character parts the cells, and whether the first line names them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Sequence

from cuecard.core.formats.triples_text import triple_part

COMMAS = (";", ",", "，", "；")

_SAMPLE = 60
_SAME_WIDTH = 0.6
_SEPARATOR_LINE = re.compile(r"\A\s*sep=(.)[ \t]*\n")
_NUMBER = re.compile(r"[-+~≈]?\s*[$€£¥]?\s*\d[\d,.\s]*\s*(?:%|[a-zA-Z²³°/]{1,6}|[万亿元年人米])?")
_DATE = re.compile(r"\d{1,4}([-/.年])\d{1,2}(?:[-/.月]\d{1,4}日?)?")
_URL = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
# Names that this program's own columns have, and those that other tools give them.
_OWN_NAMES = frozenset(
    [
        "key",
        "value",
        "kind",
        "entity",
        "attribute",
        "unit",
        "aliases",
        "alias",
        "source",
        "sources",
        "url",
        "evidence",
        "stage",
        "note",
        "notes",
        "id",
        "label",
        "type",
        "name",
        "键",
        "值",
        "类型",
        "实体",
        "属性",
        "单位",
        "别名",
        "来源",
        "链接",
        "证据",
        "阶段",
        "备注",
        "说明",
        "名称",
    ]
)


def read_lines(text: str, most: int) -> tuple[str, list[Sequence[str]], bool]:
    """The character between the cells (a tab when there is none), the rows, at most so many, and
    whether the quotation marks were all closed.
    """
    if match := _SEPARATOR_LINE.match(text):
        delimiter, text = match[1], text[match.end() :]
    else:
        delimiter = _delimiter(text)
    if not delimiter:
        return "\t", [[line] for line in text.split("\n")[:most] if line.strip()], True
    rows = _rows(text, delimiter, most)
    if rows is None:
        plain = text.split("\n")[:most]
        rows = [[_unquoted(cell) for cell in line.split(delimiter)] for line in plain]
        return delimiter, [row for row in rows if any(row)], text.count('"') % 2 == 0
    return delimiter, rows, True


def is_header(rows: Sequence[Sequence[str]], known: Collection[str]) -> bool:
    """Whether the first of the rows names the columns of the others."""
    first = [cell.strip() for cell in rows[0]]
    filled = [cell for cell in first if cell]
    names = {fold(name) for name in known} | _OWN_NAMES
    parts = {part for cell in filled if (part := triple_part(cell)) is not None}
    named = sum(fold(cell) in names or triple_part(cell) is not None for cell in filled)
    if filled and 2 * named >= len(filled) and (len(filled) > 1 or len(rows) > 1):
        # One letter or `from` is no header by itself: two parts of a triple, or a real name.
        return len(parts) >= 2 or any(fold(cell) in names for cell in filled)
    if len(rows) < 2 or len(filled) < len(first) or len(set(filled)) < len(filled):
        return False
    if any(value_type(cell) for cell in filled):
        return False
    return any(_typed_below(rows, column) for column in range(len(first)))


def fold(name: str) -> str:
    """Column names compare without case and blanks."""
    return "".join(name.split()).casefold()


def value_type(text: str) -> str:
    """`number`, `date` or `url` by the look of a cell, and an empty string for any other text."""
    text = text.strip()[:300]
    if _DATE.fullmatch(text):
        return "date"
    if _NUMBER.fullmatch(text):
        return "number"
    return "url" if _URL.fullmatch(text) else ""


def _typed_below(rows: Sequence[Sequence[str]], column: int) -> bool:
    below = [row[column].strip() for row in rows[1:_SAMPLE] if column < len(row)]
    types = [value_type(cell) for cell in below if cell]
    typed = sum(map(bool, types))
    return typed >= 2 and typed >= 0.8 * len(types)


def _delimiter(text: str) -> str:
    lines = [line for line in text.split("\n", _SAMPLE)[:_SAMPLE] if line.strip()]
    if sum("\t" in line for line in lines) * 2 >= len(lines):
        return "\t"
    best, found = (_SAME_WIDTH, 1), ""
    for delimiter in COMMAS:
        rows = _rows(text, delimiter, _SAMPLE)
        widths = [len(row) for row in rows or [line.split(delimiter) for line in lines]]
        usual = max(widths, key=widths.count, default=0)
        score = (widths.count(usual) / len(widths) if widths else 0.0, usual)
        if usual > 1 and score > best:
            best, found = score, delimiter
    return found


def _rows(text: str, delimiter: str, most: int) -> list[Sequence[str]] | None:
    """Rows by the rules of CSV, without the empty ones; None where its quotation marks break them."""
    rows: list[Sequence[str]] = []
    try:
        lines = io.StringIO(text, newline="")
        for row in csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True):
            if any(cell.strip() for cell in row):
                rows.append(row)
            if len(rows) >= most:
                break
    except csv.Error:
        return None
    return rows


def _unquoted(cell: str) -> str:
    cell = cell.strip()
    if len(cell) > 1 and cell.startswith('"') and cell.endswith('"'):
        return cell[1:-1].replace('""', '"')
    return cell
