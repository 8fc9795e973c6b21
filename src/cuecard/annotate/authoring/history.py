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
    it was based on, `thrown` its id). `before`: the revision that it stands on, 0 for none. `author` ""
    while who reads it must not know.
    """

    kind: Literal["revision", "thrown"]
    number: int
    author: str
    at: datetime
    message: str = ""
    hash: str = ""
    origins: tuple[Origin, ...] = ()
    thrown: int = 0
    before: int = 0


def versions_of(ws: Workspace, task_id: str, person: str) -> list[Version]:
    """The last first. A task that was never saved has no revisions, but may have had drafts."""
    lines = ws.tasks.log(task_id)
    seen = ws.reviews.seen_log(person, task_id).revisions if lines else ()
    nodes = {node.number: node for node in seen}
    numbers = {node.uid: node.number for node in seen}
    versions: list[Version] = []
    for line in lines:
        node = nodes[line.number]
        masked = not node.authors[0]
        versions.append(
            Version(
                "revision",
                line.number,
                "" if masked else line.author,
                line.created_at,
                "" if masked else line.message,
                line.hash,
                () if masked else line.origins,
                before=max((numbers[uid] for uid in node.parents), default=0),
            )
        )
    versions += (
        Version(
            "thrown", d.base, d.person, d.thrown_at, origins=d.origins, thrown=d.id, before=d.base
        )
        for d in ws.drafts.thrown(person, task_id)
    )
    return sorted(versions, key=lambda version: version.at, reverse=True)


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
