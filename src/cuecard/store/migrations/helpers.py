"""Helpers of migrations: triggers that keep tables append-only, and version 3's moves and reviews as contributions."""

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

from cuecard.core.contributions import (
    Body,
    Contribution,
    PinnedComment,
    Reopened,
    Restored,
    Retired,
    ReviewDecision,
    Reviewed,
    Submitted,
    Withdrawn,
    contribution_uid,
)
from cuecard.core.review import RevisionNode, TaskLog
from cuecard.store.schema import keep_append_only
from cuecard.store.task_tables import in_utc


def make_append_only(*tables: str) -> None:
    """Have the database refuse every UPDATE and DELETE on these tables."""
    keep_append_only(op.get_bind(), tables)


def drop_append_only(table: str) -> None:
    """Allow changes again, for the rest of a migration that changes the table itself."""
    if op.get_bind().dialect.name == "sqlite":
        for action in ("update", "delete"):
            op.execute(f"DROP TRIGGER {table}_no_{action}")
        return
    op.execute(f"DROP TRIGGER {table}_append_only ON {table}")


_REVISIONS = sa.text(
    "SELECT task_id, number, uid, hash, parents, author, created_at FROM revision"
    " ORDER BY task_id, number"
)
_MOVES = sa.text("SELECT task_id, revision, state, by, reason, at FROM move ORDER BY id")
_REVIEWS = sa.text(
    "SELECT task_id, revision, reviewer, ratings, decision, comments, created_at FROM review"
)


def old_logs(connection: sa.Connection) -> Iterator[TaskLog]:
    """The log of each task as version 3 recorded it, with ticks in the order of time."""
    bodies: dict[str, list[tuple[datetime, int, int, str, Body]]] = defaultdict(list)
    states: dict[str, tuple[str, int]] = {}
    for task_id, revision, state, by, reason, at in connection.execute(_MOVES):
        body = _step(states.get(task_id, ("draft", revision)), (state, revision), reason)
        states[task_id] = (state, revision)
        if body is not None:
            bodies[task_id].append((_moment(at), 1, revision, by, body))
    for task_id, revision, by, ratings, decision, comments, at in connection.execute(_REVIEWS):
        pinned = tuple(PinnedComment(place=p, text=t) for p, t in json.loads(comments))
        body = Reviewed(
            ratings=json.loads(ratings), decision=ReviewDecision(decision), comments=pinned
        )
        bodies[task_id].append((_moment(at), 2, revision, by, body))
    revisions: dict[str, list[Any]] = defaultdict(list)
    for row in connection.execute(_REVISIONS):
        revisions[row.task_id].append(row)
    for task_id, rows in revisions.items():
        yield _log(task_id, rows, bodies[task_id])


def _step(before: tuple[str, int], now: tuple[str, int], reason: str) -> Body | None:
    """The contribution that a move recorded; None for a move that follows from reviews or from a new revision."""
    why = reason.strip() or "-"
    if now[0] == "retired":
        return Retired(reason=reason)
    if before[0] == "retired":
        return Restored(reason=reason)
    if now[0] == "in_review":
        return Submitted(reason=reason)
    if now[0] == "draft" and before[1] == now[1]:
        return Withdrawn(reason=why) if before[0] == "in_review" else Reopened(reason=why)
    return None


def _log(
    task_id: str, rows: list[Any], bodies: list[tuple[datetime, int, int, str, Body]]
) -> TaskLog:
    events: list[tuple[datetime, int, int, Any]] = [
        (_moment(row.created_at), 0, row.number, row) for row in rows
    ]
    events += [(at, rank, revision, (by, body)) for at, rank, revision, by, body in bodies]
    events.sort(key=lambda event: event[:3])
    uids: dict[int, str] = {row.number: row.uid for row in rows}
    nodes: list[RevisionNode] = []
    entries: list[Contribution] = []
    for tick, (at, rank, revision, what) in enumerate(events, 1):
        if rank == 0:
            nodes.append(
                RevisionNode(
                    number=revision,
                    uid=what.uid,
                    hash=what.hash,
                    parents=tuple(json.loads(what.parents)),
                    authors=(what.author,),
                    at=at,
                    tick=tick,
                )
            )
        else:
            by, body = what
            uid = contribution_uid(task_id, uids[revision], by, at, tick, body)
            entries.append(
                Contribution(
                    uid=uid, task_id=task_id, revision=revision, by=by, at=at, tick=tick, body=body
                )
            )
    return TaskLog(task_id=task_id, revisions=tuple(nodes), contributions=tuple(entries))


def _moment(value: str | datetime) -> datetime:
    return in_utc(datetime.fromisoformat(value) if isinstance(value, str) else value)
