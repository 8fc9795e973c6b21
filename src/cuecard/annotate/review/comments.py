"""Comments on elements of a task: finding the element in later revisions, and answering and resolving comments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, cast

from cuecard.annotate.authoring.changes import Data, Versions, shape_of
from cuecard.annotate.authoring.schema import Items, Record, Shape, described, mapping, text_of
from cuecard.annotate.authoring.task_data import Path, get, parse_place
from cuecard.core.contributions import Answered, Commented, Contribution, Reviewed, TaskState
from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import _
from cuecard.core.records import Comment, Review
from cuecard.core.review import TaskLog, standing_of
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task
from cuecard.core.validation import format_place

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class PlaceMapping:
    """Where elements of one version stand in another. Items of lists are recognised by content; see `authoring.diff`."""

    def __init__(self, old: Data, new: Data) -> None:
        """`old` and `new`: the data of two versions; the new one need not be valid."""
        self._same = old == new
        self._old, self._new = old, new
        self._versions = Versions(old, new)
        self._now: dict[Path, dict[int, int]] = {}

    @classmethod
    def of(cls, old_task: Task, new_task: Task) -> PlaceMapping:
        """Between two tasks."""
        return cls(old_task.model_dump(mode="json"), new_task.model_dump(mode="json"))

    def follow(self, place: str) -> str | None:
        """The place in the new version of the element at `place` in the old one; None if it is gone."""
        path = parse_place(place)
        try:
            get(self._old, path)
            if self._same:
                return place
            there = self._walk(path)
            get(self._new, there)
        except LookupError:
            return None
        return format_place(there)

    def _walk(self, path: Path) -> Path:
        """Raises `LookupError` where an item of a list is gone."""
        if (cell := self._versions.cell(path)) is not None:
            return (*self._walk(path[:-1]), cell)
        shape: Shape | None = self._versions.shape
        old, new = self._versions.trees
        there: Path = ()
        for depth, step in enumerate(path):
            if isinstance(shape, Items) and isinstance(step, int):
                olds, news = get(old, path[:depth]), get(new, there)
                there = (*there, self._items(shape, path[:depth], there, olds, news)[step])
                shape = shape.item
            else:
                there = (*there, step)
                inside = shape.fields if isinstance(shape, Record) else dict[str, Shape]()
                shape = inside.get(step) if isinstance(step, str) else None
        return there

    def _items(self, shape: Items, here: Path, there: Path, olds: Any, news: Any) -> dict[int, int]:
        """By index of the old list at `here`, the index of the same item in the new one at `there`."""
        if here not in self._now:
            if not isinstance(olds, list) or not isinstance(news, list):
                raise KeyError(here)
            lists = cast(Sequence[Sequence[Any]], [olds, news])
            ids = self._versions.ids(there, shape, lists)
            at = {known: index for index, known in enumerate(ids[1])}
            self._now[here] = {
                index: at[known] for index, known in enumerate(ids[0]) if known in at
            }
        return self._now[here]


class FollowingThrough:
    """As `PlaceMapping`, but through the revisions in between, oldest first, if the direct way fails: an element rewritten
    in small steps is found by way of them. They are read only if needed.
    """

    def __init__(
        self, old_task: Task, new_task: Task, between: Callable[[], Sequence[Task]]
    ) -> None:
        self._ends = old_task, new_task
        self._direct = PlaceMapping.of(old_task, new_task)
        self._between = between
        self._steps: list[PlaceMapping] | None = None

    def follow(self, place: str) -> str | None:
        """As the function `follow`."""
        if (found := self._direct.follow(place)) is not None:
            return found
        if self._steps is None:
            old_task, new_task = self._ends
            tasks = self._between()
            steps = pairwise([old_task, *tasks, new_task]) if tasks else ()
            self._steps = [PlaceMapping.of(old, new) for old, new in steps]
        here: str | None = place if self._steps else None
        for step in self._steps:
            here = step.follow(here) if here is not None else None
        return here


class Thread(Frozen):
    """A comment with its answers, and its element as it was (`then`) and as it is in the newest revision (`now`, at
    `place`; None: it is gone).
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
        """Whether its element has another content now, or is gone; never for the whole task."""
        return self.then != self.now


@dataclass(frozen=True)
class Comments:
    """What was said about a task, as `reader` may see it. `task`: the newest revision, of `authors`. `reviews`: those of
    the newest revision that was decided.
    """

    reader: str
    threads: tuple[Thread, ...]
    task: Task
    authors: frozenset[str]
    state: TaskState
    reviews: tuple[Review, ...] = ()

    @cached_property
    def data(self) -> dict[str, Any]:
        """The task's."""
        return self.task.model_dump(mode="json")

    def turns(self, thread: Thread) -> Collection[Turn]:
        """What the reader may do with a comment."""
        return may_turn(thread, self.reader, self.authors, self.state)


