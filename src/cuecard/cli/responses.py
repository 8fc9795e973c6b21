"""Tasks, and outputs of them that were produced elsewhere, from files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cuecard.core.errors import FileProblem, NotFound
from cuecard.core.i18n import _

if TYPE_CHECKING:
    from cuecard.core.formats.base import ResponsesRead
    from cuecard.core.tasks import Task

_IDS = ("task_id", "qid", "instance_id", "id")
_SAMPLES = ("sample", "sample_idx", "trial_idx", "sample_id")


def read_tasks(path: Path, format: str) -> tuple[list[Task], list[FileProblem]]:
    """Raises `CuecardError` when the path is absent or its format unknown."""
    from cuecard.lab.importing import format_named

    if not path.exists():
        raise NotFound(_("There is no such file"), str(path))
    return format_named(format, path).read_tasks(path)


def read_responses(path: Path, format: str) -> ResponsesRead:
    """Responses in the named format if it has a form of its own for them, else JSON lines with
    `response` and whatever these lines call the task's id and the sample. Raises `NotFound`.
    """
    from cuecard.core.formats.base import collect_responses
    from cuecard.core.formats.json_files import first_objects
    from cuecard.core.formats.registry import FORMATS

    if not path.exists():
        raise NotFound(_("There is no such file"), str(path))
    reader = FORMATS[format].read_responses if format in FORMATS else None
    if reader:
        return reader(path)
    keys = next((set(found) for found in first_objects(path, limit=1)), set[str]())
    id_key = next((key for key in _IDS if key in keys), _IDS[0])
    sample_key = next((key for key in _SAMPLES if key in keys), _SAMPLES[0])
    return collect_responses(path, id_key=id_key, sample_key=sample_key, patterns=("*.jsonl",))
