"""Tasks and their numbered revisions, which never change: saved, listed and read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from pydantic import BaseModel
from sqlalchemy import select as select_columns
from sqlmodel import Session, col, func, select, tuple_

from cuecard.core.records import Revision, RevisionLine, Saved, TaskState, TaskSummary, TaskTraits
from cuecard.core.tasks.base import Origin
from cuecard.core.tasks.models import Difficulty, Family, Task, TaskLanguage, content_hash
from cuecard.store.codec import origins_in, unpack
from cuecard.store.contributions import of_task, written_by
from cuecard.store.engine import Database
from cuecard.store.roles import ensure_person
from cuecard.store.rows import (
    load_revision,
    revision_missing,
    revision_of,
    task_in,
    task_missing,
    task_row,
)
from cuecard.store.task_tables import ContentRow, CosignRow, RevisionRow, TaskRow, clean
from cuecard.store.trial_tables import TrialRow

_AT_ONCE = 50
_NEWEST = (col(RevisionRow.task_id) == TaskRow.id) & (col(RevisionRow.number) == TaskRow.head)


class Tasks:
    """Tasks and their revisions. A task is named by its id, a revision by its number from 1; no revision is ever changed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def summaries(
        self,
        *,
        family: Family | None = None,
        language: TaskLanguage | None = None,
        state: TaskState | None = None,
        text: str = "",
        include_retired: bool = False,
        forked: bool = False,
        viewer: str | None = None,
    ) -> list[TaskSummary]:
        """The tasks that match, in the order of id, as lines of a list. `text`: all its words occur in id, title,
        domain or author. `forked`: only tasks with concurrent revisions that nobody has merged. `state=RETIRED`
        includes retired tasks by itself. For a `viewer`, tasks in review that they did not write come without authors
        ("").
        """
        query = select(TaskRow).order_by(TaskRow.id)
        if family is not None:
            query = query.where(TaskRow.family == family)
        if language is not None:
            query = query.where(TaskRow.language == language)
        if state is not None:
            query = query.where(TaskRow.state == state.value)
        elif not include_retired:
            query = query.where(TaskRow.state != TaskState.RETIRED.value)
        if forked:
            query = query.where(col(TaskRow.forks) > 0)
        for word in clean(text).casefold().split():
            query = query.where(col(TaskRow.search).contains(word, autoescape=True))
        with self._database.read() as session:
            lines = [summary_of(row) for row in session.exec(query)]
            if viewer is None or all(line.state is not TaskState.IN_REVIEW for line in lines):
                return lines
            own = written_by(session, viewer)
        return [
            line.model_copy(update={"author": ""})
            if line.state is TaskState.IN_REVIEW and line.id not in own
            else line
            for line in lines
        ]

    def count(self) -> int:
        """The number of tasks, retired ones included."""
        with self._database.read() as session:
            return session.exec(select(func.count()).select_from(TaskRow)).one()

    def save(
        self,
        task: Task,
        *,
        author: str,
        message: str = "",
        base: int | None = None,
        origins: Sequence[Origin] = (),
        also: Sequence[int] = (),
        at: datetime | None = None,
    ) -> Revision:
        """Save `task` as the newest revision; if it equals the newest, nothing is saved. `origins`: the parts a model
        drafted since the revision before. `also`: numbers of concurrent revisions that this one merges with the newest.

        `base` is the revision that was edited (0: a new task). Without `base`, as for imports, the revision is added
        whatever the newest is. A new revision starts as a draft in the workflow, except that a retired task stays
        retired. Raises `Conflict`, and saves nothing, if `base` is not the newest any more, and `NotFound` if `base` is
        given for an unknown task.
        """
        from cuecard.store.task_saving import Saving, overtaken, write_revision

        digest = content_hash(task)
        with self._database.write(of_task(task.id)) as session:
            head = session.get(TaskRow, task.id)
            if head is not None:
                newest = session.get_one(RevisionRow, (task.id, head.head))
                if newest.hash == digest and not also:
                    return revision_of(newest, task)
                if base is not None and base != head.head:
                    raise overtaken(session, task.id, base)
            elif base:
                raise task_missing(session, task.id)
            person = ensure_person(session, author)
            saving = Saving(person.name, message, origins, tuple(also), at or datetime.now(UTC))
            return write_revision(session, task, digest, head, saving)

    def save_all(
        self,
        tasks: Sequence[Task],
        *,
        author: str,
        message: str = "",
        join: Callable[[Task, Task], Task] | None = None,
        dry: bool = False,
    ) -> list[Saved]:
        """Save each of `tasks` as the newest revision of its id: all or, if anything fails, none. Those that equal the
        newest are left as they are. `join` makes the task to save from the given one and the newest. With `dry` nothing
        is written; the answer says what would be.
        """
        from cuecard.store.task_saving import begin_tasks, save_task

        with self._database.read() if dry else self._database.write() as session:
            rows = _load_newest(session, [task.id for task in tasks])
            known, fresh = set(rows), list[Task]()
            saved: list[Saved] = []
            for task in tasks:
                if task.id in known:
                    if not dry:
                        begin_tasks(session, fresh, author, message)
                    saved.append(save_task(session, task, author, message, join, dry))
                else:
                    known.add(task.id)
                    fresh.append(task)
                    saved.append(Saved(task_id=task.id, title=task.title, before=0, number=1))
            if not dry:
                begin_tasks(session, fresh, author, message)
            return saved

    def revision(self, task_id: str, number: int | None = None) -> Revision:
        """One revision, the newest by default. Raises `NotFound`."""
        with self._database.read() as session:
            if number is None:
                number = task_row(session, task_id).head
            return load_revision(session, task_id, number)

    def newest(self, task_ids: Iterable[str]) -> Iterator[Revision]:
        """The newest revision of each of these tasks, in this order, some read at a time. Raises `NotFound`."""
        query = (
            select(RevisionRow, ContentRow)
            .join(TaskRow, _NEWEST)
            .join(ContentRow, col(ContentRow.hash) == RevisionRow.hash)
        )
        rest = iter(task_ids)
        while some := list(islice(rest, _AT_ONCE)):
            with self._database.read() as session:
                rows = session.exec(query.where(col(TaskRow.id).in_(some)))
                found = {row.task_id: (row, content) for row, content in rows}
                for task_id in some:
                    if task_id not in found:
                        raise task_missing(session, task_id)
            for task_id in some:
                yield self._decoded(*found[task_id])

    def these(self, units: Iterable[tuple[str, int]]) -> Iterator[Revision]:
        """These revisions, by task id and number, in this order, some read at a time. Raises `NotFound`."""
        query = select(RevisionRow, ContentRow).join(ContentRow)
        rest = iter(units)
        while some := list(islice(rest, _AT_ONCE)):
            named = tuple_(col(RevisionRow.task_id), col(RevisionRow.number)).in_(some)
            with self._database.read() as session:
                rows = session.exec(query.where(named))
                found = {(row.task_id, row.number): (row, content) for row, content in rows}
            for task_id, number in some:
                if (task_id, number) not in found:
                    raise revision_missing(task_id, number)
                yield self._decoded(*found[task_id, number])

    def _decoded(self, row: RevisionRow, content: ContentRow) -> Revision:
        with self._database.decoding():
            return revision_of(row, task_in(content))

    def revisions(self, task_id: str) -> list[Revision]:
        """All revisions, newest first. Raises `NotFound`."""
        query = (
            select(RevisionRow, ContentRow)
            .join(ContentRow)
            .where(RevisionRow.task_id == task_id)
            .order_by(col(RevisionRow.number).desc())
        )
        with self._database.read() as session:
            found = [revision_of(row, task_in(content)) for row, content in session.exec(query)]
            if not found:
                raise task_missing(session, task_id)
        return found

    def log(self, task_id: str) -> list[RevisionLine]:
        """All revisions without their content, newest first; empty for a task that was never saved."""
        query = (
            select(RevisionRow)
            .where(RevisionRow.task_id == task_id)
            .order_by(col(RevisionRow.number).desc())
        )
        with self._database.read() as session:
            return [
                RevisionLine.from_fields(row, origins=origins_in(row.origins))
                for row in session.exec(query)
            ]

    def authors(self, task_id: str) -> frozenset[str]:
        """The names of all who saved a revision of the task. Raises `NotFound`."""
        query = select(RevisionRow.author).where(RevisionRow.task_id == task_id).distinct()
        cosigned = (
            select(CosignRow.author)
            .join(RevisionRow, col(CosignRow.uid) == RevisionRow.uid)
            .where(RevisionRow.task_id == task_id)
        )
        with self._database.read() as session:
            found = frozenset(session.exec(query)) | frozenset(session.exec(cosigned))
            if not found:
                raise task_missing(session, task_id)
        return found

    def written_by(self, person: str) -> frozenset[str]:
        """The ids of the tasks of which `person` saved a revision."""
        with self._database.read() as session:
            return written_by(session, person)


