"""WideSearch: table tasks as JSON lines, gold tables as CSV files that come back byte for byte while the table is unchanged, and
the responses of trials.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pydantic import JsonValue

from cuecard.core.errors import system_words
from cuecard.core.families.table.gold import Column, Metric, Table
from cuecard.core.formats import base
from cuecard.core.formats.files import SUFFIXES, Entry, Obj, read_file, write_lines
from cuecard.core.formats.round_trip import PRIVATE, Codec, Refused, exported, imported
from cuecard.core.formats.trajectory import Trajectory, as_openai, chat_of
from cuecard.core.i18n import N_, _, plural
from cuecard.core.system import write_text
from cuecard.core.tasks.gold import narrow
from cuecard.core.tasks.models import Foreign, Task
from cuecard.core.tasks.yaml_io import MAX_FILE_BYTES

NAME = "widesearch"
FAMILIES = ("table",)
_GOLD = f"{PRIVATE}gold"
_PATTERNS = ("widesearch.jsonl", "*.jsonl")
_PLACES = (
    (r"^id$", "instance_id"),
    (r"^gold\.(unique_columns|rows)\b", r"\1"),
    (r"^gold\.columns\[(\d+)\]\.name$", r"evaluation.required[\1]"),
    (r"^gold\.columns\[(\d+)\]", r"evaluation.eval_pipeline[\1]"),
    (r"^gold\.columns$", "evaluation.required"),
    (r"^gold\.", ""),
)


def _read_file(path: Path) -> base.TasksRead:
    return base.collect(read_file(path), _imported, _PLACES)


def write_tasks(tasks: Sequence[Task], folder: Path) -> list[Path]:
    """One `widesearch.jsonl` and a `widesearch_gold/*.csv` a task. Raises `CuecardError`."""
    base.check_family(tasks, NAME, FAMILIES)
    objects: list[Obj] = []
    paths: list[Path] = []
    for task in tasks:
        objects.append(_object(task))
        # The reader finds the table by the id that stands in the line.
        name = f"{objects[-1].get('instance_id', task.id)}.csv"
        path = folder / "widesearch_gold" / (name if Path(name).name == name else f"{task.id}.csv")
        paths.append(write_text(path, _gold_text(task)))
    return [write_lines(folder / "widesearch.jsonl", objects), *paths]


def read_responses(path: Path) -> base.ResponsesRead:
    """Responses of a file of JSON lines, or of a folder of such files."""
    return base.collect_responses(path, id_key="instance_id", sample_key="trial_idx")


def recognises(obj: Obj) -> bool:
    return "instance_id" in obj and ("evaluation" in obj or "response" in obj)


def _imported(entry: Entry) -> Task:
    instance_id = entry.data.get("instance_id")
    base.task_id_of(instance_id, "instance_id")
    return _joined(entry.data, read_gold(find_gold(entry.path, str(instance_id).strip())))


def _through(task: Task) -> Task:
    return _joined(_object(task), parse_gold(_gold_text(task), ""))


def _object(task: Task) -> Obj:
    table = narrow(task.gold, Table)
    return _tidied(exported(task, _codec(gold_of(table))), table)


def _gold_text(task: Task) -> str:
    kept = task.foreign.fields.get(_GOLD) if task.foreign else None
    return written(
        narrow(task.gold, Table), cast(dict[str, Any], kept) if isinstance(kept, dict) else None
    )


def _joined(obj: Obj, gold: Gold) -> Task:
    task = imported(obj, _codec(gold))
    kept = kept_of(gold, narrow(task.gold, Table))
    if kept is None or task.foreign is None:
        return task
    foreign = Foreign(format=NAME, fields={**task.foreign.fields, _GOLD: kept})
    return Task.model_validate({**dict(task), "foreign": foreign})


def _codec(gold: Gold) -> Codec:
    return Codec(NAME, lambda obj: _build(obj, gold), _render)


def _build(obj: Obj, gold: Gold) -> Task:
    evaluation = base.decoded(obj.get("evaluation"), "evaluation")
    required = _names(evaluation, "required")
    by_fold = {fold(name): name for name in required}
    unique = _names(evaluation, "unique_columns")
    wrong = [
        (f"evaluation.unique_columns[{i}]", _("{name!r} is not a column").format(name=name))
        for i, name in enumerate(unique)
        if fold(name) not in by_fold
    ]
    places = [gold.column(name) for name in required]
    wrong += [
        (f"evaluation.required[{i}]", _("the gold table has no column {name!r}").format(name=name))
        for i, name in enumerate(required)
        if places[i] is None
    ]
    if wrong:
        raise Refused(*wrong)
    pipeline = base.decoded(evaluation.get("eval_pipeline"), "evaluation.eval_pipeline")
    steps = {fold(name): step for name, step in pipeline.items()}
    indices = cast(list[int], places)
    return base.make_task(
        {
            "id": base.task_id_of(obj.get("instance_id"), "instance_id"),
            "title": base.title_of(obj.get("query"), obj.get("instance_id")),
            "language": base.language_of(obj.get("language"), obj.get("query")),
            "query": obj.get("query"),
            "gold": {
                "family": "table",
                "columns": [_column(name, steps.get(fold(name))) for name in required],
                "unique_columns": [by_fold[fold(name)] for name in unique],
                "rows": [[row[index] for index in indices] for row in gold.rows],
            },
        }
    )


def _names(evaluation: Obj, key: str) -> list[str]:
    place = f"evaluation.{key}"
    value = evaluation.get(key)
    if value is None:
        raise Refused((place, _("is missing")))
    items = cast(list[object], value) if isinstance(value, list) else [value]
    wrong = [f"{place}[{i}]" for i, item in enumerate(items) if not isinstance(item, str)]
    if wrong:
        raise Refused(*((where, _("must be text")) for where in wrong))
    return [str(item) for item in items]


def _column(name: str, step: object) -> Obj:
    fields = base.decoded(step, f"evaluation.eval_pipeline.{name}")
    column: Obj = {"name": name, "criterion": base.scalar(fields.get("criterion"))}
    for key in ("preprocess", "metric"):
        value = fields.get(key)
        column[key] = [value] if isinstance(value, str) else value
    return column


def _render(task: Task) -> Obj:
    table = narrow(task.gold, Table)
    return {
        "instance_id": task.id,
        "query": task.query,
        "evaluation": {
            "required": list(table.column_names),
            "unique_columns": list(table.unique_columns),
            "eval_pipeline": {column.name: _step(column) for column in table.columns},
        },
        "language": task.language,
    }


def _step(column: Column) -> Obj:
    step: Obj = {
        "preprocess": [preprocess.value for preprocess in column.preprocess],
        "metric": [metric.value for metric in column.metric],
    }
    if column.criterion:
        step["criterion"] = column.criterion
        if Metric.NUMBER_NEAR in column.metric or Metric.DATE_NEAR in column.metric:
            step["criterion"] = _number(column.criterion)
    return step


def _number(text: str) -> object:
    """A tolerance as the number it stands for, if it stands for one in JSON's way of writing."""
    try:
        number = float(text)
    except ValueError:
        return text
    if text == str(number):
        return number
    return int(text) if text.lstrip("-").isdecimal() and text == str(int(text)) else text


