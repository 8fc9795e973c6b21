"""Tables of people, tasks and contributions, and what all tables share: registry, column types, and inserts."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    Connection,
    DateTime,
    ForeignKeyConstraint,
    Index,
    MetaData,
    Table,
    Text,
)
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
    """The base class of all tables: `TaskRow` is table `task`. Rows stay inside the store, which gives out records."""

    # Rows are read and written through SQLAlchemy; building validators would only delay the start.
    model_config = {"defer_build": True}

    @declared_attr  # pyright: ignore[reportArgumentType]
    def __tablename__(cls) -> str:  # noqa: N805 # pyright: ignore[reportIncompatibleVariableOverride]
        return cls.__name__.removesuffix("Row").lower()


class UtcDateTime(TypeDecorator[datetime]):
    """A column of times in UTC. SQLite has no time zones, so it is removed on writing and put back on reading."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        value = in_utc(value)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else in_utc(value)

    def result_processor(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, dialect: Dialect, coltype: object
    ) -> Callable[[Any], datetime | None] | None:
        # Long lists read thousands of times; those of SQLAlchemy go through four functions each.
        if dialect.name != "sqlite":
            return super().result_processor(dialect, coltype)
        return lambda value: None if value is None else _from_sqlite(value)


class FreeText(TypeDecorator[str]):
    """A column of text by people and models. NUL and lone surrogates, which databases reject, are replaced."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else clean(value)


def _from_sqlite(value: str) -> datetime:
    try:
        # A tenth of the time of `replace`.
        return datetime.fromisoformat(value + "+00:00")
    except ValueError:
        return in_utc(datetime.fromisoformat(value))


def in_utc(value: datetime) -> datetime:
    """`value` in UTC; without a zone it is taken to be UTC already."""
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def clean(text: str) -> str:
    """`text` as a database can hold it."""
    text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def insert_new(connection: Connection, table: Table) -> Insert:
    """An insert that skips rows whose primary key, or what else is unique in them, exists."""
    return _insert_new(connection.dialect.name, table)


def add_new(connection: Connection, table: Table, row: dict[str, Any]) -> bool:
    """Insert a row as `insert_new` does; false if there was one already, also of somebody who adds it at this moment."""
    statement = insert_new(connection, table)
    options = {"preserve_rowcount": True}
    return connection.execute(statement, row, execution_options=options).rowcount > 0


@cache
def _insert_new(dialect: str, table: Table) -> Insert:
    # Statements are made once: SQLAlchemy finds what it compiled by the object.
    return insert_of(dialect, table).on_conflict_do_nothing()


def insert_of(dialect: str, table: Table) -> Any:
    """An insert statement of the dialect, with `on_conflict_do_nothing` and `on_conflict_do_update`."""
    if dialect == "sqlite":
        from sqlalchemy.dialects.sqlite import insert
    else:
        from sqlalchemy.dialects.postgresql import insert
    return insert(table)


class PersonRow(Row, table=True):
    """A person, known by name."""

    name: str = Field(primary_key=True)
    created_at: datetime = Field(sa_type=UtcDateTime)


class RoleEntryRow(Row, table=True):
    """Append-only: since when a role of the PostgreSQL server stands for whom (kind `mapped`, the newest counts; person ""
    for nobody), or that a coordinator's role worked as somebody else (`acted`). `by`: the role that entered it.
    """

    id: int | None = Field(default=None, primary_key=True)
    at: datetime = Field(sa_type=UtcDateTime)
    kind: str
    role: str
    person: str = Field(sa_type=FreeText)
    coordinator: bool = False
    by: str


class TaskRow(Row, table=True):
    """A task as its newest revision (`head`) and its contributions make it, for quick lists. `search`: the casefolded
    text that the filter searches; `forks`: how many revisions besides the head nobody has built on.
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
    """Append-only. A saved version of a task; `uid` names it in every workspace, `parents` is a JSON list of uids.
    `origins`: a JSON list of the parts that a model drafted since the revision before. `tick`: see
    `contributions.next_tick`.
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
    """Append-only: somebody else saved the same revision in another workspace. Of all its signatures the earliest (by
    tick, time, author) says when it was made.
    """

    uid: str = Field(primary_key=True, foreign_key="revision.uid")
    author: str = Field(primary_key=True, foreign_key="person.name")
    at: datetime = Field(primary_key=True, sa_type=UtcDateTime)
    tick: int = Field(default=0, sa_type=BigInteger)
    message: str = Field(sa_type=FreeText)
    origins: str = Field(default="[]", sa_type=Text)


class DraftRow(Row, table=True):
    """One person's unsaved edit; `task_id` may name a task that has never been saved. `left_at`: when the editor was
    closed normally since the last change, null if it was not.
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
    """Append-only: a draft that its person discarded, as it was then."""

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
    """Append-only: seconds of editing, or a number of queries or pages. `task_id` may name a task that has never been
    saved; an entry that moved to another id is cancelled by one with the negative amount.
    """

    id: int | None = Field(default=None, primary_key=True)
    task_id: str = Field(index=True)
    person: str = Field(foreign_key="person.name")
    kind: str
    amount: float
    text: str = Field(sa_type=FreeText)
    at: datetime = Field(sa_type=UtcDateTime)


class ContributionRow(Row, table=True):
    """Append-only: a review, comment, claim or decision. `about`: the person or comment that it concerns, needed to
    decide who may see it; `body` is JSON or, when large, compressed in `packed`. Without a task both `task_id` and
    `revision` are null.
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


class TagRow(Row, table=True):
    """Append-only: somebody put a tag on a task, run or trial, or (`off`) took it away; the newest counts. `about`: the id of
    the task, the uid of the run or trial.
    """

    __table_args__ = (Index(None, "kind", "about"),)

    uid: str = Field(primary_key=True)
    kind: str
    about: str
    tag: str = Field(sa_type=FreeText)
    off: bool = False
    person: str = Field(foreign_key="person.name")
    at: datetime = Field(sa_type=UtcDateTime)


class StandingRow(Row, table=True):
    """The state of each revision, derived from its contributions, for queries that must not read them."""

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
