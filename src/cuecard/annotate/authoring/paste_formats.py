"""Reading rows out of pasted JSON or out of pasted lines of cells, and telling whether the first line names the columns."""

import csv
import io
import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import cast

from cuecard.core.formats.extraction import triple_part
from cuecard.core.i18n import _, listed, plural

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


_MAX_DEPTH = 4


@dataclass
class FoundRows:
    header: list[str] | None
    rows: list[Sequence[str]]
    problems: list[str] = field(default_factory=list[str])


def read_json(text: str, known: Collection[str]) -> FoundRows | None:
    """The rows in a JSON text, or None when it is none. A broken text is read as far as it goes."""
    problems: list[str] = []
    value = _loaded(text)
    if value is None:
        value = _lines(text, problems)
    if value is None:
        value = _repaired(text)
        problems = [_("the JSON is broken; what could be read of it was taken")]
    found = _paste_json_rows(value, known, 0) if value is not None else None
    if found is not None:
        found.problems.extend(problems)
    return found


def _loaded(text: str) -> object:
    """Numbers stay as they are written: `1.50` is not `1.5`, and none is too long to read."""
    try:
        return cast(
            object,
            json.loads(text, strict=False, parse_int=str, parse_float=str, parse_constant=str),
        )
    except (ValueError, RecursionError):
        return None


def _lines(text: str, problems: list[str]) -> object:
    lines = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
    values: list[object] = []
    wrong: list[int] = []
    for number, line in lines:
        value = _loaded(line.strip().rstrip(","))
        if isinstance(value, dict | list):
            values.append(cast(object, value))
        else:
            wrong.append(number)
    if len(values) < 2 or len(wrong) > len(values):
        return None
    if wrong:
        shown = listed(map(str, wrong), 5)
        problems.append(_("these lines are no JSON: {lines}").format(lines=shown))
    return values


def _repaired(text: str) -> object:
    if '"' not in text:
        return None
    from cuecard.core.validation import repair

    value = repair(text)
    return cast(object, value) if isinstance(value, dict | list) and value else None


def _paste_json_rows(value: object, known: Collection[str], depth: int) -> FoundRows | None:
    if isinstance(value, dict):
        return _of_object(cast(dict[str, object], value), known, depth)
    if not isinstance(value, list) or not value:
        return None
    items = cast(list[object], value)
    objects = [cast(dict[str, object], item) for item in items if isinstance(item, dict)]
    lists = [cast(list[object], item) for item in items if isinstance(item, list)]
    if len(objects) * 2 >= len(items) and objects:
        header = list(dict.fromkeys(key for item in objects for key in item))
        rows: list[Sequence[str]] = [[text_of(item.get(key)) for key in header] for item in objects]
        return FoundRows(header, rows, _left(len(items) - len(objects)))
    if len(lists) * 2 >= len(items) and lists:
        rows = [[text_of(cell) for cell in item] for item in lists]
        left = _left(len(items) - len(lists))
        if is_header(rows, known):
            return FoundRows(list(rows[0]), rows[1:], left)
        return FoundRows(None, rows, left)
    return FoundRows(None, [[text_of(item)] for item in items])


def _of_object(value: dict[str, object], known: Collection[str], depth: int) -> FoundRows | None:
    """An object around a list, columns with rows, or an object of texts: keys with their values."""
    columns, rows = value.get("columns"), value.get("rows")
    if isinstance(columns, list) and isinstance(rows, list):
        names = [text_of(name) for name in cast(list[object], columns)]
        found = _paste_json_rows(cast(object, rows), (), depth + 1)
        if found is not None and found.header is None:
            return FoundRows(names, found.rows, found.problems)
    for inner in value.values():
        if isinstance(inner, list) and depth < _MAX_DEPTH:
            items = cast(list[object], inner)
            if any(isinstance(item, dict | list) for item in items):
                return _paste_json_rows(items, known, depth + 1)
    if not value:
        return None
    if any(isinstance(inner, dict | list) for inner in value.values()):
        return FoundRows(list(value), [[text_of(inner) for inner in value.values()]])
    return FoundRows(["key", "value"], [[key, text_of(inner)] for key, inner in value.items()])


def text_of(value: object) -> str:
    """A cell's text: several values are parted by `; `, a named thing is its name."""
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case dict():
            named = cast(dict[str, object], value)
            inner = next((named[key] for key in ("name", "text", "label", "url") if key in named), None)  # fmt: skip
            return inner if isinstance(inner, str) else _dumped(named)
        case list():
            items = cast(list[object], value)
            simple = all(isinstance(item, str | int | float | dict | None) for item in items)
            return "; ".join(text_of(item) for item in items) if simple else _dumped(items)
        case _:
            return str(value)


def _dumped(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""


def _left(count: int) -> list[str]:
    if not count:
        return []
    return [
        plural(
            "{n} entry is of another shape and was left out",
            "{n} entries are of another shape and were left out",
            count,
        )
    ]
