"""Adjudication: items on which decisions differ, and a third person's decision with its cause."""

from cuecard.annotate.adjudication.causes import CauseReport, JudgeErrors, causes_of
from cuecard.annotate.adjudication.deciding import (
    CAUSES,
    JUDGE_CAUSES,
    Outcome,
    Why,
    adjudicate,
)
from cuecard.annotate.adjudication.disputes import (
    REASONS,
    Dispute,
    MachineSide,
    Reason,
    disputes,
)
from cuecard.annotate.adjudication.gold import comment_on_gold, disputed_runs, place_in_task

__all__ = [
    "CAUSES",
    "JUDGE_CAUSES",
    "REASONS",
    "CauseReport",
    "Dispute",
    "JudgeErrors",
    "MachineSide",
    "Outcome",
    "Reason",
    "Why",
    "adjudicate",
    "causes_of",
    "comment_on_gold",
    "disputed_runs",
    "disputes",
    "place_in_task",
]
