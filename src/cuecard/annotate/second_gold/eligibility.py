"""Who may build a second gold: nobody who could have seen the author's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cuecard.core.errors import Conflict, NotAllowed
from cuecard.core.i18n import _
from cuecard.core.review import Claimed, GoldBuilt, Reviewed, TaskLog, TaskState, standing_of

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


def why_not(log: TaskLog, person: str) -> str:
    """Why `person` may not build a second gold of the task's newest revision, "" if they may. Who has
    handed one in of an earlier revision has seen the comparison.
    """
    if not person:
        return _("Say who you are first.")
    if standing_of(log).state is TaskState.RETIRED:
        return _("This task is archived.")
    if any(person in node.authors for node in log.revisions):
        return _("You have worked on this task, so you know its gold.")
    for entry in log.contributions:
        match entry.body:
            case Reviewed() if entry.by == person:
                return _("You have reviewed this task, so you know its gold.")
            case Claimed(person=reviewer) if reviewer == person:
                return _("You have had this task to review, so you may have seen its gold.")
            case GoldBuilt() if entry.by == person:
                return _("You have already handed in a second gold of this task.")
            case _:
                pass
    return ""


def obstacle(ws: Workspace, task_id: str, person: str) -> str:
    """As `why_not`, and what only this workspace knows: an edit or a review that was begun. Raises
    `NotFound`.
    """
    if reason := why_not(ws.reviews.log(task_id), person):
        return reason
    if ws.drafts.get(task_id, person) is not None:
        return _("You have a draft of this task, so you know its gold.")
    if any(known == task_id for known, _revision in ws.review_forms.of(person)):
        return _("You have begun to review this task, so you know its gold.")
    return ""


def refusal(reason: str) -> NotAllowed:
    return NotAllowed(
        _("You cannot build this gold independently"),
        reason,
        _("Somebody who has seen neither its gold nor its reviews can."),
    )


def only_blind(person: str, revision: int) -> Callable[[TaskLog], None]:
    """A guard for the write that hands a second gold in: nothing may have changed meanwhile."""

    def guard(log: TaskLog) -> None:
        if reason := why_not(log, person):
            raise refusal(reason)
        if standing_of(log).head != revision:
            raise Conflict(
                _("This is not the newest revision any more"),
                _("Somebody saved this task while you handed in."),
                _("Your gold is kept. Hand it in again."),
            )

    return guard
