"""WideSearch: table tasks as JSON lines, and the responses of trials."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import JsonValue

from cuecard.core.families.table.gold import Column, Metric, Table
from cuecard.core.formats import base
from cuecard.core.formats.files import SUFFIXES, Entry, Obj, read_file, write_lines
from cuecard.core.formats.round_trip import PRIVATE, Codec, Refused, exported, imported
from cuecard.core.formats.trajectory import Trajectory, as_openai, chat_of
from cuecard.core.formats.widesearch_gold import (
    Gold,
    find_gold,
    fold,
    gold_of,
    kept_of,
    parse_gold,
    read_gold,
    written,
)
from cuecard.core.i18n import N_, _
from cuecard.core.system import write_text
from cuecard.core.tasks.gold import narrow
from cuecard.core.tasks.models import Foreign, Task

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
