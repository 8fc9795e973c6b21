"""The workflow's history and the reviews."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKeyConstraint, Text
from sqlmodel import Field

from cuecard.store.tables.base import FreeText, Row, UtcDateTime


class MoveRow(Row, table=True):
    """Append-only."""

    __table_args__ = (
        ForeignKeyConstraint(["task_id", "revision"], ["revision.task_id", "revision.number"]),
    )

    id: int | None = Field(default=None, primary_key=True)
    task_id: str = Field(index=True)
    revision: int
    state: str
    by: str = Field(foreign_key="person.name")
    reason: str = Field(sa_type=FreeText)
    at: datetime = Field(sa_type=UtcDateTime)


class ReviewRow(Row, table=True):
    """Append-only; `ratings` and `comments` are JSON."""

    __table_args__ = (
        ForeignKeyConstraint(["task_id", "revision"], ["revision.task_id", "revision.number"]),
    )

    task_id: str = Field(primary_key=True)
    revision: int = Field(primary_key=True)
    reviewer: str = Field(primary_key=True, foreign_key="person.name")
    ratings: str = Field(sa_type=Text)
    decision: str
    comments: str = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=UtcDateTime)


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