def _tidied(obj: Obj, table: Table) -> Obj:
    """After an edit a column's step may stand twice, under its old and its new spelling."""
    evaluation = obj.get("evaluation")
    pipeline = cast(Obj, evaluation).get("eval_pipeline") if isinstance(evaluation, dict) else None
    if isinstance(pipeline, dict):
        steps = cast(Obj, pipeline)
        rendered = {fold(name): name for name in table.column_names}
        for name in [n for n in steps if rendered.get(fold(n), n) in steps]:
            if rendered.get(fold(name), name) != name:
                del steps[name]
    return obj


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


FORMAT = base.Format(
    name=NAME,
    title=N_("WideSearch: JSON lines, gold tables as widesearch_gold/*.csv"),
    families=FAMILIES,
    suffixes=SUFFIXES,
    patterns=_PATTERNS,
    id_place="instance_id",
    through=_through,
    made_up=("title",),
    read_file=_read_file,
    write_tasks=write_tasks,
    recognises=recognises,
    read_responses=read_responses,
)


def line_of(trajectory: Trajectory) -> dict[str, JsonValue]:
    """A line of a file of responses."""
    messages = chat_of(trajectory.events, trajectory.prompts)
    return {
        "instance_id": trajectory.task.id,
        "response": trajectory.response,
        "messages": [as_openai(message) for message in messages],
        "trial_idx": trajectory.sample,
    }
