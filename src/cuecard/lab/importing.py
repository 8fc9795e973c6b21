"""Tasks from files into the workspace, and out again, in any format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cuecard.core.errors import CuecardError, FileProblem, NotFound
from cuecard.core.formats.registry import FORMATS, Format, detect
from cuecard.core.i18n import _
from cuecard.core.tasks import Family, Task, TaskLanguage
from cuecard.core.tasks.base import Frozen

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

AUTO = "auto"
# A folder in these formats is many files of one task each, so that one bad file harms no other.
_FILE_PER_TASK = ("cuecard", "vibesearch")

Outcome = Literal["new", "revised", "unchanged"]


class ImportedTask(Frozen):
    """`revision`: the number it has now. `revised`: there was another newest revision before."""

    task_id: str
    title: str
    revision: int
    outcome: Outcome


class ImportProblem(Frozen):
    """One problem of a file that was not imported."""

    file: str
    place: str
    reason: str
    line: int | None = None

    def __str__(self) -> str:
        return ": ".join(part for part in (self.file, self.place, self.reason) if part)


class ImportReport(Frozen):
    format: str
    tasks: tuple[ImportedTask, ...]
    problems: tuple[ImportProblem, ...]

    def count(self, outcome: Outcome) -> int:
        return sum(task.outcome == outcome for task in self.tasks)


def format_named(name: str, path: Path | None = None) -> Format:
    """The format of this name; for `auto`, the one that `path` is in. Raises `CuecardError`."""
    if name != AUTO:
        if name in FORMATS:
            return FORMATS[name]
        raise CuecardError(
            _("Unknown format"), name, _("formats: {names}").format(names=", ".join(FORMATS))
        )
    if path is not None and not path.exists():
        raise NotFound(_("There is no such file"), str(path))
    found = detect(path) if path is not None else None
    if found is None:
        raise CuecardError(
            _("The format of this file is not known"),
            str(path) if path else "",
            _("Name it with --format: {names}").format(names=", ".join(FORMATS)),
        )
    return FORMATS[found]


def import_path(
    workspace: Workspace, path: Path, *, format: str = AUTO, by: str, message: str = ""
) -> ImportReport:
    """Import the tasks of a file or folder. A file with a problem is not imported at all, and the
    report says what is wrong with it; what is in the workspace already and unchanged stays.

    Raises `CuecardError` when the path is absent or its format unknown.
    """
    chosen = format_named(format, path)
    if not path.exists():
        raise NotFound(_("There is no such file"), str(path))
    tasks, problems = chosen.read_tasks(path)
    whole = not (path.is_dir() and chosen.name in _FILE_PER_TASK)
    if problems and whole:
        tasks = []
    imported = save_tasks(workspace, tasks, by=by, message=message or chosen.name)
    return ImportReport(format=chosen.name, tasks=imported, problems=tuple(map(_problem, problems)))


def save_tasks(
    workspace: Workspace, tasks: Sequence[Task], *, by: str, message: str = ""
) -> tuple[ImportedTask, ...]:
    """Make each task the newest revision of its id, unless it is so already."""
    known = {summary.id: summary for summary in workspace.tasks.summaries(include_retired=True)}
    imported: list[ImportedTask] = []
    for task in tasks:
        before = known[task.id].revision if task.id in known else 0
        number = workspace.tasks.save(task, author=by, message=message).number
        outcome: Outcome = "new" if not before else "unchanged" if number == before else "revised"
        imported.append(
            ImportedTask(task_id=task.id, title=task.title, revision=number, outcome=outcome)
        )
    return tuple(imported)


def export_tasks(
    workspace: Workspace,
    folder: Path,
    *,
    format: str = "cuecard",
    task_ids: Sequence[str] | None = None,
    family: Family | None = None,
    language: TaskLanguage | None = None,
) -> list[Path]:
    """Write the newest revisions into `folder` (made if absent): those named, or all that are in
    use. Returns the files. Raises `NotFound` for an unknown id, `CuecardError` if the format cannot
    hold a task or nothing is left to write.
    """
    chosen = format_named(format)
    if task_ids is None:
        task_ids = [s.id for s in workspace.tasks.summaries(family=family, language=language)]
    tasks = [workspace.tasks.revision(task_id).task for task_id in dict.fromkeys(task_ids)]
    if not tasks:
        raise NotFound(
            _("Nothing to export"),
            _("No task fits."),
            _("`cuecard import` brings tasks in."),
        )
    return chosen.write_tasks(tasks, folder)


def _problem(problem: FileProblem) -> ImportProblem:
    return ImportProblem(
        file=problem.file, place=problem.place, reason=problem.reason, line=problem.line
    )
