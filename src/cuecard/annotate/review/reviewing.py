"""One reviewer at work: what they may see, and what a review must say."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cuecard.annotate.review.dimensions import Dimension
from cuecard.annotate.review.places import may_review
from cuecard.annotate.review.protocol import EMBEDDED_PROTOCOL, Protocol
from cuecard.annotate.review.spot_check import check_marks
from cuecard.annotate.review.workflow import authors_in
from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import _
from cuecard.core.review import (
    ReviewDecision,
    Reviewed,
    TaskLog,
    TaskState,
    standing_of,
)
from cuecard.core.tasks import Task
from cuecard.core.tasks.base import Frozen
from cuecard.store.records import Review

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class ReviewSheet(Frozen):
    """A revision as its reviewer may see it: without the author, and without the other's review
    until both are in. `obstacle` says why this person may not review it now, "" if they may; `own`
    whether they are an author. `previous`: the revision that they reviewed before.
    """

    task: Task
    revision: int
    uid: str
    state: TaskState
    dimensions: tuple[Dimension, ...]
    mine: Review | None
    visible: tuple[Review, ...]
    previous: Task | None
    previous_number: int | None
    obstacle: str
    own: bool


def review_sheet(
    workspace: Workspace,
    task_id: str,
    person: str,
    protocol: Protocol = EMBEDDED_PROTOCOL,
    now: datetime | None = None,
) -> ReviewSheet:
    """The newest revision for review. Raises `NotFound`."""
    head = workspace.tasks.revision(task_id)
    visible = tuple(workspace.reviews.visible_to(person, task_id))
    mine = [review for review in visible if review.reviewer == person]
    before = max((r.revision for r in mine if r.revision < head.number), default=None)
    log = workspace.reviews.log(task_id)
    return ReviewSheet(
        task=head.task,
        revision=head.number,
        uid=head.uid,
        state=workspace.reviews.state(task_id),
        dimensions=protocol.dimensions(head.task.family),
        mine=next((review for review in mine if review.revision == head.number), None),
        visible=visible,
        previous=workspace.tasks.revision(task_id, before).task if before else None,
        previous_number=before,
        obstacle=obstacle_to_review(log, head.number, person, protocol, now or datetime.now(UTC)),
        own=person in authors_in(log),
    )


def review(
    workspace: Workspace,
    given: Review,
    *,
    protocol: Protocol = EMBEDDED_PROTOCOL,
    at: datetime | None = None,
) -> TaskState:
    """Hand in a review; append-only. The state follows: with the second one the task is approved or
    returned. Returns it.

    Raises `NotAllowed` when this person may not review this revision now or the review is not
    complete, `Conflict` when it was handed in already.
    """
    revision = workspace.tasks.revision(given.task_id, given.revision)
    complaint = check_review(given, protocol.dimensions(revision.task.family))
    if complaint := complaint or check_marks(given, revision.task, revision.uid):
        raise NotAllowed(_("This review is not complete"), complaint)

    now = at or datetime.now(UTC)

    def guard(log: TaskLog) -> None:
        if obstacle := obstacle_to_review(log, given.revision, given.reviewer, protocol, now):
            raise NotAllowed(_("This review is not possible"), obstacle)

    body = Reviewed(
        ratings=given.ratings,
        decision=given.decision,
        comments=given.comments,
        checks=given.checks,
        sample=given.sample,
        seconds=given.seconds,
        protocol=protocol.stamp,
    )
    workspace.reviews.act(
        given.task_id, given.reviewer, body, revision=given.revision, guard=guard, at=now
    )
    return workspace.reviews.state(given.task_id)


def check_review(given: Review, dimensions: Sequence[Dimension]) -> str:
    """What is missing in or wrong with a review, translated; "" if nothing is."""
    keys = {dimension.key for dimension in dimensions}
    if unknown := sorted(set(given.ratings) - keys):
        return _("There is no dimension {names}.").format(names=", ".join(unknown))
    if missing := [_(d.label) for d in dimensions if d.key not in given.ratings]:
        return _("Not rated yet: {names}.").format(names=", ".join(missing))
    failed = [d for d in dimensions if given.ratings[d.key] == "fail"]
    if failed and given.decision is ReviewDecision.APPROVE:
        return _("A task that fails in “{name}” cannot be approved.").format(
            name=_(failed[0].label)
        )
    said = [comment for comment in given.comments if comment.text.strip()]
    explained = {comment.dimension for comment in said}
    if unexplained := [_(d.label) for d in failed if d.key not in explained]:
        return _("Say in a comment why “{name}” fails.").format(name=unexplained[0])
    if given.decision is ReviewDecision.RETURN and not said:
        return _("Say in a comment what the author should change.")
    return ""


def obstacle_to_review(
    log: TaskLog, revision: int, person: str, protocol: Protocol, now: datetime
) -> str:
    """Why `person` may not hand in a review of `revision` now, translated; "" if they may."""
    head = standing_of(log).head
    if revision != head:
        return _("Revision {old} was replaced by revision {new} meanwhile.").format(
            old=revision, new=head
        )
    return may_review(log, person, now, protocol)
