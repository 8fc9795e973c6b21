"""Runs, trials and their logs."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKeyConstraint, Text, UniqueConstraint
from sqlmodel import Field

from cuecard.store.tables.base import FreeText, Row, UtcDateTime


class RunRow(Row, table=True):
    """`limits` and `plan` are JSON. `uid` names the run in every copy of the workspace."""

    id: int | None = Field(default=None, primary_key=True)
    uid: str = Field(index=True, unique=True)
    name: str = Field(sa_type=FreeText)
    kind: str
    created_by: str = Field(foreign_key="person.name")
    created_at: datetime = Field(sa_type=UtcDateTime)
    state: str
    samples: int
    limits: str = Field(sa_type=Text)
    plan: str = Field(default="{}", sa_type=Text)
    reason: str = Field(default="", sa_type=FreeText)


class RunLeaseRow(Row, table=True):
    """Who plays a run, or did when they were killed; see `store.leases`. Stays in this database: packs carry none."""

    run_id: int = Field(primary_key=True, foreign_key="run.id")
    owner: str
    person: str = Field(sa_type=FreeText)
    host: str = Field(sa_type=FreeText)
    machine: str
    pid: int
    started: str
    since: datetime = Field(sa_type=UtcDateTime)
    beats: int
    beat_at: datetime = Field(sa_type=UtcDateTime)


class TrialRow(Row, table=True):
    """`termination`, `detail` and `ended_at` follow from the log's last event. `agent`, `user` and
    `world` are JSON. `uid` names the trial in every copy of the workspace.
    """

    __table_args__ = (
        ForeignKeyConstraint(["task_id", "revision"], ["revision.task_id", "revision.number"]),
    )

    id: int | None = Field(default=None, primary_key=True)
    uid: str = Field(index=True, unique=True)
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
    """Append-only; the body is JSON in `body` or, when large, compressed in `packed`. The largest
    texts are left out of it and stand in `PayloadRow`.
    """

    __table_args__ = (UniqueConstraint("trial_id", "take", "key"),)

    trial_id: int = Field(primary_key=True, foreign_key="trial.id")
    seq: int = Field(primary_key=True)
    take: int = 0
    key: str = Field(sa_type=FreeText)
    type: str
    at: datetime = Field(sa_type=UtcDateTime)
    body: str | None = Field(default=None, sa_type=Text)
    packed: bytes | None = None


class PayloadRow(Row, table=True):
    """Append-only: bytes of any kind, once per SHA-256. `size` is theirs; `data` is compressed, with
    the bytes of payload `base`, if there is one, as the dictionary.
    """

    hash: str = Field(primary_key=True)
    size: int
    base: str | None = Field(default=None, foreign_key="payload.hash")
    data: bytes


class UsageRow(Row, table=True):
    """What a trial has cost: the sums over its log and its judges' calls. `cost` is null as long as
    no call had a price; `priced` counts those that had one.
    """

    trial_id: int = Field(primary_key=True, foreign_key="trial.id")
    payer: str = Field(primary_key=True, sa_type=FreeText)
    model: str = Field(primary_key=True, sa_type=FreeText)
    calls: int
    prompt: int = Field(sa_type=BigInteger)
    completion: int = Field(sa_type=BigInteger)
    cached: int = Field(sa_type=BigInteger)
    reasoning: int = Field(sa_type=BigInteger)
    cost: float | None = None
    priced: int
