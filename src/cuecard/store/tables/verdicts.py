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
    """Append-only: the newest label of a person on an item counts, those given blind and those given
    after the verdict was revealed apart (`phase`). The item, not the verdict it was seen with, is what is
    labelled; hence `trial_id` and `item_key`. `seconds`: how long it took; `source`: the file it came
    from, "" if it was given here.
    """

    __table_args__ = (Index(None, "trial_id", "item_key", "person"),)
    id: int | None = Field(default=None, primary_key=True)
    verdict_id: int | None = Field(default=None, foreign_key="verdict.id")
    trial_id: int = Field(foreign_key="trial.id")
    item_key: str = Field(sa_type=FreeText)
    person: str = Field(foreign_key="person.name")
    value: str
    comment: str = Field(sa_type=FreeText)
    created_at: datetime = Field(sa_type=UtcDateTime)
    phase: str = "blind"
    seconds: float = 0
    gold_wrong: bool = False
    source: str = Field(default="", sa_type=FreeText)


class RevealRow(Row, table=True):
    """Append-only: when a person first saw what was decided on an item."""

    trial_id: int = Field(primary_key=True, foreign_key="trial.id")
    item_key: str = Field(primary_key=True, sa_type=FreeText)
    person: str = Field(primary_key=True, foreign_key="person.name")
    at: datetime = Field(sa_type=UtcDateTime)


class LabelSetRow(Row, table=True):
    """Append-only: items that were drawn to be labelled; `plan` is JSON and says how."""

    id: int | None = Field(default=None, primary_key=True)
    uid: str = Field(index=True, unique=True)
    name: str = Field(sa_type=FreeText)
    created_by: str = Field(foreign_key="person.name")
    created_at: datetime = Field(sa_type=UtcDateTime)
    plan: str = Field(sa_type=Text)


class SetItemRow(Row, table=True):
    """Append-only. `probability`: with which the item was drawn; `raters`: how many people are to label
    it; `people`: a JSON list of those who are, empty for anybody.
    """

    __table_args__ = (Index(None, "trial_id", "item_key"),)
    set_id: int = Field(primary_key=True, foreign_key="labelset.id")
    position: int = Field(primary_key=True)
    trial_id: int = Field(foreign_key="trial.id")
    item_key: str = Field(sa_type=FreeText)
    stratum: str = Field(sa_type=FreeText)
    probability: float
    raters: int
    people: str = Field(sa_type=Text)


class AdjudicationRow(Row, table=True):
    """Append-only: the newest on an item counts."""

    __table_args__ = (Index(None, "trial_id", "item_key"),)
    id: int | None = Field(default=None, primary_key=True)
    trial_id: int = Field(foreign_key="trial.id")
    item_key: str = Field(sa_type=FreeText)
    by: str = Field(foreign_key="person.name")
    value: str
    cause: str
    comment: str = Field(sa_type=FreeText)
    at: datetime = Field(sa_type=UtcDateTime)
