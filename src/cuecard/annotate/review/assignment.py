"""Who reviews what: the queue, who may review, claiming a task and giving it back, assigning by coordinators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cuecard.annotate.review.workflow import Protocol, authors_in
from cuecard.core.contributions import (
    Claimed,
    Contribution,
    Prioritised,
    Released,
    Reviewed,
    SkillsSet,
    TaskState,
)
from cuecard.core.errors import Conflict, NotAllowed, NotFound
from cuecard.core.i18n import _, ngettext
from cuecard.core.records import OpenRound, TaskSummary
from cuecard.core.review import RevisionStanding, Standing, TaskLog, claims_of, standing_of
from cuecard.core.text import contains_term

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


LOAD_WINDOW = timedelta(days=30)
"""For how long a review counts towards a person's load."""
AHEAD = 1.0
"""How many reviews above the average are clearly more."""
PATIENCE = timedelta(hours=24)
"""A task that has waited this long is open to people with a high load too."""
ANYTHING = SkillsSet()


@dataclass(frozen=True)
class QueueLine:
    """A task that a person may claim, or has claimed. `places`: how many more reviewers it needs; `mine`: until when
    the person's claim holds; `fits`: it is within their skills; `turn`: their load is not clearly above the average;
    `skipped`: they gave it back; `again`: they reviewed an earlier revision; `third`: two reviewers disagree about it.
    """

    task: TaskSummary
    submitted_at: datetime | None
    priority: int
    reviews: int
    needed: int
    places: int
    mine: datetime | None
    fits: bool
    turn: bool
    skipped: bool
    again: bool
    third: bool


def queue_for(
    workspace: Workspace,
    person: str,
    protocol: Protocol,
    now: datetime,
    *,
    with_skipped: bool = False,
) -> tuple[QueueLine, ...]:
    """What `person` may review now, without names of authors and reviewers. First their claims, by the time left; then
    by priority, turn, last places, and waiting time. Tasks outside their skills come later, skipped ones last.

    Empty for coordinators, who see who reviews and therefore do not review.
    """
    if person in protocol.coordinators:
        return ()
    rounds = [r for r in workspace.reviews.open_rounds(person, now) if not (r.wrote or r.reviewed)]
    if not rounds:
        return ()
    loads = loads_of(workspace.reviews.logs().values(), now)
    again = {task.id for task in workspace.reviews.reviewed(person)}
    lines = lines_of(rounds, person, loads, workspace.reviews.skills(), again, protocol, now)
    return tuple(line for line in lines if with_skipped or not line.skipped)


def lines_of(
    rounds: Iterable[OpenRound],
    person: str,
    loads: Mapping[str, int],
    skills: Mapping[str, SkillsSet],
    again: Collection[str],
    protocol: Protocol,
    now: datetime,
) -> list[QueueLine]:
    """The queue of `person`, from what they may know of every task in review. `loads`: see `loads_of`; `again`: tasks
    of which they reviewed an earlier revision.
    """
    team = (set(loads) | set(skills) | {person}) - protocol.coordinators
    lines: list[QueueLine] = []
    for open_round in rounds:
        held = open_round.claims + (open_round.mine is not None)
        places = max(open_round.needed - open_round.reviews - held, 0)
        if not places and open_round.mine is None:
            continue
        fitting = [name for name in team if fits(skills.get(name, ANYTHING), open_round.task)]
        waited = now - (open_round.submitted_at or now)
        lines.append(
            QueueLine(
                task=open_round.task,
                submitted_at=open_round.submitted_at,
                priority=open_round.priority,
                reviews=open_round.reviews,
                needed=open_round.needed,
                places=places,
                mine=open_round.mine,
                fits=person in fitting,
                turn=waited >= PATIENCE or not is_ahead(person, loads, fitting),
                skipped=open_round.released and open_round.mine is None,
                again=open_round.task.id in again,
                third=open_round.needed > 2,
            )
        )
    return sorted(lines, key=_order)


def next_line(lines: Sequence[QueueLine]) -> QueueLine | None:
    """The task to review next: the first that can be taken without a question; the person's claims come first."""
    return next((line for line in lines if line.mine or (line.fits and line.turn)), None)


def fits(skills: SkillsSet, task: TaskSummary) -> bool:
    """Whether a task is in a declared language and domain; none declared means any. A domain fits if it contains the
    skill ("medicine" fits "clinical medicine").
    """
    if skills.languages and task.language not in skills.languages:
        return False
    return not skills.domains or any(contains_term(task.domain, name) for name in skills.domains)


def loads_of(logs: Iterable[TaskLog], now: datetime) -> Counter[str]:
    """Each person's load: reviews of the last 30 days and claims that hold."""
    since = now - LOAD_WINDOW
    loads: Counter[str] = Counter()
    for log in logs:
        for entry in log.contributions:
            if isinstance(entry.body, Reviewed) and entry.at >= since:
                loads[entry.by] += 1
        if log.revisions:
            loads.update(claims_of(log, standing_of(log).head, now).keys())
    return loads


