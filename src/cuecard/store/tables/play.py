"""What live sessions keep besides their trials' logs."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, Text, UniqueConstraint
from sqlmodel import Field

from cuecard.store.tables.base import FreeText, Row, UtcDateTime


class ShadowRow(Row, table=True):
    """Append-only: what a simulator would have said at one point of a trial. `state` is the hash of the
    dialogue up to there, `simulator` of who it is; `player`, `reply` and `calls` are JSON.
    """

    __table_args__ = (UniqueConstraint("trial_id", "state", "simulator"),)

    id: int | None = Field(default=None, primary_key=True)
    trial_id: int = Field(foreign_key="trial.id")
    state: str
    simulator: str
    turn: int
    player: str = Field(sa_type=Text)
    reply: str = Field(sa_type=Text)
    calls: str = Field(sa_type=Text)
    live: bool
    at: datetime = Field(sa_type=UtcDateTime)


class SeatMoveRow(Row, table=True):
    """Append-only: what a person who plays the agent did, for the session to carry out. `place` is the
    key of the step in its take; `body` is JSON.
    """

    __table_args__ = (UniqueConstraint("trial_id", "take", "place"),)

    id: int | None = Field(default=None, primary_key=True)
    trial_id: int = Field(foreign_key="trial.id")
    take: int
    place: str
    person: str = Field(foreign_key="person.name")
    body: str = Field(sa_type=Text)
    at: datetime = Field(sa_type=UtcDateTime)


class SessionFormRow(Row, table=True):
    """Append-only: what a person said of a session at its end; the newest counts. `form` is the hash of
    the questions, `questions` and `answers` are JSON.
    """

    __table_args__ = (Index(None, "trial_id", "person"),)

    id: int | None = Field(default=None, primary_key=True)
    trial_id: int = Field(foreign_key="trial.id")
    person: str = Field(foreign_key="person.name")
    form: str
    questions: str = Field(sa_type=Text)
    answers: str = Field(sa_type=FreeText)
    at: datetime = Field(sa_type=UtcDateTime)
