"""What is kept of results: figures counted once, and notes of people on trials."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Text
from sqlmodel import Field

from cuecard.store.tables.base import FreeText, Row, UtcDateTime


class TrialFiguresRow(Row, table=True):
    """Derived, and made anew where `stamp` is not what it would be now. `body` is JSON; reasons in it are in
    `language`.
    """

    judgement_id: int = Field(primary_key=True, foreign_key="judgement.id")
    language: str = Field(primary_key=True)
    trial_id: int = Field(foreign_key="trial.id", index=True)
    stamp: str
    body: str = Field(sa_type=Text)


class TrialNoteRow(Row, table=True):
    """Append-only: a bookmark or comment at a place of a trial, or that the note `about` was taken back."""

    uid: str = Field(primary_key=True)
    trial_id: int = Field(foreign_key="trial.id", index=True)
    person: str = Field(foreign_key="person.name")
    kind: str
    place: str
    text: str = Field(sa_type=FreeText)
    about: str = ""
    at: datetime = Field(sa_type=UtcDateTime)
