"""The SQLModel tables. Only rooms of the store work with them."""

from cuecard.store.tables.base import Row, metadata
from cuecard.store.tables.reviews import MoveRow, ReviewFormRow, ReviewRow
from cuecard.store.tables.runs import EventRow, PayloadRow, RunRow, TrialRow, UsageRow
from cuecard.store.tables.tasks import (
    ContentRow,
    DraftRow,
    EffortRow,
    PersonRow,
    RevisionRow,
    TaskRow,
    ThrownDraftRow,
)
from cuecard.store.tables.verdicts import JudgeCallRow, JudgementRow, LabelRow, VerdictRow

__all__ = [
    "ContentRow",
    "DraftRow",
    "EffortRow",
    "EventRow",
    "JudgeCallRow",
    "JudgementRow",
    "LabelRow",
    "MoveRow",
    "PayloadRow",
    "PersonRow",
    "ReviewFormRow",
    "ReviewRow",
    "RevisionRow",
    "Row",
    "RunRow",
    "TaskRow",
    "ThrownDraftRow",
    "TrialRow",
    "UsageRow",
    "VerdictRow",
    "metadata",
]
