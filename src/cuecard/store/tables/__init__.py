"""The SQLModel tables. Only rooms of the store work with them."""

from cuecard.store.tables.base import Row, metadata
from cuecard.store.tables.play import SeatMoveRow, SessionFormRow, ShadowRow
from cuecard.store.tables.results import TrialFiguresRow, TrialNoteRow
from cuecard.store.tables.reviews import ContributionRow, ReviewFormRow, StandingRow
from cuecard.store.tables.runs import EventRow, PayloadRow, RunLeaseRow, RunRow, TrialRow, UsageRow
from cuecard.store.tables.tasks import (
    ContentRow,
    CosignRow,
    DraftRow,
    EffortRow,
    PersonRow,
    RevisionRow,
    TaskRow,
    ThrownDraftRow,
)
from cuecard.store.tables.verdicts import (
    AdjudicationRow,
    JudgeCallRow,
    JudgementRow,
    LabelRow,
    LabelSetRow,
    RevealRow,
    SetItemRow,
    VerdictRow,
)

__all__ = [
    "AdjudicationRow",
    "ContentRow",
    "ContributionRow",
    "CosignRow",
    "DraftRow",
    "EffortRow",
    "EventRow",
    "JudgeCallRow",
    "JudgementRow",
    "LabelRow",
    "LabelSetRow",
    "PayloadRow",
    "PersonRow",
    "RevealRow",
    "ReviewFormRow",
    "RevisionRow",
    "Row",
    "RunLeaseRow",
    "RunRow",
    "SeatMoveRow",
    "SessionFormRow",
    "SetItemRow",
    "ShadowRow",
    "StandingRow",
    "TaskRow",
    "ThrownDraftRow",
    "TrialFiguresRow",
    "TrialNoteRow",
    "TrialRow",
    "UsageRow",
    "VerdictRow",
    "metadata",
]
