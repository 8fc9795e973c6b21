"""Contributions as rows, and what the database keeps of the fold over them.

State, head and visibility follow from revisions and contributions; they are kept so that lists are quick
and queries need not read what a person must not see.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlmodel import Session, col, select

from cuecard.core.review import (
    Answered,
    Body,
    Claimed,
    Contribution,
    Released,
    RevisionNode,
    Standing,
    TaskLog,
    contribution_uid,
    standing_of,
)
from cuecard.core.tasks import Task
from cuecard.store.codec import from_json, pack, to_json, unpack
from cuecard.store.tables import (
    ContentRow,
    ContributionRow,
    CosignRow,
    RevisionRow,
    TaskRow,
    metadata,
)
from cuecard.store.upsert import insert_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def load_log(session: Session, task_id: str) -> TaskLog:
    """Everything about one task; without revisions if there is no such task."""
    return load_logs(session, [task_id]).get(task_id) or TaskLog(task_id=task_id, revisions=())


def first_log(row: RevisionRow) -> TaskLog:
    """The log of a task that was not there before."""
    return TaskLog(task_id=row.task_id, revisions=(_node(row, ()),))


def load_logs(session: Session, task_ids: Collection[str] | None = None) -> dict[str, TaskLog]:
    """Everything about these tasks, or about all."""
    nodes = select(RevisionRow).order_by(RevisionRow.task_id, col(RevisionRow.number))
    entries = select(ContributionRow).where(col(ContributionRow.task_id).is_not(None))
    if task_ids is not None:
        nodes = nodes.where(col(RevisionRow.task_id).in_(task_ids))
        entries = entries.where(col(ContributionRow.task_id).in_(task_ids))
    return assemble(session, session.exec(nodes).all(), session.exec(entries).all())


def assemble(
    session: Session, nodes: Iterable[RevisionRow], entries: Iterable[ContributionRow]
) -> dict[str, TaskLog]:
    """Logs of the tasks of `nodes`, with such of their contributions as are given."""
    revisions: dict[str, list[RevisionNode]] = defaultdict(list)
    cosigned: dict[str, list[CosignRow]] = defaultdict(list)
    nodes = list(nodes)
    tasks = {row.task_id for row in nodes}
    query = select(CosignRow).join(RevisionRow, col(RevisionRow.uid) == CosignRow.uid)
    if len(tasks) == 1:
        query = query.where(RevisionRow.task_id == next(iter(tasks)))
    for row in session.exec(query):
        cosigned[row.uid].append(row)
    for row in nodes:
        revisions[row.task_id].append(_node(row, cosigned.get(row.uid, ())))
    contributions: dict[str, list[Contribution]] = defaultdict(list)
    for row in entries:
        contributions[row.task_id or ""].append(contribution_of(row))
    return {
        task_id: TaskLog(
            task_id=task_id,
            revisions=tuple(found),
            contributions=tuple(sorted(contributions[task_id], key=lambda entry: entry.order)),
        )
        for task_id, found in revisions.items()
    }


def next_tick(log: TaskLog | None, at: datetime) -> int:
    """The time in microseconds, or one more than the highest tick in the log where that is later: a
    hybrid logical clock (Kulkarni et al. 2014).
    """
    ticks: list[int] = []
    if log is not None:
        ticks = [node.tick for node in log.revisions] + [c.tick for c in log.contributions]
    return max((at - _EPOCH) // timedelta(microseconds=1), max(ticks, default=0) + 1)


def sign(log: TaskLog | None, revision: int, by: str, at: datetime, body: Body) -> Contribution:
    """An entry with its name. Without a log it belongs to no task. Raises `KeyError` for a revision
    that the log does not hold.
    """
    uid, task_id, tick = "", "", 0
    if log is not None:
        uid = {node.number: node.uid for node in log.revisions}[revision]
        task_id, tick = log.task_id, next_tick(log, at)
    name = contribution_uid(task_id, uid, by, at, tick, body)
    return Contribution(
        uid=name, task_id=task_id, revision=revision, by=by, at=at, tick=tick, body=body
    )


def contribution_values(entry: Contribution) -> dict[str, Any]:
    """The columns of an entry."""
    body, packed = pack(to_json(entry.body.model_dump(mode="json")))
    match entry.body:
        case Claimed(person=person) | Released(person=person):
            about = person
        case Answered(comment=comment):
            about = comment.partition("#")[0]
        case _:
            about = ""
    return {
        "uid": entry.uid,
        "task_id": entry.task_id or None,
        "revision": entry.revision or None,
        "kind": entry.body.kind,
        "by": entry.by,
        "about": about,
        "at": entry.at,
        "tick": entry.tick,
        "body": body,
        "packed": packed,
    }


def contribution_of(row: ContributionRow) -> Contribution:
    return Contribution.model_validate(
        {
            "uid": row.uid,
            "task_id": row.task_id or "",
            "revision": row.revision or 0,
            "by": row.by,
            "at": row.at,
            "tick": row.tick,
            "body": from_json(unpack(row.body, row.packed)),
        }
    )


def standing_values(standing: Standing) -> list[dict[str, Any]]:
    """The columns of each revision's standing."""
    return [
        {
            "task_id": standing.task_id,
            "number": revision.number,
            "state": revision.state.value,
            "reviews": len(revision.reviewers),
            "needed": revision.needed,
            "seen": revision.seen,
            "submitted_at": revision.submitted_at,
        }
        for revision in standing.revisions
    ]


def refold(session: Session, log: TaskLog) -> Standing:
    """Bring what is kept of the fold up to date with `log`, which holds everything."""
    standing = standing_of(log)
    connection = session.connection()
    table = metadata.tables["standing"]
    statement = insert_of(connection.dialect.name, table).values(standing_values(standing))
    keys = ("task_id", "number")
    changed = {c.name: statement.excluded[c.name] for c in table.columns if c.name not in keys}
    connection.execute(statement.on_conflict_do_update(index_elements=list(keys), set_=changed))
    task = session.get_one(TaskRow, log.task_id)
    if task.head != standing.head:
        _point_at(session, task, standing.head)
    author = min(log.revisions, key=lambda node: node.order).authors[0]
    if task.author != author:
        task.author = author
        task.search = _search(task)
    task.state = standing.state.value
    task.priority = standing.priority
    task.forks = len(standing.forks)
    session.add(task)
    session.flush()
    return standing


def show_content(row: TaskRow, task: Task) -> None:
    """Have the head's columns say what `task` says."""
    row.title, row.family, row.language = task.title, task.family, task.language
    row.domain, row.difficulty = task.domain, task.difficulty
    row.search = _search(row)


def _search(row: TaskRow) -> str:
    return "\n".join((row.id, row.title, row.domain, row.author)).casefold()


def _point_at(session: Session, row: TaskRow, number: int) -> None:
    revision = session.get_one(RevisionRow, (row.id, number))
    content = session.get_one(ContentRow, revision.hash)
    row.head, row.updated_at = number, revision.created_at
    show_content(row, Task.model_validate_json(unpack(content.body, content.packed)))


def _node(row: RevisionRow, cosigned: Collection[CosignRow]) -> RevisionNode:
    signed = sorted([(row.created_at, row.author), *((c.at, c.author) for c in cosigned)])
    return RevisionNode(
        number=row.number,
        uid=row.uid,
        hash=row.hash,
        parents=tuple(json.loads(row.parents)),
        authors=tuple(author for _at, author in signed),
        at=signed[0][0],
        tick=min([row.tick, *(c.tick for c in cosigned)]),
    )