def comments_for(workspace: Workspace, reader: str, task_id: str) -> Comments | None:
    """None where there is nothing to read. Raises `NotFound`."""
    if not (threads := threads_for(workspace, reader, task_id)):
        return None
    task, authors = workspace.tasks.revision(task_id).task, workspace.tasks.authors(task_id)
    seen = workspace.reviews.visible_to(reader, task_id) if reader in authors else []
    newest = max((given.revision for given in seen), default=0)
    reviews = tuple(given for given in seen if given.revision == newest)
    return Comments(reader, threads, task, authors, workspace.reviews.state(task_id), reviews)


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
    """The content of an element as text; "" for the whole task, or if there is none."""
    path = parse_place(place)
    try:
        value: Any = get(data, path) if path else None
    except LookupError:
        return ""
    if path[:2] == ("gold", "rows") and isinstance(value, list):
        return " | ".join(map(text_of, cast(list[Any], value)))
    shape: Shape = shape_of(data)
    for name in path:
        if isinstance(shape, Items):
            shape = shape.item
        elif isinstance(shape, Record) and name in shape.fields:
            shape = shape.fields[str(name)]
        else:
            return text_of(value)
    return described(shape, value)


def revisions_between(log: TaskLog, old: int, new: int) -> tuple[int, ...]:
    """The revisions on a shortest path from `old` to `new`, without these, oldest first; empty if `new` does not
    descend from `old`.
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


Turn = Literal["", "resolved", "open"]


def answer(
    workspace: Workspace,
    comment: Comment,
    by: str,
    text: str,
    *,
    turns: Turn = "",
    at: datetime | None = None,
) -> Contribution:
    """Answer a comment, and with `turns` resolve or reopen it. Raises `NotAllowed`."""
    said = Answered(comment=comment.id, text=text.strip(), turns=turns)
    return workspace.reviews.act(
        comment.task_id,
        by,
        said,
        revision=comment.revision,
        guard=lambda log: check_answer(log, by, said),
        at=at,
    )


def check_answer(log: TaskLog, by: str, said: Answered) -> None:
    """Raises `NotAllowed` unless `by` may give this answer now: authors answer and resolve; the comment's author
    answers and reopens. If `by` must not see the comment, the message is that it does not exist.
    """
    title = _("This is not possible now")
    standing = standing_of(log)
    entry = _entry(log, said.comment)
    authors = {author for node in log.revisions for author in node.authors}
    if entry is None or not _visible(entry, by, authors, log):
        raise NotAllowed(title, _("There is no such comment."))
    if by not in authors and by != entry.by:
        raise NotAllowed(title, _("Only the task's authors and who wrote a comment answer it."))
    if by not in authors and standing.state is TaskState.IN_REVIEW:
        # The other reviewers must not learn what one of them thinks of the new revision.
        raise NotAllowed(
            title,
            _("The task is in review again."),
            _("Say it in your review, pinned to the same place."),
        )
    settled = turn_of(log, said.comment) == "resolved"
    if said.turns == "resolved" and settled:
        raise NotAllowed(title, _("The comment is resolved already."))
    if said.turns == "open" and not settled:
        raise NotAllowed(title, _("The comment is open."))
    if said.turns != "resolved" and not said.text:
        raise NotAllowed(title, _("Please say something."))


def turn_of(log: TaskLog, comment: str) -> Turn:
    """Whether answers resolved or reopened a comment; "" if neither."""
    turn: Turn = ""
    for entry in sorted(log.contributions, key=lambda entry: entry.order):
        body = entry.body
        if isinstance(body, Answered) and body.comment == comment and body.turns:
            turn = body.turns
    return turn


def may_turn(
    thread: Thread, person: str, authors: Collection[str], state: TaskState
) -> tuple[Turn, ...]:
    """What this person could do with a comment, for a screen's keys."""
    if person not in authors and (person != thread.comment.by or state is TaskState.IN_REVIEW):
        return ()
    return ("", "resolved") if thread.open else ("", "open")


def _entry(log: TaskLog, comment: str) -> Contribution | None:
    """The entry in which the comment is."""
    uid, _hash, index = comment.partition("#")
    for entry in log.contributions:
        if entry.uid != uid:
            continue
        body = entry.body
        if isinstance(body, Commented) and not index:
            return entry
        if isinstance(body, Reviewed) and index.isdecimal() and int(index) < len(body.comments):
            return entry
    return None


def _visible(entry: Contribution, by: str, authors: Collection[str], log: TaskLog) -> bool:
    """Whether `by` may read a comment; while a round is under way nobody answers its comments, not even who wrote them."""
    if isinstance(entry.body, Commented):
        return True
    round_ = standing_of(log).of(entry.revision)
    if round_.seen == "party":
        return by in authors or by in round_.reviewers
    return round_.seen == "all"
