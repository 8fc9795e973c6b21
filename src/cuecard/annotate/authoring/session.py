"""Opening, drafting and saving a task: what the editor asks of the workspace, off the screen's thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.validity import as_task
from cuecard.core.errors import Conflict, CuecardError, NotFound
from cuecard.core.i18n import _
from cuecard.core.tasks import Origin
from cuecard.core.tasks.ids import id_problem

if TYPE_CHECKING:
    from cuecard.store.records import Revision, TaskState
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class Opened:
    """An edit as it begins. `restored`: when the draft that it goes on from was written; `newest`:
    the newest revision, which may be later than the one that the edit is based on; `crashed`: whether
    the program ended while the draft was being written.
    """

    edit: TaskEdit
    restored: datetime | None
    newest: Revision | None
    state: TaskState | None
    crashed: bool = False


def open_task(ws: Workspace, task_id: str, person: str) -> Opened:
    """Go on from this person's draft, else from the newest revision. Raises `NotFound`."""
    draft = ws.drafts.get(task_id, person)
    try:
        newest = ws.tasks.revision(task_id)
    except NotFound:
        if draft is None:
            raise
        edit = TaskEdit(draft.data, origins=draft.origins)
        # A draft that was left as it was written has only just been begun.
        restored = None if draft.left_at == draft.updated_at else draft.updated_at
        return Opened(edit, restored, None, None, draft.left_at is None)
    state = ws.reviews.state(task_id)
    current = newest.task.model_dump(mode="json")
    if draft is None or draft.data == current:
        return Opened(TaskEdit(current, base=newest.number, saved=current), None, newest, state)
    saved: dict[str, Any] | None = current
    if draft.base != newest.number:
        saved = _data_of(ws, task_id, draft.base)
    edit = TaskEdit(draft.data, base=draft.base, saved=saved, origins=draft.origins)
    return Opened(edit, draft.updated_at, newest, state, draft.left_at is None)


def keep_draft(
    ws: Workspace,
    person: str,
    base: int,
    data: dict[str, Any],
    changed: bool,
    origins: Sequence[Origin] = (),
) -> None:
    """Write the draft; one that says nothing beyond its revision is dropped instead."""
    task_id = str(data["id"])
    if changed:
        ws.drafts.keep(task_id, person, base, data, origins=origins)
    else:
        ws.drafts.discard(task_id, person)


def save_revision(
    ws: Workspace,
    person: str,
    base: int,
    data: Mapping[str, Any],
    message: str,
    origins: Sequence[Origin] = (),
) -> Revision:
    """Make the data the newest revision. Raises `FileProblems`, and `Conflict` if somebody else
    saved since `base`; the draft stays until it is discarded.
    """
    return ws.tasks.save(
        as_task(data), author=person, message=message.strip(), base=base, origins=origins
    )


def begin_task(
    ws: Workspace, person: str, data: dict[str, Any], origins: Sequence[Origin] = ()
) -> None:
    """Keep a new task as a draft; `origins`: what a machine drafted in it. Raises `Conflict` when the
    id is taken, by anybody's task or by another draft of this person, and `CuecardError` when it is
    none.
    """
    task_id = str(data["id"])
    if reason := id_problem(task_id):
        raise CuecardError(_("This cannot be an id"), f"{task_id} {reason}")
    try:
        ws.tasks.revision(task_id)
    except NotFound:
        if ws.drafts.get(task_id, person) is None:
            ws.drafts.save(task_id, person, 0, data, origins=origins, left=True)
            return
    raise Conflict(
        _("There is already a task with this id"),
        task_id,
        _("Choose another id, or open that task."),
    )


def rename_draft(ws: Workspace, person: str, data: dict[str, Any], new_id: str) -> dict[str, Any]:
    """Move the draft of a task that was never saved to another id. Raises `Conflict`."""
    renamed = {**data, "id": new_id}
    begin_task(ws, person, renamed)
    ws.drafts.discard(str(data["id"]), person)
    ws.effort.move(str(data["id"]), person, new_id)
    return renamed


def _data_of(ws: Workspace, task_id: str, number: int) -> dict[str, Any] | None:
    return ws.tasks.revision(task_id, number).task.model_dump(mode="json") if number else None
