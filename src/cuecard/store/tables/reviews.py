"""What people contributed to tasks, where the tasks stand because of it, and unfinished reviews."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKeyConstraint, Text
from sqlmodel import Field

from cuecard.store.tables.base import FreeText, Row, UtcDateTime


class ContributionRow(Row, table=True):
    """Append-only. `about`: the person or the comment that it is about, for who may see it; `body` is
    JSON or, when large, compressed in `packed`. Without a task both `task_id` and `revision` are null.
    """

    __table_args__ = (
        ForeignKeyConstraint(["task_id", "revision"], ["revision.task_id", "revision.number"]),
    )

    uid: str = Field(primary_key=True)
    task_id: str | None = Field(default=None, index=True)
    revision: int | None = None
    kind: str = Field(index=True)
    by: str = Field(foreign_key="person.name", index=True)
    about: str = Field(default="", sa_type=FreeText)
    at: datetime = Field(sa_type=UtcDateTime)
    tick: int = Field(sa_type=BigInteger)
    body: str | None = Field(default=None, sa_type=Text)
    packed: bytes | None = None


class StandingRow(Row, table=True):
    """Where each revision stands: follows from contributions, for queries that must not read them."""

    __table_args__ = (
        ForeignKeyConstraint(["task_id", "number"], ["revision.task_id", "revision.number"]),
    )

    task_id: str = Field(primary_key=True)
    number: int = Field(primary_key=True)
    state: str
    reviews: int
    needed: int
    seen: str
    submitted_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class ReviewFormRow(Row, table=True):
    """A review that its reviewer has not handed in yet; `body` is JSON."""

    __table_args__ = (
        ForeignKeyConstraint(["task_id", "revision"], ["revision.task_id", "revision.number"]),
    )

    task_id: str = Field(primary_key=True)
    revision: int = Field(primary_key=True)
    reviewer: str = Field(primary_key=True, foreign_key="person.name")
    body: str = Field(sa_type=Text)
    updated_at: datetime = Field(sa_type=UtcDateTime)
