"""What reviewers said about elements of a task, and where each of those elements stands now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from cuecard.annotate.authoring.anatomy import (
    Items,
    Record,
    Shape,
    described,
    mapping,
    part,
    text_of,
)
from cuecard.annotate.authoring.task_anatomy import table_shape, task_shape
from cuecard.annotate.authoring.trees import Path, get, parse_place
from cuecard.annotate.review.following import FollowingThrough
from cuecard.core.review import TaskLog, TaskState
from cuecard.core.tasks import Task
from cuecard.core.tasks.base import Frozen
from cuecard.store.records import Comment

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class Thread(Frozen):
    """A comment with its answers, and its element as it was (`then`) and is in the newest revision
    (`now`, at `place`); a `place` of None: it is gone.
    """

    comment: Comment
    place: str | None
    then: str = ""
    now: str = ""

    @property
    def open(self) -> bool:
        return not self.comment.resolved

    @property
    def changed(self) -> bool:
        """Whether its element says something else now, or is gone; never so for the whole task."""
        return self.then != self.now


def threads_for(workspace: Workspace, person: str, task_id: str) -> tuple[Thread, ...]:
    """All comments on a task that this person may read: the open ones first, each kind in the order of
    the document, then of time. While the task is in review, only its authors are told who said what
    ("" for anybody but `person`). Raises `NotFound`.
    """
    comments = workspace.reviews.comments_for(person, task_id)
    if not comments:
        return ()
    if workspace.reviews.state(task_id) is TaskState.IN_REVIEW and person not in (
        workspace.tasks.authors(task_id)
    ):
        comments = [_nameless(comment, person) for comment in comments]
    head = workspace.tasks.revision(task_id)
    by_revision: dict[int, list[Comment]] = defaultdict(list)
    for comment in comments:
        by_revision[comment.revision].append(comment)
    log = workspace.reviews.log(task_id) if set(by_revision) != {head.number} else None
    threads: list[Thread] = []
    for number, said in by_revision.items():
        if number == head.number or log is None:
            threads += threads_of(said, head.task, head.task)
            continue
        old = workspace.tasks.revision(task_id, number).task
        between = revisions_between(log, number, head.number)
        fetch = partial(_fetch, workspace, task_id, between)
        threads += threads_of(said, old, head.task, FollowingThrough(old, head.task, fetch))
    order = {place: at for at, place in enumerate(_reading_order(threads, head.task))}
    return tuple(sorted(threads, key=lambda t: (not t.open, order[t.place or ""], t.comment.at)))


def open_comments(workspace: Workspace, person: str, task_ids: Iterable[str]) -> dict[str, int]:
    """How many comments that this person may read are not resolved, for each task that has any."""
    found: dict[str, int] = {}
    for task_id in task_ids:
        comments = workspace.reviews.comments_for(person, task_id)
        if n := sum(not comment.resolved for comment in comments):
            found[task_id] = n
    return found


def threads_of(
    comments: Sequence[Comment], old: Task, new: Task, following: FollowingThrough | None = None
) -> list[Thread]:
    """Comments on `old` with where they stand in `new`."""
    following = following or FollowingThrough(old, new, tuple)
    before, after = old.model_dump(mode="json"), new.model_dump(mode="json")
    threads: list[Thread] = []
    for comment in comments:
        place = following.follow(comment.place)
        then = text_at(before, comment.place)
        now = "" if place is None else text_at(after, place)
        threads.append(Thread(comment=comment, place=place, then=then, now=now))
    return threads


def text_at(data: Mapping[str, Any], place: str) -> str:
    """What an element says as a text; "" for the whole task, and where nothing stands."""
    path = parse_place(place)
    try:
        value: Any = get(data, path) if path else None
    except LookupError:
        return ""
    if path[:2] == ("gold", "rows") and isinstance(value, list):
        return " | ".join(map(text_of, cast(list[Any], value)))
    family = part(data.get("gold"), "family")
    shape: Shape = task_shape(family, table_shape({}, ()) if family == "table" else None)
    for name in path:
        if isinstance(shape, Items):
            shape = shape.item
        elif isinstance(shape, Record) and name in shape.fields:
            shape = shape.fields[str(name)]
        else:
            return text_of(value)
    return described(shape, value)


def revisions_between(log: TaskLog, old: int, new: int) -> tuple[int, ...]:
    """The revisions on a shortest way from `old` to `new`, both left out, the oldest first; none if
    `new` does not stand on `old`.
    """
    by_uid = {node.uid: node for node in log.revisions}
    ways: dict[int, tuple[int, ...]] = {new: ()}
    todo = [node for node in log.revisions if node.number == new]
    for node in todo:
        for parent in (by_uid[uid] for uid in node.parents if uid in by_uid):
            if parent.number not in ways:
                ways[parent.number] = (node.number, *ways[node.number])
                todo.append(parent)
    return tuple(number for number in ways.get(old, ()) if number != new)


def _nameless(comment: Comment, person: str) -> Comment:
    def named(by: str) -> str:
        return by if by == person else ""

    answers = tuple(a.model_copy(update={"by": named(a.by)}) for a in comment.answers)
    return comment.model_copy(update={"by": named(comment.by), "answers": answers})


def _fetch(workspace: Workspace, task_id: str, numbers: Sequence[int]) -> list[Task]:
    return [workspace.tasks.revision(task_id, number).task for number in numbers]


def _reading_order(threads: Sequence[Thread], task: Task) -> list[str]:
    """The places of threads in the order of the task's data, the whole task first."""
    data = task.model_dump(mode="json")
    places = {thread.place or "" for thread in threads}
    return sorted(places, key=lambda place: _position(data, parse_place(place)))


def _position(data: Any, path: Path) -> list[int]:
    found: list[int] = []
    for step in path:
        if isinstance(step, int):
            found.append(step)
        else:
            names = list(mapping(data))
            found.append(names.index(step) if step in names else len(names))
        try:
            data = get(data, (step,))
        except LookupError:
            data = None
    return found
