"""Adds revisions of tasks: one on top of the newest, or many at once, in the session of whoever saves."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import insert
from sqlmodel import Session, col, select

from cuecard.core.contributions import revision_uid
from cuecard.core.errors import Conflict, CuecardError
from cuecard.core.i18n import _
from cuecard.core.records import Revision, Saved, TaskState
from cuecard.core.review import standing_of
from cuecard.core.tasks.base import Origin, id_problem
from cuecard.core.tasks.models import Task, content_hash
from cuecard.store.codec import origins_text, pack
from cuecard.store.contributions import (
    first_log,
    load_log,
    next_tick,
    refold,
    show_content,
    show_standing,
    standing_values,
)
from cuecard.store.roles import ensure_person
from cuecard.store.rows import revision_missing, revision_of, task_in
from cuecard.store.task_tables import ContentRow, RevisionRow, TaskRow, insert_new, metadata


@dataclass(frozen=True)
class Saving:
    """Who saves a revision, and how."""

    author: str
    message: str
    origins: Sequence[Origin] = ()
    also: tuple[int, ...] = ()
    at: datetime = field(default_factory=lambda: datetime.now(UTC))


def _keep_content(session: Session, task: Task, digest: str) -> None:
    """Insert a revision's content, unless it is stored already."""
    if session.get(ContentRow, digest) is None:
        body, packed = pack(task.model_dump_json().encode())
        connection, new = session.connection(), {"hash": digest, "body": body, "packed": packed}
        connection.execute(insert_new(connection, metadata.tables["content"]), new)


def write_revision(
    session: Session, task: Task, digest: str, head: TaskRow | None, saving: Saving
) -> Revision:
    """Add a revision to the task with this row, by default as its first. `digest`: the task's `content_hash`."""
    if head is None:
        row, revision = _first_rows(task, digest, saving)
    else:
        number, tick, parents = _place(session, head, saving)
        revision = _revision_row(task, digest, number, tick, parents, saving)
        row = head
        show_content(row, task)
        row.head, row.updated_at = number, saving.at
    _keep_content(session, task, digest)
    session.add(row)
    session.flush()
    session.add(revision)
    session.flush()
    refold(session, load_log(session, task.id) if head else first_log(revision))
    return revision_of(revision, task)


def begin_tasks(session: Session, tasks: list[Task], author: str, message: str) -> None:
    """Write the first revisions of these new tasks, as `write_revision` does that of one, and empty the list."""
    if not tasks:
        return
    person, connection = ensure_person(session, author).name, session.connection()
    contents: list[dict[str, Any]] = []
    heads: list[TaskRow] = []
    revisions: list[RevisionRow] = []
    standings: list[dict[str, Any]] = []
    for task in tasks:
        digest = content_hash(task)
        body, packed = pack(task.model_dump_json().encode())
        contents.append({"hash": digest, "body": body, "packed": packed})
        head, revision = _first_rows(task, digest, Saving(person, message))
        standing = standing_of(first_log(revision))
        show_standing(head, standing)
        heads.append(head)
        revisions.append(revision)
        standings += standing_values(standing)
    connection.execute(insert_new(connection, metadata.tables["content"]), contents)
    for rows in (heads, revisions):
        session.add_all(rows)
        session.flush()
    connection.execute(insert(metadata.tables["standing"]), standings)
    tasks.clear()


def _first_rows(task: Task, digest: str, saving: Saving) -> tuple[TaskRow, RevisionRow]:
    if reason := id_problem(task.id):
        raise CuecardError(_("This cannot be an id"), f"{task.id} {reason}")
    head = TaskRow(
        id=task.id,
        head=1,
        state=TaskState.DRAFT.value,
        author=saving.author,
        updated_at=saving.at,
        title=task.title,
        family=task.family,
        language=task.language,
        domain=task.domain,
        search="",
    )
    show_content(head, task)
    return head, _revision_row(task, digest, 1, next_tick(None, saving.at), (), saving)


def _revision_row(
    task: Task, digest: str, number: int, tick: int, parents: tuple[str, ...], saving: Saving
) -> RevisionRow:
    return RevisionRow(
        task_id=task.id,
        number=number,
        uid=revision_uid(task.id, digest, parents),
        parents=json.dumps(parents),
        tick=tick,
        hash=digest,
        title=task.title,
        author=saving.author,
        message=saving.message,
        origins=origins_text(saving.origins),
        created_at=saving.at,
    )


def _place(session: Session, head: TaskRow, saving: Saving) -> tuple[int, int, tuple[str, ...]]:
    """Number, tick and parents of the next revision."""
    log = load_log(session, head.id)
    uids = {node.number: node.uid for node in log.revisions}
    if unknown := [number for number in saving.also if number not in uids]:
        raise revision_missing(head.id, unknown[0])
    parents = sorted({uids[head.head], *(uids[number] for number in saving.also)})
    return max(uids) + 1, next_tick(log, saving.at), tuple(parents)


def save_task(
    session: Session,
    task: Task,
    author: str,
    message: str,
    join: Callable[[Task, Task], Task] | None,
    dry: bool,
) -> Saved:
    """Save one task as `Tasks.save_all` does."""
    digest = content_hash(task)
    head = session.get(TaskRow, task.id)
    if head is not None:
        newest = session.get_one(RevisionRow, (task.id, head.head))
        if newest.hash != digest:
            current = task_in(session.get_one(ContentRow, newest.hash))
            task = join(task, current) if join else task
            digest = newest.hash if task == current else content_hash(task)
        if newest.hash == digest:
            return Saved(task_id=task.id, title=task.title, before=head.head, number=head.head)
    before = head.head if head else 0
    if not dry:
        person = ensure_person(session, author).name
        write_revision(session, task, digest, head, Saving(person, message))
    return Saved(task_id=task.id, title=task.title, before=before, number=before + 1)


def overtaken(session: Session, task_id: str, base: int) -> Conflict:
    """The error that somebody saved since `base`: who, and what."""
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
