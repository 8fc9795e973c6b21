"""Runs, trials and their logs."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKeyConstraint, Text, UniqueConstraint
from sqlmodel import Field

from cuecard.store.tables.base import FreeText, Row, UtcDateTime


class RunRow(Row, table=True):
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(sa_type=FreeText)
    kind: str
    created_by: str = Field(foreign_key="person.name")
    created_at: datetime = Field(sa_type=UtcDateTime)
    state: str
    samples: int
    limits: str = Field(sa_type=Text)


class TrialRow(Row, table=True):
    """`termination`, `detail` and `ended_at` follow from the log's last event. `agent`, `user` and
    `world` are JSON.
    """

    __table_args__ = (
        ForeignKeyConstraint(["task_id", "revision"], ["revision.task_id", "revision.number"]),
    )

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id", index=True)
    task_id: str
    revision: int
    agent: str = Field(sa_type=Text)
    user: str = Field(sa_type=Text)
    world: str = Field(sa_type=Text)
    sample: int
    seed: int = Field(sa_type=BigInteger)
    termination: str | None = Field(default=None, index=True)
    detail: str = Field(default="", sa_type=FreeText)
    created_at: datetime = Field(sa_type=UtcDateTime)
    ended_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class EventRow(Row, table=True):
    """Append-only; the body is JSON in `body` or, when large, compressed in `packed`."""

    __table_args__ = (UniqueConstraint("trial_id", "key"),)

    trial_id: int = Field(primary_key=True, foreign_key="trial.id")
    seq: int = Field(primary_key=True)
    key: str = Field(sa_type=FreeText)
    type: str
    at: datetime = Field(sa_type=UtcDateTime)
    body: str | None = Field(default=None, sa_type=Text)
    packed: bytes | None = None
