"""Tasks and their revisions: saved once, numbered from 1, never changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from sqlmodel import Session, col, func, select

from cuecard.core.errors import Conflict
from cuecard.core.i18n import _
from cuecard.core.tasks import Family, Origin, Task, TaskLanguage, content_hash
from cuecard.store.codec import pack, unpack
from cuecard.store.engine import Database
from cuecard.store.lookup import task_missing, task_row
from cuecard.store.origins import origins_in, origins_text
from cuecard.store.people import ensure_person
from cuecard.store.records import Revision, RevisionLine, Saved, TaskState, TaskSummary
from cuecard.store.tables import ContentRow, MoveRow, RevisionRow, TaskRow
from cuecard.store.tables.base import clean


class Tasks:
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
    ) -> list[TaskSummary]:
        """Lines of the task list, by id. `text`: all its words occur in id, title, domain or author.

        Asking for the state `retired` includes the retired.
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
        for word in clean(text).casefold().split():
            query = query.where(col(TaskRow.search).contains(word, autoescape=True))
        with self._database.read() as session:
            return [summary_of(row) for row in session.exec(query)]

    def count(self) -> int:
        """All tasks, the retired included."""
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
    ) -> Revision:
        """Make `task` the newest revision; if it already is, nothing happens. `origins`: what of it a
        machine drafted since the revision before.

        `base` is the revision that was edited (0: none, the task is new). Without one, as for
        imports, the next number is taken whatever stands there. A new revision starts as a draft in
        the workflow, except that a retired task stays retired. Raises `Conflict` if `base` is not
        the newest any more (nothing is written), `NotFound` if it names a task that is not there.
        """
        digest = content_hash(task)
        with self._database.write() as session:
            head = session.get(TaskRow, task.id)
            if head is not None:
                newest = session.get_one(RevisionRow, (task.id, head.head))
                if newest.hash == digest:
                    return revision_of(newest, task)
                if base is not None and base != head.head:
                    raise _overtaken(session, task.id, base)
            elif base:
                raise task_missing(task.id)
            person = ensure_person(session, author)
            return _write(session, task, digest, head, person.name, message, origins)

    def save_all(
        self,
        tasks: Sequence[Task],
        *,
        author: str,
        message: str = "",
        join: Callable[[Task, Task], Task] | None = None,
        dry: bool = False,
    ) -> list[Saved]:
        """Make each of `tasks` the newest revision of its id, all of them or, if anything fails, none;
        what is newest already stays. `join` makes the task to save of the one given and the newest.
        With `dry` nothing is written: the answer says what would be.
        """
        with self._database.read() if dry else self._database.write() as session:
            return [_saved(session, task, author, message, join, dry) for task in tasks]

    def revision(self, task_id: str, number: int | None = None) -> Revision:
        """One revision, the newest by default. Raises `NotFound`."""
        with self._database.read() as session:
            if number is None:
                number = task_row(session, task_id).head
            return load_revision(session, task_id, number)

    def revisions(self, task_id: str) -> list[Revision]:
        """All revisions, newest first. Raises `NotFound`."""
        query = (
            select(RevisionRow, ContentRow)
            .join(ContentRow)
            .where(RevisionRow.task_id == task_id)
            .order_by(col(RevisionRow.number).desc())
        )
        with self._database.read() as session:
            found = [revision_of(row, _task_in(content)) for row, content in session.exec(query)]
        if not found:
            raise task_missing(task_id)
        return found

    def log(self, task_id: str) -> list[RevisionLine]:
        """The lines of all revisions, newest first; none for a task that was never saved."""
        query = (
            select(RevisionRow)
            .where(RevisionRow.task_id == task_id)
            .order_by(col(RevisionRow.number).desc())
        )
        with self._database.read() as session:
            return [
                RevisionLine(
                    task_id=row.task_id,
                    number=row.number,
                    hash=row.hash,
                    author=row.author,
                    message=row.message,
                    created_at=row.created_at,
                    origins=origins_in(row.origins),
                )
                for row in session.exec(query)
            ]

    def authors(self, task_id: str) -> frozenset[str]:
        """Everybody who saved a revision of the task. Raises `NotFound`."""
        query = select(RevisionRow.author).where(RevisionRow.task_id == task_id).distinct()
        with self._database.read() as session:
            found = frozenset(session.exec(query))
        if not found:
            raise task_missing(task_id)
        return found

    def written_by(self, person: str) -> frozenset[str]:
        """The ids of the tasks of which `person` saved a revision."""
        query = select(RevisionRow.task_id).where(RevisionRow.author == person).distinct()
        with self._database.read() as session:
            return frozenset(session.exec(query))

    def by_hash(self, hash: str) -> Revision | None:
        """The newest revision with this content, if any."""
        query = (
            select(RevisionRow, ContentRow)
            .join(ContentRow)
            .where(RevisionRow.hash == hash)
            .order_by(col(RevisionRow.number).desc())
        )
        with self._database.read() as session:
            found = session.exec(query).first()
            return revision_of(found[0], _task_in(found[1])) if found else None

    def retire(self, task_id: str, *, by: str, reason: str) -> None:
        """Take the task out of use; its history stays. Raises `NotFound`."""
        with self._database.write() as session:
            task = task_row(session, task_id)
            if task.state != TaskState.RETIRED:
                step(session, task, TaskState.RETIRED, ensure_person(session, by).name, reason)

    def restore(self, task_id: str, *, by: str, reason: str = "") -> TaskState:
        """Take a retired task into use again; returns where it now stands: where it stood, or a draft
        if it was revised meanwhile. Nothing happens to one in use. Raises `NotFound`.
        """
        with self._database.write() as session:
            task = task_row(session, task_id)
            if task.state == TaskState.RETIRED:
                before = session.exec(
                    select(MoveRow.state)
                    .where(
                        MoveRow.task_id == task_id,
                        MoveRow.revision == task.head,
                        MoveRow.state != TaskState.RETIRED.value,
                    )
                    .order_by(col(MoveRow.id).desc())
                ).first()
                state = TaskState(before or TaskState.DRAFT)
                step(session, task, state, ensure_person(session, by).name, reason)
            return TaskState(task.state)