def is_ahead(person: str, loads: Mapping[str, int], team: Collection[str]) -> bool:
    """Whether a person's load is clearly above the average of `team`."""
    if len(team) < 2:
        return False
    average = sum(loads.get(name, 0) for name in team) / len(team)
    return loads.get(person, 0) > average + AHEAD


def _order(line: QueueLine) -> tuple[object, ...]:
    return (
        line.mine is None,
        line.mine.timestamp() if line.mine else 0,
        line.skipped,
        not line.fits,
        -line.priority,
        not line.turn,
        line.places > 1,
        line.submitted_at or line.task.updated_at,
        line.task.id,
    )


def free_places(standing: RevisionStanding, leases: Collection[str]) -> int:
    """How many more reviewers the revision needs, beside the claims (`leases`) that hold."""
    held = set(leases) - set(standing.reviewers)
    return max(standing.needed - len(standing.reviewers) - len(held), 0)


def may_review(log: TaskLog, person: str, now: datetime, protocol: Protocol) -> str:
    """Why this person may not hand in a review of the newest revision now, translated; "" if they may.

    Without a claim they may while a place is free, so that finished work is not refused needlessly.
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
    """Why this person cannot claim the task, or extend the claim, translated; "" if they can."""
    standing = standing_of(log)
    if obstacle := _outside(log, standing, person, protocol):
        return obstacle
    leases = claims_of(log, standing.head, now)
    if person in leases or free_places(standing.now, leases):
        return ""
    return _("Enough people have this task already.")


def may_assign(log: TaskLog, by: str, protocol: Protocol) -> str:
    """Why `by` may not assign reviewers to the task, translated; "" if they may.

    Assigning shows who reviews, so authors do not assign for their own task.
    """
    if by not in protocol.coordinators:
        return _("Only a coordinator may do this.")
    if by in authors_in(log):
        return _("This is a task of yours; another coordinator says who reviews it.")
    if standing_of(log).state is not TaskState.IN_REVIEW:
        return _("This task is not in review.")
    return ""


def lease_of(log: TaskLog, person: str, now: datetime) -> datetime | None:
    """Until when this person's claim on the newest revision holds; None without one."""
    return claims_of(log, standing_of(log).head, now).get(person)


def _outside(log: TaskLog, standing: Standing, person: str, protocol: Protocol) -> str:
    """What bars a person from reviewing, whatever others have claimed."""
    if standing.state is not TaskState.IN_REVIEW:
        return _("This task is not in review.")
    if person in authors_in(log):
        return _("Nobody reviews a task that they have worked on.")
    if person in protocol.coordinators:
        return _("Coordinators see who reviews, so they do not review.")
    if person in standing.now.reviewers:
        return _("Nobody reviews the same revision twice.")
    if len(standing.now.reviewers) >= standing.now.needed:
        return _("This revision already has its reviews.")
    return ""


def take(
    workspace: Workspace, task_id: str, person: str, protocol: Protocol, now: datetime | None = None
) -> datetime:
    """Claim the newest revision for review, or extend the claim; gives until when it holds. Raises `NotAllowed`,
    `NotFound`.
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
    """Extend the claim of a person at work, and give until when it holds; None if others have taken the places
    meanwhile, or it is not in review any more. Saves an entry only when less than half of the time is left, so it may
    be called often. Raises `NotFound`.
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
    """Give the newest revision back, with a reason. Raises `NotAllowed`, `NotFound`."""
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
    *,
    anew: bool = True,
) -> datetime:
    """Assign the newest revision to `person`; gives until when. To one who has it, only `anew`: their time begins again.

    Raises `NotAllowed` unless `by` is a coordinator who has not written it and `person` may have it; `NotFound` for an
    unknown task or person.
    """
    if not workspace.people.exists(person):
        raise NotFound(_("No such person"), person, _("They must have worked in this workspace."))
    moment = now or datetime.now(UTC)
    until = moment + protocol.lease

    def guard(log: TaskLog) -> None:
        _unless(may_assign(log, by, protocol))
        if obstacle := may_take(log, person, moment, protocol):
            raise NotAllowed(_("{name} cannot review this").format(name=person), obstacle)
        if not anew and lease_of(log, person, moment) is not None:
            raise NotAllowed(_("{name} has this task already.").format(name=person))

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
    """Withdraw the newest revision from `person`, with a reason. Raises `NotAllowed`, `NotFound`."""
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
    """Set the priority of a task's review, from -2 to 2; the default is 0. Raises `NotAllowed` unless `by` is a
    coordinator; `NotFound`.
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
