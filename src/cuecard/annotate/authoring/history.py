"""The past of a task as one person may see it: its revisions, and the drafts that they threw away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, cast

from cuecard.core.tasks import Origin

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class Version:
    """A revision (`number` is its), or a draft that was thrown away (`number` is that of the revision
    it was based on, `thrown` its id).
    """

    kind: Literal["revision", "thrown"]
    number: int
    author: str
    at: datetime
    message: str = ""
    hash: str = ""
    origins: tuple[Origin, ...] = ()
    thrown: int = 0

    @property
    def before(self) -> int:
        """The revision that came before it, 0 for none."""
        return self.number - 1 if self.kind == "revision" else self.number


def versions_of(ws: Workspace, task_id: str, person: str) -> list[Version]:
    """The last first. A task that was never saved has no revisions, but may have had drafts."""
    revisions = [
        Version("revision", r.number, r.author, r.created_at, r.message, r.hash, r.origins)
        for r in ws.tasks.log(task_id)
    ]
    thrown = [
        Version("thrown", d.base, d.person, d.thrown_at, origins=d.origins, thrown=d.id)
        for d in ws.drafts.thrown(person, task_id)
    ]
    return sorted([*revisions, *thrown], key=lambda version: version.at, reverse=True)


def data_of(ws: Workspace, task_id: str, person: str, version: Version) -> dict[str, Any]:
    """What a version says, as data of a task. Raises `NotFound`."""
    if version.kind == "revision":
        return revision_data(ws, task_id, version.number)
    thrown: Sequence[Any] = ws.drafts.thrown(person, task_id)
    return next(cast(dict[str, Any], draft.data) for draft in thrown if draft.id == version.thrown)


def revision_data(ws: Workspace, task_id: str, number: int) -> dict[str, Any]:
    """The data of a revision; nothing at all for number 0. Raises `NotFound`."""
    if number == 0:
        return {}
    return ws.tasks.revision(task_id, number).task.model_dump(mode="json")
