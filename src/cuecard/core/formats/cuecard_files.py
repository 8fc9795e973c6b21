"""Cuecard's own files: one YAML or JSON file per task, and one JSON line per trial with everything recorded of it."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import JsonValue

from cuecard.core.errors import FileProblems
from cuecard.core.formats.base import Format, TasksRead
from cuecard.core.formats.files import file_names
from cuecard.core.formats.trajectory import Judged, Trajectory, as_openai, chat_of
from cuecard.core.i18n import N_
from cuecard.core.system import write_text
from cuecard.core.tasks.models import FAMILIES, Task
from cuecard.core.tasks.yaml_io import SUFFIXES, dump_task, is_task_data, is_task_file, load_task

NAME = "cuecard"


def write_tasks(tasks: Sequence[Task], folder: Path) -> list[Path]:
    """One `{id}.yaml` a task. Raises `CuecardError`."""
    names = file_names([task.id for task in tasks], ".yaml")
    return [
        write_text(folder / name, dump_task(task)) for task, name in zip(tasks, names, strict=True)
    ]


def _read_file(path: Path) -> TasksRead:
    try:
        return [load_task(path)], []
    except FileProblems as error:
        return [], list(error.problems)


FORMAT = Format(
    name=NAME,
    title=N_("Cuecard: one YAML file a task"),
    families=FAMILIES,
    suffixes=SUFFIXES,
    deep=True,
    belongs=is_task_file,
    recognises=is_task_data,
    read_file=_read_file,
    write_tasks=write_tasks,
)


SCHEMA = "cuecard.trial/2"
_PLAYERS = ("agent", "user", "world")


def line_of(trajectory: Trajectory) -> dict[str, JsonValue]:
    """One trial as a JSON object, with its texts in full."""
    data = trajectory.model_dump(mode="json", include=set(_PLAYERS))
    task = trajectory.task
    return {
        "schema": SCHEMA,
        "run": {"name": trajectory.run, "uid": trajectory.run_uid},
        "trial": trajectory.uid,
        "task": task.id,
        "title": task.title,
        "family": trajectory.family,
        "language": task.language,
        "revision": {"number": trajectory.revision, "hash": trajectory.revision_hash},
        "sample": trajectory.sample,
        "seed": trajectory.seed,
        **{part: data[part] for part in _PLAYERS},
        "termination": {"reason": trajectory.termination.value, "detail": trajectory.detail},
        "created_at": trajectory.created_at.isoformat(),
        "ended_at": trajectory.ended_at.isoformat(),
        "takes": trajectory.takes,
        "messages": [as_openai(m) for m in chat_of(trajectory.events, trajectory.prompts)],
        "events": [event.model_dump(mode="json") for event in trajectory.events],
        "prediction": trajectory.prediction.model_dump(mode="json"),
        "response": trajectory.response,
        "judgements": [_judged(judged) for judged in trajectory.judged],
        "usage": [payment.model_dump(mode="json") for payment in trajectory.payments],
        "prompts": dict(trajectory.prompts),
    }


def _judged(judged: Judged) -> dict[str, JsonValue]:
    data = judged.judgement.model_dump(mode="json")
    for verdict, given in zip(data["verdicts"], judged.judgement.verdicts, strict=True):
        verdict["key"] = given.item.key
    measures: dict[str, JsonValue] = {
        m.name: {"value": m.value, "n": m.n, **({"reason": m.reason} if m.value is None else {})}
        for m in judged.measures
    }
    return {**data, "measures": measures}
