"""Tasks out of the workspace into files, in any format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cuecard.core.errors import NotFound
from cuecard.core.formats.keeping import left_out
from cuecard.core.i18n import _
from cuecard.core.tasks import Family, TaskLanguage
from cuecard.core.tasks.base import Frozen
from cuecard.lab.importing import format_named

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class ExportReport(Frozen):
    """What an export wrote. `left_out`: what the format cannot hold of these tasks, by its name for
    people, with how many of it there are.
    """

    format: str
    tasks: int
    files: tuple[Path, ...]
    left_out: dict[str, int]


class ExportPreview(Frozen):
    """What an export would do: the tasks that fit the format, how many others there are, and what of
    them it cannot hold.
    """

    task_ids: tuple[str, ...]
    others: int
    left_out: dict[str, int]


def preview_export(
    workspace: Workspace, task_ids: Sequence[str], format: str, *, look: bool = True
) -> ExportPreview:
    """Raises `NotFound` for an unknown id. Without `look` nothing is said of what is left out."""
    chosen = format_named(format)
    families = {s.id: s.family for s in workspace.tasks.summaries(include_retired=True)}
    unique = tuple(dict.fromkeys(task_ids))
    fitting = tuple(id_ for id_ in unique if families.get(id_) in chosen.families)
    tasks = [workspace.tasks.revision(id_).task for id_ in fitting] if look else []
    return ExportPreview(
        task_ids=fitting,
        others=len(unique) - len(fitting),
        left_out=left_out(tasks, chosen.through),
    )


def export_tasks(
    workspace: Workspace,
    folder: Path,
    *,
    format: str = "cuecard",
    task_ids: Sequence[str] | None = None,
    family: Family | None = None,
    language: TaskLanguage | None = None,
) -> ExportReport:
    """Write the newest revisions into `folder` (made if absent): those named, or all that are in
    use. Raises `NotFound` for an unknown id, `CuecardError` if the format cannot hold a task or
    nothing is left to write.
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
            in_app=_("i on the list of tasks brings tasks in."),
        )
    files = chosen.write_tasks(tasks, folder)
    return ExportReport(
        format=chosen.name,
        tasks=len(tasks),
        files=tuple(files),
        left_out=left_out(tasks, chosen.through),
    )
