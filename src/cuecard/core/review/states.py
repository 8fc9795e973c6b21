"""The states of a task, and every step between them in one table."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from cuecard.core.tasks.base import Frozen

REVIEWS_NEEDED = 2


class TaskState(StrEnum):
    """Where a task stands; always about its newest revision."""

    DRAFT = "draft"
    IN_REVIEW = "in_review"
    RETURNED = "returned"
    APPROVED = "approved"
    RETIRED = "retired"


class Action(StrEnum):
    """`revise` follows from saving a revision, `approve` and `return` from reviews; the others are
    what people do.
    """

    SUBMIT = "submit"
    WITHDRAW = "withdraw"
    ASK_THIRD = "ask_third"
    APPROVE = "approve"
    RETURN = "return"
    REOPEN = "reopen"
    REVISE = "revise"
    RETIRE = "retire"
    RESTORE = "restore"


@dataclass(frozen=True)
class Transition:
    """`target` None: back to where it stood. `by`: whose step it is."""

    sources: frozenset[TaskState]
    target: TaskState | None
    by: Literal["author", "reviews", "anyone"]


_ALL = frozenset(TaskState)
TRANSITIONS: dict[Action, Transition] = {
    Action.SUBMIT: Transition(
        frozenset({TaskState.DRAFT, TaskState.RETURNED}), TaskState.IN_REVIEW, "author"
    ),
    Action.WITHDRAW: Transition(frozenset({TaskState.IN_REVIEW}), TaskState.DRAFT, "author"),
    Action.ASK_THIRD: Transition(frozenset({TaskState.RETURNED}), TaskState.IN_REVIEW, "author"),
    Action.APPROVE: Transition(frozenset({TaskState.IN_REVIEW}), TaskState.APPROVED, "reviews"),
    # A review that was made elsewhere may come in late and undo an approval, never make one.
    Action.RETURN: Transition(
        frozenset({TaskState.IN_REVIEW, TaskState.APPROVED}), TaskState.RETURNED, "reviews"
    ),
    Action.REOPEN: Transition(frozenset({TaskState.APPROVED}), TaskState.DRAFT, "author"),
    Action.REVISE: Transition(_ALL - {TaskState.RETIRED}, TaskState.DRAFT, "anyone"),
    Action.RETIRE: Transition(
        frozenset({TaskState.DRAFT, TaskState.RETURNED, TaskState.APPROVED}),
        TaskState.RETIRED,
        "author",
    ),
    Action.RESTORE: Transition(frozenset({TaskState.RETIRED}), None, "author"),
}

Seen = Literal["nobody", "party", "all"]
"""Who may read the reviews of a revision besides their own: nobody, its reviewers and authors, all."""


class Move(Frozen):
    """One step in a task's workflow history."""

    task_id: str
    revision: int
    action: Action
    state: TaskState
    by: str
    reason: str
    at: datetime
