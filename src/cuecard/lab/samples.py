"""The tasks that come with Cuecard: demo, fixture and documentation at once."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from cuecard.core.tasks import Task
from cuecard.core.tasks.yaml_io import parse_task
from cuecard.store.records import Revision

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

FOLDER = "sample_tasks"


def sample_names() -> tuple[str, ...]:
    """The file names of the sample tasks, sorted."""
    folder = resources.files("cuecard") / FOLDER
    return tuple(sorted(f.name for f in folder.iterdir() if f.name.endswith((".yaml", ".yml"))))


@cache
def load_sample(name: str) -> Task:
    """The sample task in the packaged file `name`. Raises `FileProblems` if it is damaged."""
    text = (resources.files("cuecard") / FOLDER / name).read_text(encoding="utf-8")
    return parse_task(text, f"{FOLDER}/{name}")


def load_samples() -> tuple[Task, ...]:
    """All sample tasks, in the order of their files."""
    return tuple(load_sample(name) for name in sample_names())


def import_samples(workspace: Workspace, by: str) -> tuple[Revision, ...]:
    """Put the sample tasks into the workspace. What is there already and unchanged stays; a sample
    that somebody has edited is left as they made it.
    """
    known = {summary.id for summary in workspace.tasks.summaries(include_retired=True)}
    return tuple(
        workspace.tasks.revision(task.id)
        if task.id in known
        else workspace.tasks.save(task, author=by, message="sample")
        for task in load_samples()
    )
