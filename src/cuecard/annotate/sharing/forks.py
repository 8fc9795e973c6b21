"""Newest revisions that stand side by side: what they have in common, and one made of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cuecard.annotate.authoring.validity import as_task
from cuecard.core.review import RevisionNode, tips_of

if TYPE_CHECKING:
    from cuecard.core.tasks import Task
    from cuecard.store.records import Revision
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class Tip:
    """A newest revision; `authors` as the reader may know them."""

    revision: Revision
    authors: tuple[str, ...]

    @property
    def data(self) -> dict[str, Any]:
        return self.revision.task.model_dump(mode="json")


@dataclass(frozen=True)
class Fork:
    """Two newest revisions: `mine` is what this person saved, else the head. `base`: the data of what
    both stand on, of revision `base_number` (0: they have nothing in common); `more`: further newest
    revisions besides these.
    """

    task_id: str
    head: int
    mine: Tip
    theirs: Tip
    base: dict[str, Any]
    base_number: int
    more: int = 0

    @property
    def other(self) -> int:
        """The number of the one that is not the head."""
        numbers = (self.mine.revision.number, self.theirs.revision.number)
        return next(number for number in numbers if number != self.head)


def fork_of(workspace: Workspace, task_id: str, person: str) -> Fork | None:
    """The head and the newest revision beside it; None when there is only one. Raises `NotFound`."""
    log = workspace.reviews.seen_log(person, task_id)
    tips = tips_of(log.revisions)
    if len(tips) < 2:
        return None
    head, other = tips[:2]
    mine, theirs = (head, other)
    if person in other.authors and person not in head.authors:
        mine, theirs = other, head
    began = common_ancestor(log.revisions, head, other)
    base: dict[str, Any] = {}
    if began is not None:
        base = workspace.tasks.revision(task_id, began.number).task.model_dump(mode="json")
    first, second = (
        Tip(workspace.tasks.revision(task_id, node.number), tuple(filter(None, node.authors)))
        for node in (mine, theirs)
    )
    if not base and first.revision.task.family == second.revision.task.family:
        base = {"gold": {"family": first.revision.task.family}}
    return Fork(
        task_id=task_id,
        head=head.number,
        mine=first,
        theirs=second,
        base=base,
        base_number=began.number if began else 0,
        more=len(tips) - 2,
    )


def join_fork(
    workspace: Workspace, fork: Fork, data: Mapping[str, Any], person: str, message: str = ""
) -> Revision:
    """Save `data` as a revision that stands on both. Raises `FileProblems` when it is no task,
    `Conflict` when the head is another one by now.
    """
    task: Task = as_task(data)
    return workspace.tasks.save(
        task, author=person, message=message.strip(), base=fork.head, also=(fork.other,)
    )


def common_ancestor(
    revisions: Sequence[RevisionNode], one: RevisionNode, other: RevisionNode
) -> RevisionNode | None:
    """The newest revision that both stand on, and that nothing else which both stand on stands on."""
    nodes = {node.uid: node for node in revisions}
    common = _below(nodes, one) & _below(nodes, other)
    stood_on = {parent for uid in common for parent in nodes[uid].parents}
    tops = [nodes[uid] for uid in common - stood_on]
    return max(tops, key=lambda node: node.order, default=None)


def _below(nodes: Mapping[str, RevisionNode], start: RevisionNode) -> set[str]:
    """What a revision stands on, itself included."""
    found: set[str] = set()
    todo = [start.uid]
    while todo:
        uid = todo.pop()
        if uid in nodes and uid not in found:
            found.add(uid)
            todo += nodes[uid].parents
    return found
