"""The tables of people, tasks and contributions, and what all tables share: one registry, column types for every dialect, and inserts that meet a row that is already there."""

from datetime import UTC, datetime
from functools import cache
from typing import Any

from sqlalchemy import BigInteger, Connection, DateTime, ForeignKeyConstraint, MetaData, Table, Text
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.orm import declared_attr, registry
from sqlalchemy.sql.dml import Insert
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field, SQLModel

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = MetaData(naming_convention=NAMING)


class Row(SQLModel, registry=registry(metadata=metadata)):
    """The base of all tables: `TaskRow` is table `task`. Rows never leave the store; records do."""

    # Rows are read and written through SQLAlchemy; building validators would only delay the start.
    model_config = {"defer_build": True}

    @declared_attr  # pyright: ignore[reportArgumentType]
    def __tablename__(cls) -> str:  # noqa: N805 # pyright: ignore[reportIncompatibleVariableOverride]
        return cls.__name__.removesuffix("Row").lower()


class UtcDateTime(TypeDecorator[datetime]):
    """A moment in UTC. SQLite keeps no zone, so it is taken off there and put back on."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        value = in_utc(value)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else in_utc(value)


class FreeText(TypeDecorator[str]):
    """Text from people and models. NUL and lone surrogates, which no database takes, are replaced."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else clean(value)


def in_utc(value: datetime) -> datetime:
    """`value` in UTC; without a zone it is taken to be UTC already."""
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def clean(text: str) -> str:
    """`text` as a database can hold it."""
    text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def insert_new(connection: Connection, table: Table) -> Insert:
    """An insert that passes over rows whose primary key is taken."""
    return _insert_new(connection.dialect.name, table)


@cache
def _insert_new(dialect: str, table: Table) -> Insert:
    # Statements are made once: SQLAlchemy finds what it compiled by the object.
    return insert_of(dialect, table).on_conflict_do_nothing()


def insert_of(dialect: str, table: Table) -> Any:
    """An insert with `on_conflict_do_nothing` and `on_conflict_do_update`."""
    if dialect == "sqlite":
        from sqlalchemy.dialects.sqlite import insert
    else:
        from sqlalchemy.dialects.postgresql import insert
    return insert(table)


class PersonRow(Row, table=True):
    name: str = Field(primary_key=True)
    created_at: datetime = Field(sa_type=UtcDateTime)


class TaskRow(Row, table=True):
    """The head of a task: where it stands now. Follows from revisions and contributions, for quick
    lists. `search` is what the text filter looks in, casefolded; `forks` counts newest revisions besides
    the head.
    """

    id: str = Field(primary_key=True)
    title: str = Field(sa_type=FreeText)
    family: str
    language: str
    domain: str = Field(sa_type=FreeText)
    difficulty: str | None = None
    head: int
    state: str = Field(index=True)
    priority: int = 0
    forks: int = 0
    author: str = Field(foreign_key="person.name")
    search: str = Field(sa_type=FreeText)
    updated_at: datetime = Field(sa_type=UtcDateTime)


class ContentRow(Row, table=True):
    """A task's JSON, once per hash. Append-only."""

    hash: str = Field(primary_key=True)
    body: str | None = Field(default=None, sa_type=Text)
    packed: bytes | None = None


class RevisionRow(Row, table=True):
    """Append-only. `origins`: a JSON list of what a machine drafted since the revision before. `uid`
    names the revision in every workspace, `parents` is a JSON list of the `uid`s that it stands on.
    """

    task_id: str = Field(primary_key=True, foreign_key="task.id")
    number: int = Field(primary_key=True)
    uid: str = Field(index=True, unique=True)
    parents: str = Field(default="[]", sa_type=Text)
    tick: int = Field(default=0, sa_type=BigInteger)
    hash: str = Field(foreign_key="content.hash", index=True)
    title: str = Field(sa_type=FreeText)
    author: str = Field(foreign_key="person.name", index=True)
    message: str = Field(sa_type=FreeText)
    origins: str = Field(default="[]", sa_type=Text)
    created_at: datetime = Field(sa_type=UtcDateTime)


class CosignRow(Row, table=True):
    """Append-only: the same revision, saved once more in another workspace. Of all its signatures the
    earliest (by tick, time, author) says when it was made.
    """

    uid: str = Field(primary_key=True, foreign_key="revision.uid")
    author: str = Field(primary_key=True, foreign_key="person.name")
    at: datetime = Field(primary_key=True, sa_type=UtcDateTime)
    tick: int = Field(default=0, sa_type=BigInteger)
    message: str = Field(sa_type=FreeText)
    origins: str = Field(default="[]", sa_type=Text)


class DraftRow(Row, table=True):
    """One person's unsaved edit; `task_id` may name a task that has never been saved. `left_at`: when
    the editor was left in good order since the last change, if it was.
    """

    task_id: str = Field(primary_key=True)
    person: str = Field(primary_key=True, foreign_key="person.name")
    base: int
    body: str | None = Field(default=None, sa_type=Text)
    packed: bytes | None = None
    origins: str = Field(default="[]", sa_type=Text)
    updated_at: datetime = Field(sa_type=UtcDateTime)
    left_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class ThrownDraftRow(Row, table=True):
    """Append-only: a draft that its person threw away, as it was then."""

    id: int | None = Field(default=None, primary_key=True)
    task_id: str = Field(index=True)
    person: str = Field(foreign_key="person.name", index=True)
    base: int
    body: str | None = Field(default=None, sa_type=Text)
    packed: bytes | None = None
    origins: str = Field(default="[]", sa_type=Text)
    updated_at: datetime = Field(sa_type=UtcDateTime)
    thrown_at: datetime = Field(sa_type=UtcDateTime)


class EffortRow(Row, table=True):
    """Append-only: seconds of editing, or a query or page that was consulted. `task_id` may name a
    task that has never been saved; what was entered under another id is taken out by its negative.
    """

    id: int | None = Field(default=None, primary_key=True)
    task_id: str = Field(index=True)
    person: str = Field(foreign_key="person.name")
    kind: str
    amount: float
    text: str = Field(sa_type=FreeText)
    at: datetime = Field(sa_type=UtcDateTime)


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
