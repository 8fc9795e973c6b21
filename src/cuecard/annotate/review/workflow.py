"""The states of a task and who may move it.

The store keeps the state and refuses a move from a state that is no longer so; the rules are here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from cuecard.core.errors import Conflict, NotAllowed
from cuecard.core.i18n import N_, _
from cuecard.store.records import Move, ReviewDecision, TaskState

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

REVIEWS_NEEDED = 2


class Who(StrEnum):
    """`authors`: who saved any revision of the task. `reviews`: nobody by hand; it follows when the
    second review of a revision is in.
    """

    AUTHORS = "authors"
    REVIEWS = "reviews"


class Action(StrEnum):
    SUBMIT = "submit"
    WITHDRAW = "withdraw"
    APPROVE = "approve"
    RETURN = "return"
    REOPEN = "reopen"
    RETIRE = "retire"
    RESTORE = "restore"


@dataclass(frozen=True)
class Transition:
    """`reasoned`: a reason must be given. `refused` says why not from another state."""

    sources: frozenset[TaskState]
    target: TaskState
    who: Who
    reasoned: bool
    refused: str


TRANSITIONS: dict[Action, Transition] = {
    Action.SUBMIT: Transition(
        frozenset({TaskState.DRAFT, TaskState.RETURNED}),
        TaskState.IN_REVIEW,
        Who.AUTHORS,
        False,
        N_("Only a draft or a returned task can be submitted."),
    ),
    Action.WITHDRAW: Transition(
        frozenset({TaskState.IN_REVIEW}),
        TaskState.DRAFT,
        Who.AUTHORS,
        True,
        N_("Only a task in review can be withdrawn."),
    ),
    Action.APPROVE: Transition(
        frozenset({TaskState.IN_REVIEW}),
        TaskState.APPROVED,
        Who.REVIEWS,
        False,
        N_("Only a task in review can be approved."),
    ),
    Action.RETURN: Transition(
        frozenset({TaskState.IN_REVIEW}),
        TaskState.RETURNED,
        Who.REVIEWS,
        False,
        N_("Only a task in review can be returned."),
    ),
    Action.REOPEN: Transition(
        frozenset({TaskState.APPROVED}),
        TaskState.DRAFT,
        Who.AUTHORS,
        True,
        N_("Only an approved task can be reopened."),
    ),
    Action.RETIRE: Transition(
        frozenset({TaskState.DRAFT, TaskState.RETURNED, TaskState.APPROVED}),
        TaskState.RETIRED,
        Who.AUTHORS,
        True,
        N_("A task in review must be withdrawn before it can be archived."),
    ),
    # It comes back to where it stood; only one that was revised meanwhile is a draft.
    Action.RESTORE: Transition(
        frozenset({TaskState.RETIRED}),
        TaskState.DRAFT,
        Who.AUTHORS,
        False,
        N_("Only an archived task can be restored."),
    ),
}


def submit(workspace: Workspace, task_id: str, by: str, reason: str = "") -> Move:
    """Put the newest revision before two reviewers. Raises `NotAllowed`, `Conflict`, `NotFound`."""
    return _act(workspace, Action.SUBMIT, task_id, by, reason)


def withdraw(workspace: Workspace, task_id: str, by: str, reason: str) -> Move:
    """Take a task out of review. Reviews that are in stay, but decide nothing until it is back."""
    return _act(workspace, Action.WITHDRAW, task_id, by, reason)


def reopen(workspace: Workspace, task_id: str, by: str, reason: str) -> Move:
    """Work on an approved task again."""
    return _act(workspace, Action.REOPEN, task_id, by, reason)


def retire(workspace: Workspace, task_id: str, by: str, reason: str) -> None:
    """Take a task out of use; its revisions, runs and reviews stay."""
    _check(workspace, Action.RETIRE, task_id, by, reason)
    workspace.tasks.retire(task_id, by=by, reason=reason.strip())


def restore(workspace: Workspace, task_id: str, by: str, reason: str = "") -> TaskState:
    """Take a task into use again; returns where it now stands."""
    _check(workspace, Action.RESTORE, task_id, by, reason)
    return workspace.tasks.restore(task_id, by=by, reason=reason.strip())


def settle(workspace: Workspace, task_id: str) -> TaskState:
    """Draw the consequence of two reviews of the newest revision, if they are in; idempotent.

    Two approvals approve, a return among them returns. Returns the state that then holds.
    """
    state = workspace.reviews.state(task_id)
    if state is not TaskState.IN_REVIEW:
        return state
    revision = workspace.tasks.revision(task_id).number
    # Nobody in particular sees the reviews of a revision exactly when all of them are in.
    given = workspace.reviews.visible_to("", task_id, revision)
    if len(given) < REVIEWS_NEEDED:
        return state
    returned = any(review.decision is ReviewDecision.RETURN for review in given)
    target = TRANSITIONS[Action.RETURN if returned else Action.APPROVE].target
    last = given[-1].reviewer
    try:
        workspace.reviews.move(task_id, revision, target, by=last, reason="", expected=state)
    except Conflict:
        # The other reviewer's process was quicker, or the author withdrew the task just now.
        return workspace.reviews.state(task_id)
    return target


def actions_of(workspace: Workspace, task_id: str, person: str) -> tuple[Action, ...]:
    """What this person may do with the task now, for the keys of a screen."""
    state = workspace.reviews.state(task_id)
    if person not in authors_of(workspace, task_id):
        return ()
    possible = [a for a, t in TRANSITIONS.items() if t.who is Who.AUTHORS and state in t.sources]
    if Action.SUBMIT in possible and _reviewed(workspace, task_id):
        possible.remove(Action.SUBMIT)
    return tuple(possible)


def authors_of(workspace: Workspace, task_id: str) -> frozenset[str]:
    """Everybody who saved a revision of the task."""
    return workspace.tasks.authors(task_id)


def _act(workspace: Workspace, action: Action, task_id: str, by: str, reason: str) -> Move:
    revision, state = _check(workspace, action, task_id, by, reason)
    return workspace.reviews.move(
        task_id,
        revision,
        TRANSITIONS[action].target,
        by=by,
        reason=reason.strip(),
        expected=state,
    )


def _check(
    workspace: Workspace, action: Action, task_id: str, by: str, reason: str
) -> tuple[int, TaskState]:
    transition = TRANSITIONS[action]
    revision = workspace.tasks.revision(task_id).number
    state = workspace.reviews.state(task_id)
    title = _("This is not possible now")
    if state not in transition.sources:
        raise NotAllowed(title, _(transition.refused))
    if by not in authors_of(workspace, task_id):
        raise NotAllowed(
            title,
            _("Only an author of {task} may do this.").format(task=task_id),
            _("Ask the author, or save a revision of your own first."),
        )
    if transition.reasoned and not reason.strip():
        raise NotAllowed(title, _("Please give a reason."))
    if action is Action.SUBMIT and _reviewed(workspace, task_id):
        raise NotAllowed(
            title,
            _("Revision {n} already has its two reviews.").format(n=revision),
            _("Change the task and save a new revision, then submit that."),
        )
    return revision, state


def _reviewed(workspace: Workspace, task_id: str) -> bool:
    revision = workspace.tasks.revision(task_id).number
    return workspace.reviews.counts(task_id, revision) >= REVIEWS_NEEDED
