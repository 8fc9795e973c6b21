"""People, tasks, their revisions and drafts."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Text
from sqlmodel import Field

from cuecard.store.tables.base import FreeText, Row, UtcDateTime


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