def summary_of(row: TaskRow) -> TaskSummary:
    """A task's row as a line of the task list."""
    return TaskSummary.from_fields(row, revision=row.head)


def _load_newest(session: Session, task_ids: Sequence[str]) -> dict[str, Any]:
    """The rows of those of these tasks that are there, with their newest revisions, for the session to find."""
    query = (
        select(TaskRow, RevisionRow, ContentRow)
        .join(RevisionRow, _NEWEST)
        .join(ContentRow, col(ContentRow.hash) == RevisionRow.hash)
        .where(col(TaskRow.id).in_(task_ids))
    )
    return {rows[0].id: rows for rows in session.exec(query)}


_MOST = 4096
_KNOWN: dict[str, TaskTraits] = {}


class _Gold(BaseModel):
    family: Family
    facts: list[object] = []


class _Persona(BaseModel):
    stages: list[object] = []


class _TraitSource(BaseModel):
    """Of a content what its traits are made of."""

    language: TaskLanguage
    domain: str | None = None
    difficulty: Difficulty | None = None
    gold: _Gold
    persona: _Persona | None = None


def load_traits(session: Session, run_id: int) -> dict[tuple[str, int], TaskTraits]:
    """Family, language, difficulty and domain of the revisions a run plays, by task id and revision number."""
    played = (
        select(TrialRow.task_id, TrialRow.revision).where(TrialRow.run_id == run_id).distinct()
    ).subquery()
    query = (
        select_columns(
            col(RevisionRow.task_id),
            col(RevisionRow.number),
            col(ContentRow.hash),
            col(ContentRow.body),
            col(ContentRow.packed),
        )
        .join(ContentRow, col(ContentRow.hash) == RevisionRow.hash)
        .join(
            played,
            (played.c.task_id == RevisionRow.task_id) & (played.c.revision == RevisionRow.number),
        )
    )
    return {
        (task_id, number): _traits(digest, body, packed)
        for task_id, number, digest, body, packed in session.connection().execute(query)
    }


def _traits(digest: str, body: str | None, packed: bytes | None) -> TaskTraits:
    # Contents never change: what was read of one stays true.
    if (known := _KNOWN.get(digest)) is not None:
        return known
    # Of all else that a content holds, nothing is made.
    told = _TraitSource.model_validate_json(unpack(body, packed))
    found = TaskTraits(
        family=told.gold.family,
        language=told.language,
        domain=told.domain or "",
        difficulty=told.difficulty,
        facts=len(told.gold.facts),
        stages=len(told.persona.stages) if told.persona else 0,
        hash=digest,
    )
    if len(_KNOWN) >= _MOST:
        _KNOWN.clear()
    _KNOWN[digest] = found
    return found
