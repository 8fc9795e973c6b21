"""Who may have a place at the review of a task: pure rules over its log.

A revision in review has as many places as it needs reviews. A review that is in takes one for good, a
lease takes one until it ends. Everything here reads the whole log, so the answers are for rules and
for coordinators; reviewers are told counts.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from cuecard.annotate.review.protocol import Protocol
from cuecard.annotate.review.workflow import authors_in
from cuecard.core.i18n import _, ngettext
from cuecard.core.review import (
    RevisionStanding,
    Standing,
    TaskLog,
    TaskState,
    standing_of,
)
from cuecard.core.review.claims import claims_of


def free_places(standing: RevisionStanding, leases: Collection[str]) -> int:
    """How many more people the revision takes, beside the `leases` that hold."""
    held = set(leases) - set(standing.reviewers)
    return max(standing.needed - len(standing.reviewers) - len(held), 0)


def may_review(log: TaskLog, person: str, now: datetime, protocol: Protocol) -> str:
    """Why this person may not hand in a review of the newest revision now, translated; "" if they may.

    Who has no lease may while a place is free: work that was done is not refused without need.
    """
    standing = standing_of(log)
    if obstacle := _outside(log, standing, person, protocol):
        return obstacle
    leases = claims_of(log, standing.head, now)
    if person in leases or free_places(standing.now, leases):
        return ""
    taken = len(leases)
    return ngettext(
        "Your time for this task has run out, and {n} other person has taken the place that was left.",
        "Your time for this task has run out, and {n} other people have taken the places.",
        taken,
    ).format(n=taken)


def may_take(log: TaskLog, person: str, now: datetime, protocol: Protocol) -> str:
    """Why this person cannot have the task to review, or keep it longer, translated; "" if they can."""
    standing = standing_of(log)
    if obstacle := _outside(log, standing, person, protocol):
        return obstacle
    leases = claims_of(log, standing.head, now)
    if person in leases or free_places(standing.now, leases):
        return ""
    return _("Enough people have this task already.")


def may_assign(log: TaskLog, by: str, protocol: Protocol) -> str:
    """Why `by` may not say who reviews the task, translated; "" if they may.

    Assigning shows who reviews, so an author does not do it for their own task.
    """
    if by not in protocol.coordinators:
        return _("Only a coordinator may do this.")
    if by in authors_in(log):
        return _("This is a task of yours; another coordinator says who reviews it.")
    return ""


def lease_of(log: TaskLog, person: str, now: datetime) -> datetime | None:
    """Until when this person has the newest revision; None if they do not have it."""
    return claims_of(log, standing_of(log).head, now).get(person)


def _outside(log: TaskLog, standing: Standing, person: str, protocol: Protocol) -> str:
    """What bars a person whatever others have taken."""
    if standing.state is not TaskState.IN_REVIEW:
        return _("This task is not in review.")
    if person in authors_in(log):
        return _("Nobody reviews a task that they have worked on.")
    if person in protocol.coordinators:
        return _("Coordinators see who reviews, so they do not review.")
    if person in standing.now.reviewers:
        return _("You have reviewed this revision already.")
    if len(standing.now.reviewers) >= standing.now.needed:
        return _("This revision already has its reviews.")
    return ""
