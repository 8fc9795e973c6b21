"""Cuecard's own files: one YAML a task, every family, nothing lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from cuecard.core.errors import FileProblem
from cuecard.core.formats.base import Format, TasksRead
from cuecard.core.formats.json_files import write_text
from cuecard.core.i18n import N_, _
from cuecard.core.tasks.models import FAMILIES, Task
from cuecard.core.tasks.yaml_io import dump_task, load_tasks

NAME = "cuecard"
SUFFIXES = (".yaml", ".yml")


def read_tasks(path: Path) -> TasksRead:
    """Tasks of a file, or of all YAML files in a folder and below."""
    read, problems = load_tasks([path])
    tasks: list[Task] = []
    seen: dict[str, Path] = {}
    for file, task in read:
        if task.id in seen:
            reason = _("the task {id} stands in {file} too").format(id=task.id, file=seen[task.id])
            problems.append(FileProblem(str(file), "id", reason))
        else:
            seen[task.id] = file
            tasks.append(task)
    if not read and not problems:
        problems.append(FileProblem(str(path), "", _("holds no YAML files")))
    return tasks, problems


def write_tasks(tasks: Sequence[Task], folder: Path) -> list[Path]:
    """One `{id}.yaml` a task. Raises `CuecardError`."""
    return [write_text(folder / f"{task.id}.yaml", dump_task(task)) for task in tasks]


def yaml_files(folder: Path) -> Iterator[Path]:
    return (file for file in folder.rglob("*") if file.suffix in SUFFIXES and file.is_file())


FORMAT = Format(
    name=NAME,
    title=N_("Cuecard: one YAML file a task"),
    families=FAMILIES,
    read_tasks=read_tasks,
    write_tasks=write_tasks,
)