def step(session: Session, task: TaskRow, state: TaskState, by: str, reason: str) -> MoveRow:
    """Move the task's head to `state`, with a line in its history."""
    now = datetime.now(UTC)
    task.state = state.value
    move = MoveRow(
        task_id=task.id, revision=task.head, state=state.value, by=by, reason=reason, at=now
    )
    session.add(task)
    session.add(move)
    session.flush()
    return move


def load_revision(session: Session, task_id: str, number: int) -> Revision:
    """One revision with its task. Raises `NotFound`."""
    row = session.get(RevisionRow, (task_id, number))
    if row is None:
        task_row(session, task_id)
        raise task_missing(task_id, number)
    return revision_of(row, _task_in(session.get_one(ContentRow, row.hash)))


def summary_of(row: TaskRow) -> TaskSummary:
    return TaskSummary.model_validate(
        {
            "id": row.id,
            "title": row.title,
            "family": row.family,
            "language": row.language,
            "domain": row.domain,
            "difficulty": row.difficulty,
            "revision": row.head,
            "state": row.state,
            "author": row.author,
            "updated_at": row.updated_at,
        }
    )


def revision_of(row: RevisionRow, task: Task) -> Revision:
    return Revision(
        task_id=row.task_id,
        number=row.number,
        hash=row.hash,
        author=row.author,
        message=row.message,
        created_at=row.created_at,
        task=task,
        origins=origins_in(row.origins),
    )


def _task_in(content: ContentRow) -> Task:
    return Task.model_validate_json(unpack(content.body, content.packed))


def _write(
    session: Session,
    task: Task,
    digest: str,
    head: TaskRow | None,
    author: str,
    message: str,
    origins: Sequence[Origin] = (),
) -> Revision:
    now = datetime.now(UTC)
    if session.get(ContentRow, digest) is None:
        body, packed = pack(task.model_dump_json().encode())
        session.add(ContentRow(hash=digest, body=body, packed=packed))
    first_author = head.author if head else author
    number = head.head + 1 if head else 1
    state = head.state if head else ""
    head = session.merge(
        TaskRow(
            id=task.id,
            title=task.title,
            family=task.family,
            language=task.language,
            domain=task.domain,
            difficulty=task.difficulty,
            head=number,
            state=state or TaskState.DRAFT.value,
            author=first_author,
            search="\n".join((task.id, task.title, task.domain, first_author)).casefold(),
            updated_at=now,
        )
    )
    session.flush()
    row = RevisionRow(
        task_id=task.id,
        number=number,
        hash=digest,
        title=task.title,
        author=author,
        message=message,
        origins=origins_text(origins),
        created_at=now,
    )
    session.add(row)
    session.flush()
    if state not in (TaskState.DRAFT, TaskState.RETIRED):
        step(session, head, TaskState.DRAFT, author, "")
    return revision_of(row, task)


def _saved(
    session: Session,
    task: Task,
    author: str,
    message: str,
    join: Callable[[Task, Task], Task] | None,
    dry: bool,
) -> Saved:
    digest = content_hash(task)
    head = session.get(TaskRow, task.id)
    if head is not None:
        newest = session.get_one(RevisionRow, (task.id, head.head))
        if newest.hash != digest:
            current = _task_in(session.get_one(ContentRow, newest.hash))
            task = join(task, current) if join else task
            digest = newest.hash if task == current else content_hash(task)
        if newest.hash == digest:
            return Saved(task_id=task.id, title=task.title, before=head.head, number=head.head)
    before = head.head if head else 0
    if not dry:
        _write(session, task, digest, head, ensure_person(session, author).name, message)
    return Saved(task_id=task.id, title=task.title, before=before, number=before + 1)


def _overtaken(session: Session, task_id: str, base: int) -> Conflict:
    """Who saved what since `base`."""
    later: Sequence[RevisionRow] = session.exec(
        select(RevisionRow)
        .where(RevisionRow.task_id == task_id, RevisionRow.number > base)
        .order_by(col(RevisionRow.number))
    ).all()
    lines = [
        _("{author} saved revision {number} at {time} UTC: {message}").format(
            author=row.author,
            number=row.number,
            time=row.created_at.strftime("%Y-%m-%d %H:%M"),
            message=row.message or "–",
        )
        for row in later
    ]
    return Conflict(
        _("Somebody else saved this task first")
        if base
        else _("There is already a task with this id"),
        "\n".join(lines) or task_id,
        _("Compare with the newest revision and save on top of it; nothing was overwritten.")
        if base
        else _("Choose another id, or open that task and edit it."),
    )
