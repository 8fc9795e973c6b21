"""Dual review: who may move a task where, five dimensions by family, two reviewers who are blind to
the author and to each other.
"""

from cuecard.annotate.review.assignment import queue_for
from cuecard.annotate.review.dimensions import DIMENSIONS, Dimension
from cuecard.annotate.review.reviewing import (
    ReviewSheet,
    check_review,
    review,
    review_sheet,
)
from cuecard.annotate.review.workflow import (
    actions_of,
    ask_third,
    authors_in,
    reopen,
    restore,
    retire,
    submit,
    withdraw,
)
from cuecard.core.review import Action

__all__ = [
    "DIMENSIONS",
    "Action",
    "Dimension",
    "ReviewSheet",
    "actions_of",
    "ask_third",
    "authors_in",
    "check_review",
    "queue_for",
    "reopen",
    "restore",
    "retire",
    "review",
    "review_sheet",
    "submit",
    "withdraw",
]
