"""Who reviews what: taking a task from the queue, giving it back, and what coordinators do.

Each of these is one entry, checked against the whole log in the transaction that adds it, so of two
people who reach for the last place one gets it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cuecard.annotate.review.places import free_places, lease_of, may_assign, may_review, may_take
from cuecard.annotate.review.protocol import Protocol
from cuecard.annotate.review.queue import QueueLine, queue_for
from cuecard.annotate.review.workflow import authors_in
from cuecard.core.errors import Conflict, NotAllowed, NotFound
from cuecard.core.i18n import _
from cuecard.core.review import (
    Claimed,
    Contribution,
    Prioritised,
    Released,
    TaskLog,
    TaskState,
    standing_of,
)

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

__all__ = [
    "QueueLine",
    "assign",
    "free_places",
    "may_review",
    "prioritise",
    "queue_for",
    "renew",
    "skip",
    "take",
    "unassign",
]


def take(
    workspace: Workspace, task_id: str, person: str, protocol: Protocol, now: datetime | None = None
) -> datetime:
    """Have the newest revision to oneself until the time that is returned; who has it already keeps
    it longer. Raises `NotAllowed`, `NotFound`.
    """
    moment = now or datetime.now(UTC)
    until = moment + protocol.lease

    def guard(log: TaskLog) -> None:
        _unless(may_take(log, person, moment, protocol))

    body = Claimed(person=person, until=until)
    workspace.reviews.act(task_id, person, body, guard=guard, at=moment)
    return until


def renew(
    workspace: Workspace, task_id: str, person: str, protocol: Protocol, now: datetime | None = None
) -> datetime | None:
    """Keep the lease of somebody who is at work: until when they now have the task; None where others
    have taken the places meanwhile, or it is not in review any more. Adds an entry only when less than
    half of the time is left, so it may be called often. Raises `NotFound`.
    """
    moment = now or datetime.now(UTC)
    log = workspace.reviews.log(task_id)
    until = lease_of(log, person, moment)
    if until is not None and until - moment > protocol.lease / 2:
        return until
    try:
        return take(workspace, task_id, person, protocol, moment)
    except (NotAllowed, Conflict):
        return until


def skip(
    workspace: Workspace, task_id: str, person: str, reason: str, now: datetime | None = None
) -> Contribution:
    """Leave the newest revision to others, with a reason. Raises `NotAllowed`, `NotFound`."""
    moment = now or datetime.now(UTC)

    def guard(log: TaskLog) -> None:
        standing = standing_of(log)
        if standing.state is not TaskState.IN_REVIEW:
            _unless(_("This task is not in review."))
        if person in authors_in(log):
            _unless(_("Nobody reviews a task that they have worked on."))
        if person in standing.now.reviewers:
            _unless(_("You have reviewed this revision already."))

    return workspace.reviews.act(task_id, person, _released(person, reason), guard=guard, at=moment)


def assign(
    workspace: Workspace,
    task_id: str,
    person: str,
    by: str,
    protocol: Protocol,
    now: datetime | None = None,
) -> datetime:
    """Give the newest revision to `person`, who need not have asked for it; returns until when.

    Raises `NotAllowed` unless `by` is a coordinator who has not written it and `person` may have it;
    `NotFound` for a task or person that is not there.
    """
    if not workspace.people.exists(person):
        raise NotFound(_("No such person"), person, _("They must have worked in this workspace."))
    moment = now or datetime.now(UTC)
    until = moment + protocol.lease

    def guard(log: TaskLog) -> None:
        _unless(may_assign(log, by, protocol))
        if obstacle := may_take(log, person, moment, protocol):
            raise NotAllowed(_("{name} cannot review this").format(name=person), obstacle)

    body = Claimed(person=person, until=until)
    workspace.reviews.act(task_id, by, body, guard=guard, at=moment)
    return until


def unassign(
    workspace: Workspace,
    task_id: str,
    person: str,
    by: str,
    reason: str,
    protocol: Protocol,
    now: datetime | None = None,
) -> Contribution:
    """Take the newest revision away from `person`, with a reason. Raises `NotAllowed`, `NotFound`."""
    moment = now or datetime.now(UTC)

    def guard(log: TaskLog) -> None:
        _unless(may_assign(log, by, protocol))
        if lease_of(log, person, moment) is None:
            _unless(_("{name} does not have this task.").format(name=person))

    return workspace.reviews.act(task_id, by, _released(person, reason), guard=guard, at=moment)


def prioritise(
    workspace: Workspace,
    task_id: str,
    by: str,
    priority: int,
    protocol: Protocol,
    now: datetime | None = None,
) -> Contribution:
    """Have the task reviewed sooner or later than others: from -2 to 2, 0 is usual. Raises
    `NotAllowed` unless `by` is a coordinator; `NotFound`.
    """

    def guard(log: TaskLog) -> None:
        if by not in protocol.coordinators:
            _unless(_("Only a coordinator may do this."))

    return workspace.reviews.act(
        task_id, by, Prioritised(priority=priority), guard=guard, at=now or datetime.now(UTC)
    )


def _released(person: str, reason: str) -> Released:
    if not reason.strip():
        _unless(_("Please give a reason."))
    return Released(person=person, reason=reason)


def _unless(obstacle: str) -> None:
    if obstacle:
        raise NotAllowed(_("This is not possible now"), obstacle)
