"""Dual review: who may move a task where, five dimensions by family, two reviewers who are blind to
the author and to each other.
"""

from cuecard.annotate.review.dimensions import DIMENSIONS, Dimension
from cuecard.annotate.review.reviewing import (
    ReviewSheet,
    check_review,
    review,
    review_queue,
    review_sheet,
)
from cuecard.annotate.review.workflow import (
    TRANSITIONS,
    Action,
    Transition,
    Who,
    actions_of,
    reopen,
    restore,
    retire,
    settle,
    submit,
    withdraw,
)

__all__ = [
    "DIMENSIONS",
    "TRANSITIONS",
    "Action",
    "Dimension",
    "ReviewSheet",
    "Transition",
    "Who",
    "actions_of",
    "check_review",
    "reopen",
    "restore",
    "retire",
    "review",
    "review_queue",
    "review_sheet",
    "settle",
    "submit",
    "withdraw",
]
