"""One reviewer at work: what to review, what may be seen, and what a review must say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.annotate.review.dimensions import DIMENSIONS, Dimension
from cuecard.annotate.review.workflow import REVIEWS_NEEDED, authors_of, settle
from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import _
from cuecard.core.tasks import Family, Task
from cuecard.core.tasks.base import Frozen
from cuecard.store.records import Review, ReviewDecision, TaskState, TaskSummary

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class ReviewSheet(Frozen):
    """A revision as its reviewer may see it: without the author, and without the other's review
    until both are in. `obstacle` says why this person may not review it now, "" if they may; `own`
    whether they are an author.
    """

    task: Task
    revision: int
    state: TaskState
    dimensions: tuple[Dimension, ...]
    mine: Review | None
    visible: tuple[Review, ...]
    previous: Task | None
    obstacle: str
    own: bool


def review_queue(workspace: Workspace, person: str) -> tuple[TaskSummary, ...]:
    """Tasks that wait for this person's review, without their authors' names.

    Settles what a process that died between a second review and its consequence left behind.
    """
    handed_in = workspace.reviews.handed_in()
    for task_id, reviews in handed_in.items():
        if reviews >= REVIEWS_NEEDED:
            settle(workspace, task_id)
    return tuple(workspace.reviews.queue(person)) if handed_in else ()


def review_sheet(workspace: Workspace, task_id: str, person: str) -> ReviewSheet:
    """The newest revision for review. `previous`: the revision this person reviewed before, to
    show only what changed. Raises `NotFound`.
    """
    head = workspace.tasks.revision(task_id)
    visible = tuple(workspace.reviews.visible_to(person, task_id))
    mine = [review for review in visible if review.reviewer == person]
    before = max((r.revision for r in mine if r.revision < head.number), default=None)
    return ReviewSheet(
        task=head.task,
        revision=head.number,
        state=workspace.reviews.state(task_id),
        dimensions=DIMENSIONS[head.task.family],
        mine=next((review for review in mine if review.revision == head.number), None),
        visible=visible,
        previous=workspace.tasks.revision(task_id, before).task if before else None,
        obstacle=_obstacle(workspace, task_id, head.number, person),
        own=person in authors_of(workspace, task_id),
    )


def review(workspace: Workspace, given: Review) -> TaskState:
    """Hand in a review; append-only. With the second one the task is approved or returned.

    Raises `NotAllowed` when this person may not review this revision now or the review is not
    complete, `Conflict` when it was handed in already. Returns the state that then holds.
    """
    if obstacle := _obstacle(workspace, given.task_id, given.revision, given.reviewer):
        raise NotAllowed(_("This review is not possible"), obstacle)
    family = workspace.tasks.revision(given.task_id, given.revision).task.family
    if complaint := check_review(given, family):
        raise NotAllowed(_("This review is not complete"), complaint)
    workspace.reviews.add(given)
    return settle(workspace, given.task_id)


def check_review(given: Review, family: Family) -> str:
    """What is missing in or wrong with a review, translated; "" if nothing is."""
    dimensions = DIMENSIONS[family]
    keys = {dimension.key for dimension in dimensions}
    if unknown := sorted(set(given.ratings) - keys):
        return _("There is no dimension {names}.").format(names=", ".join(unknown))
    if missing := [_(d.label) for d in dimensions if d.key not in given.ratings]:
        return _("Not rated yet: {names}.").format(names=", ".join(missing))
    failed = [_(d.label) for d in dimensions if given.ratings[d.key] == "fail"]
    if failed and given.decision is ReviewDecision.APPROVE:
        return _("A task that fails in “{name}” cannot be approved.").format(name=failed[0])
    commented = any(text.strip() for _place, text in given.comments)
    if failed and not commented:
        return _("Say in a comment why “{name}” fails.").format(name=failed[0])
    if given.decision is ReviewDecision.RETURN and not commented:
        return _("Say in a comment what the author should change.")
    return ""


def _obstacle(workspace: Workspace, task_id: str, revision: int, person: str) -> str:
    head = workspace.tasks.revision(task_id).number
    if workspace.reviews.state(task_id) is not TaskState.IN_REVIEW:
        return _("This task is not in review.")
    if revision != head:
        return _("Revision {old} was replaced by revision {new} meanwhile.").format(
            old=revision, new=head
        )
    if person in authors_of(workspace, task_id):
        return _("Nobody reviews a task that they have worked on.")
    own = workspace.reviews.visible_to(person, task_id, revision)
    if any(review.reviewer == person for review in own):
        return _("You have reviewed this revision already.")
    if workspace.reviews.counts(task_id, revision) >= REVIEWS_NEEDED:
        return _("This revision already has its two reviews.")
    return ""
