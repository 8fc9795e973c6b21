"""Judgements, their verdicts, and the labels people give."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Index, Text, UniqueConstraint
from sqlmodel import Field

from cuecard.store.tables.base import FreeText, Row, UtcDateTime


class JudgementRow(Row, table=True):
    """Append-only; `judge` and `table_match` are JSON."""

    __table_args__ = (Index(None, "trial_id", "judge_name"),)
    id: int | None = Field(default=None, primary_key=True)
    trial_id: int = Field(foreign_key="trial.id")
    judge_name: str
    judge: str = Field(sa_type=Text)
    revision_hash: str
    prompt_hash: str
    trial_hash: str = ""
    table_match: str | None = Field(default=None, sa_type=Text)
    created_at: datetime = Field(sa_type=UtcDateTime)


class JudgeCallRow(Row, table=True):
    """Append-only: a judge's model call. The reply is JSON in `body` or, when large, compressed in
    `packed`.
    """

    trial_id: int = Field(primary_key=True, foreign_key="trial.id")
    judge: str = Field(primary_key=True, sa_type=FreeText)
    attempt: int = Field(primary_key=True)
    key: str = Field(primary_key=True, sa_type=FreeText)
    model: str = Field(sa_type=FreeText)
    prompt: str
    body: str | None = Field(default=None, sa_type=Text)
    packed: bytes | None = None


class VerdictRow(Row, table=True):
    """Append-only. `item_key` names the item within its trial; `shuffle` is a number that follows
    from trial and item alone, for orders that tell nothing about decisions; `supporting` is JSON.
    """

    __table_args__ = (
        UniqueConstraint("judgement_id", "position"),
        Index(None, "trial_id", "item_key"),
    )

    id: int | None = Field(default=None, primary_key=True)
    judgement_id: int = Field(foreign_key="judgement.id")
    position: int
    trial_id: int = Field(foreign_key="trial.id")
    item_key: str = Field(sa_type=FreeText)
    item_kind: str
    item_index: int
    item_column: str = Field(sa_type=FreeText)
    decision: str
    supporting: str = Field(sa_type=Text)
    rationale: str = Field(sa_type=FreeText)
    shuffle: int = Field(sa_type=BigInteger)


class LabelRow(Row, table=True):
    """Append-only: the newest label of a person on an item counts. The item, not the verdict it was
    seen with, is what is labelled; hence `trial_id` and `item_key`.
    """

    __table_args__ = (Index(None, "trial_id", "item_key", "person"),)
    id: int | None = Field(default=None, primary_key=True)
    verdict_id: int = Field(foreign_key="verdict.id")
    trial_id: int = Field(foreign_key="trial.id")
    item_key: str = Field(sa_type=FreeText)
    person: str = Field(foreign_key="person.name")
    value: str
    comment: str = Field(sa_type=FreeText)
    created_at: datetime = Field(sa_type=UtcDateTime)
