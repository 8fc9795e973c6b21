"""Pasted JSON as rows: a list of objects or of lists, JSON lines, or one object of texts."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import cast

from cuecard.annotate.authoring.paste_lines import is_header
from cuecard.core.i18n import _

_MAX_REPAIR = 100_000
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
    found = _rows(value, known, 0) if value is not None else None
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
        shown = ", ".join(map(str, wrong[:5])) + ("…" if len(wrong) > 5 else "")
        problems.append(_("these lines are no JSON: {lines}").format(lines=shown))
    return values


def _repaired(text: str) -> object:
    if len(text) > _MAX_REPAIR or '"' not in text:
        return None
    from json_repair import repair_json

    try:
        value = cast(object, repair_json(text, return_objects=True, skip_json_loads=True))
    except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return cast(object, value) if isinstance(value, dict | list) and value else None


def _rows(value: object, known: Collection[str], depth: int) -> FoundRows | None:
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
        found = _rows(cast(object, rows), (), depth + 1)
        if found is not None and found.header is None:
            return FoundRows(names, found.rows, found.problems)
    for inner in value.values():
        if isinstance(inner, list) and depth < _MAX_DEPTH:
            items = cast(list[object], inner)
            if any(isinstance(item, dict | list) for item in items):
                return _rows(items, known, depth + 1)
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
    return [_("{n} entries are of another shape and were left out").format(n=count)] if count else []  # fmt: skip
