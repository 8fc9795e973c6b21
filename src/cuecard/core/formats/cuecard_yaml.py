"""Cuecard's own files: one YAML a task, every family, nothing lost; or the same as JSON, which is YAML too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cuecard.core.errors import FileProblems
from cuecard.core.formats.base import Format, TasksRead
from cuecard.core.formats.file_names import file_names
from cuecard.core.formats.json_files import write_text
from cuecard.core.i18n import N_
from cuecard.core.tasks.models import FAMILIES, Task
from cuecard.core.tasks.yaml_io import SUFFIXES, dump_task, is_task_data, is_task_file, load_task

NAME = "cuecard"


def read_tasks(path: Path) -> TasksRead:
    """Tasks of a file, or of all YAML files in a folder and below, and JSON files of ours."""
    return FORMAT.read_tasks(path)


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
