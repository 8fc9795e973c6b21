"""Labels as a table: CSV with a label a line, or the same fields as JSON lines."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, cast

from cuecard.annotate.labels_io.entries import Entry, Format, LabelFile, Problems
from cuecard.annotate.labels_io.tables import Rows, csv_text
from cuecard.annotate.labels_io.words import guarded, unguarded, value_of
from cuecard.core.i18n import _
from cuecard.core.text import one_line
from cuecard.core.verdicts import Item
from cuecard.store.label_records import Phase

NEEDED = ("trial", "item", "label")
COLUMNS = (
    *("id", "run", "task", "revision", "agent", "sample", "trial", "item", "text", "person"),
    *("label", "comment", "gold_wrong", "phase", "seconds", "at", "source"),
)
VERDICT_COLUMNS = ("judge", "judge_label")
_TRUE = ("true", "yes", "y", "1", "是")
_FALSE = ("", "false", "no", "n", "0", "否")
_MOST_INDEX = 10**9
Fields = Mapping[str, object]
T = TypeVar("T")


def label_rows(path: Path, rows: Rows, problems: Problems) -> LabelFile:
    """The entries of a CSV; what is wrong goes to `problems`."""
    missing = [name for name in NEEDED if name not in rows.columns]
    if missing and not problems.found:
        text = _("there is no column {name}").format(name=", ".join(missing))
        hint = _("labels need the columns trial, item and label; see docs/labels.md")
        problems.add(1, f"{text}; {hint}")
    if problems.found:
        return _file(path, "csv", [], rows.columns)
    lines = [
        (line, {name: unguarded(cell) for name, cell in cells.items()}) for line, cells in rows.rows
    ]
    return _file(path, "csv", _entries(lines, problems), rows.columns)


def label_lines(path: Path, text: str, problems: Problems) -> LabelFile:
    """The entries of JSON lines; what is wrong goes to `problems`."""
    lines: list[tuple[int, Fields]] = []
    names: set[str] = set()
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            found = json.loads(line, parse_constant=_refuse)
        except (ValueError, RecursionError):
            problems.add(number, _("is no JSON"))
            continue
        if not isinstance(found, dict):
            problems.add(number, _("is no JSON object"))
            continue
        fields = cast(dict[str, object], found)
        missing = [name for name in NEEDED if name not in fields]
        if missing:
            problems.add(number, _("there is no {name}").format(name=", ".join(missing)))
            continue
        names.update(fields)
        lines.append((number, fields))
    if not lines and not problems.found:
        problems.add(None, _("is empty"))
    return _file(path, "jsonl", _entries(lines, problems), names)


def plain_csv(rows: Iterable[Mapping[str, Any]], more: Sequence[str] = ()) -> str:
    """Rows by column name as CSV; a cell that is not told is blank."""
    columns = (*COLUMNS, *more)
    return csv_text(columns, ([guarded(_cell(row.get(name))) for name in columns] for row in rows))


def plain_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else ""
        case float():
            return f"{value:g}" if value == round(value, 6) else repr(value)
        case _:
            return str(value)


def _file(path: Path, format: Format, entries: list[Entry], names: Iterable[str]) -> LabelFile:
    shows = bool(set(names) & set(VERDICT_COLUMNS))
    return LabelFile(str(path), path.name, format, tuple(entries), shows_judge=shows)


def _entries(lines: Iterable[tuple[int, Fields]], problems: Problems) -> list[Entry]:
    found: list[Entry] = []
    for line, fields in lines:
        before = len(problems.found)
        entry = entry_of(line, fields, problems)
        if entry is not None and len(problems.found) == before:
            found.append(entry)
    return found


def entry_of(line: int, fields: Fields, problems: Problems) -> Entry | None:
    """One entry from its fields, cells of a table or values of JSON; what is wrong goes to `problems`."""

    def text(name: str) -> str:
        value = fields.get(name)
        if isinstance(value, dict | list):
            problems.add(line, _("must be a text"), name)
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        return "" if value is None else str(value)

    def parsed(name: str, parse: Callable[[str], T], why: str, otherwise: T) -> T:
        given = text(name).strip()
        try:
            return parse(given)
        except (ValueError, OverflowError):
            shown = one_line(given, 40)
            problems.add(line, f"{shown}: {why}" if shown else why, name)
            return otherwise

    item = parsed("item", _item, _("is no item, such as triple/3"), None)
    if item is None:
        return None
    trial = text("trial").strip()
    if not trial:
        problems.add(line, _("is blank"), "trial")
    parts = [text(name) for name in ("head", "relation", "tail")]
    whole = text("text")
    wanted = _(
        "is none of yes, no and unsure, nor the status of a checkpoint where that is labelled"
    )
    return Entry(
        line=line,
        item=item,
        trial=trial,
        texts=tuple(parts) if any(parts) else (whole,) if whole.strip() else (),
        person=text("person").strip(),
        value=parsed("label", lambda word: value_of(word, item.kind), wanted, None),
        comment=text("comment"),
        seconds=parsed("seconds", _seconds, _("is no number of seconds"), 0.0),
        gold_wrong=parsed("gold_wrong", _flag, _("is neither true nor false"), False),
        phase=parsed("phase", _phase, _("is neither blind nor revealed"), None),
        at=parsed("at", _moment, _("is no time, such as 2026-11-21T09:30:00Z"), None),
    )


def _item(key: str) -> Item | None:
    item = Item.of_key(key)
    if item.key != key or not 0 <= item.index < _MOST_INDEX:
        raise ValueError(key)
    return item


def _seconds(given: str) -> float:
    value = float(given) if given else 0.0
    if not math.isfinite(value) or value < 0:
        raise ValueError(given)
    return value


def _flag(given: str) -> bool:
    if given.casefold() in _TRUE:
        return True
    if given.casefold() in _FALSE:
        return False
    raise ValueError(given)


def _phase(given: str) -> Phase | None:
    match given.casefold():
        case "":
            return None
        case "blind" | "revealed" as phase:
            return phase
        case _:
            raise ValueError(given)


def _moment(given: str) -> datetime | None:
    if not given:
        return None
    at = datetime.fromisoformat(given)
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    if not 2000 <= at.year < 2200:
        raise ValueError(given)
    return at


def _refuse(name: str) -> object:
    raise ValueError(name)
