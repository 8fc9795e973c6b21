"""WideSearch's gold tables: CSV files that come back byte for byte while the table is unchanged."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from cuecard.core.errors import system_words
from cuecard.core.families.table.gold import Table
from cuecard.core.formats.round_trip import Refused
from cuecard.core.i18n import _, plural
from cuecard.core.tasks.yaml_io import MAX_FILE_BYTES

_BOM = "\ufeff"
# A cell that begins with a byte order mark would lose it at the start of a file.
_SPECIAL = re.compile(rf'[,"\r\n]|^{_BOM}')


@dataclass(frozen=True)
class Gold:
    """A CSV file as rows of text: every row as long as the header; `text` is the file itself."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text: str = ""

    def column(self, name: str) -> int | None:
        """The index of a column by its folded name."""
        folded = fold(name)
        return next((i for i, header in enumerate(self.header) if fold(header) == folded), None)


def fold(name: str) -> str:
    """Column names compare after strip, lower and removal of blanks (FORMATS: widesearch)."""
    return "".join(name.split()).lower()


def gold_of(table: Table) -> Gold:
    return Gold(table.column_names, table.rows)


def find_gold(tasks_file: Path, instance_id: str) -> Path:
    """Where the gold of a task lies: `widesearch_gold/{id}.csv` beside the tasks or one level up.
    Raises `Refused` when it is nowhere, or when the id would lead out of the folder.
    """
    name = f"{instance_id}.csv"
    if Path(name).name != name or "\\" in name or "\0" in name:
        raise Refused(("instance_id", _("{id!r} cannot be a file's name").format(id=instance_id)))
    folder = tasks_file.parent
    for place in (folder / "widesearch_gold", folder.parent / "widesearch_gold", folder):
        try:
            if (place / name).is_file():
                return place / name
        except OSError as error:
            # Longer than a name may be.
            raise Refused(("instance_id", system_words(error))) from error
    raise Refused((f"widesearch_gold/{name}", _("there is no such file")))


def read_gold(path: Path) -> Gold:
    """Raises `Refused` with every row that does not fit the header."""
    place = f"{path.parent.name}/{path.name}"
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise Refused((place, _("is larger than 32 MB; split it or remove pasted pages")))
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused((place, _("is not UTF-8 text; save it as UTF-8"))) from error
    except OSError as error:
        raise Refused((place, system_words(error))) from error
    return parse_gold(text, place)


def parse_gold(text: str, place: str) -> Gold:
    """Short rows are filled up; a row with more cells than columns is refused."""
    reader = csv.reader(io.StringIO(text.removeprefix(_BOM), newline=""))
    rows: list[tuple[str, ...]] = []
    wrong: list[tuple[str, str]] = []
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            width = len(rows[0]) if rows else len(cells)
            if any(cell.strip() for cell in cells[width:]):
                reason = plural(
                    "has {n} cell, not {expected}",
                    "has {n} cells, not {expected}",
                    len(cells),
                    expected=width,
                )
                wrong.append((f"{place} {_('line {line}').format(line=reader.line_num)}", reason))
            rows.append((*cells[:width], *[""] * (width - len(cells))))
    except csv.Error as error:
        wrong.append((place, _("is not CSV: {error}").format(error=error)))
    if wrong:
        raise Refused(*wrong)
    if len(rows) < 2:
        raise Refused((place, _("holds no rows")))
    header = rows[0]
    folded = [fold(name) for name in header]
    doubles = [name for i, name in enumerate(header) if name.strip() and folded[i] in folded[:i]]
    if doubles:
        raise Refused((place, _("{name!r} is listed twice").format(name=doubles[0])))
    return Gold(header, tuple(rows[1:]), text)


def kept_of(gold: Gold, table: Table) -> dict[str, Any] | None:
    """What to keep so that `written` gives the file's own text back: how it is written where that is
    enough, else the text itself; None when the usual way of writing gives it.
    """
    text = gold.text.removeprefix(_BOM)
    plain: dict[str, Any] = {}
    if gold.text.startswith(_BOM):
        plain["bom"] = True
    if not text.endswith("\n"):
        plain["open"] = True
    if gold.header != table.column_names:
        plain["header"] = list(gold.header)
    ways: list[dict[str, Any]] = [
        {**plain, **eol, **quoting}
        for eol in ({}, {"eol": "\r\n"})
        for quoting in ({}, {"quoting": "all"})
    ]
    for way in ways:
        if written(table, way) == gold.text:
            return way or None
    eol = {"eol": "\r\n"} if "\r\n" in text else {}
    return {**plain, **eol, "text": gold.text}


def written(table: Table, kept: dict[str, Any] | None) -> str:
    """The table as CSV text, in the way that `kept_of` kept."""
    kept = kept or {}
    text = kept.get("text")
    old = _parsed(text) if isinstance(text, str) else None
    if old is not None and _unchanged(old, table):
        return str(text)
    header = [str(name) for name in cast(list[object], kept.get("header") or [])]
    names = {fold(name): index for index, name in enumerate(table.column_names)}
    known = [name for name in header if fold(name) in names or old is not None]
    present = {fold(name) for name in known}
    columns = [*known, *(name for name in table.column_names if fold(name) not in present)]
    others = _by_key(old, table) if old is not None else {}
    rows: list[list[str]] = [columns]
    for row in table.rows:
        rest = others.get(table.key_of(row), {})
        rows.append(
            [row[names[f]] if (f := fold(n)) in names else rest.get(f, "") for n in columns]
        )
    return _csv(rows, kept)


def _csv(rows: Sequence[Sequence[str]], kept: dict[str, Any]) -> str:
    """The standard library's writer leaves a bare carriage return unquoted, and loses the cell."""
    eol = "\r\n" if kept.get("eol") == "\r\n" else "\n"
    all_quoted = kept.get("quoting") == "all"
    lines = [",".join(_cell(cell, all_quoted or row == [""]) for cell in row) for row in rows]
    end = "" if kept.get("open") else eol
    return (_BOM if kept.get("bom") else "") + eol.join(lines) + end


def _cell(text: str, quoted: bool) -> str:
    if quoted or _SPECIAL.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def _parsed(text: str) -> Gold | None:
    try:
        return parse_gold(text, "")
    except Refused:
        return None


def _unchanged(old: Gold, table: Table) -> bool:
    indices = [old.column(name) for name in table.column_names]
    if None in indices:
        return False
    places = cast(list[int], indices)
    return tuple(tuple(row[i] for i in places) for row in old.rows) == table.rows


def _by_key(old: Gold, table: Table) -> dict[tuple[str, ...], dict[str, str]]:
    """The old file's rows by the table's key, for the columns that the table does not have."""
    keys = [old.column(name) for name in table.unique_columns]
    if None in keys:
        return {}
    places = cast(list[int], keys)
    folded = [fold(name) for name in old.header]
    return {tuple(row[i] for i in places): dict(zip(folded, row, strict=True)) for row in old.rows}
