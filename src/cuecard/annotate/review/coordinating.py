"""What coordinators see: every task in review with who reviews it, and whom they could give it to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from cuecard.annotate.review.places import free_places, may_take
from cuecard.annotate.review.protocol import Protocol
from cuecard.annotate.review.queue import ANYTHING, fits, loads_of
from cuecard.annotate.review.workflow import authors_in
from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import _
from cuecard.core.review import Released, TaskLog, standing_of
from cuecard.core.review.claims import claims_of, released_by
from cuecard.store.records import TaskSummary

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class CoordinatorLine:
    """A task in review. `reviewers` have handed in, `leases` have it until then; both empty where it is
    the coordinator's `own` task, of which only the counts `reviews` and `held` are told.
    """

    task: TaskSummary
    submitted_at: datetime | None
    priority: int
    needed: int
    reviews: int
    held: int
    places: int
    own: bool
    reviewers: tuple[str, ...] = ()
    leases: tuple[tuple[str, datetime], ...] = ()


@dataclass(frozen=True)
class Candidate:
    """Somebody who could be given a task. `obstacle`: why not, translated; "" if they can. `load`:
    their reviews of the last 30 days and leases. `has`: until when they have it. `skipped`: why they
    gave it back, "" if they did not.
    """

    name: str
    fits: bool
    load: int
    skipped: str
    has: datetime | None
    obstacle: str


def lines_for(
    workspace: Workspace, coordinator: str, protocol: Protocol, now: datetime
) -> tuple[CoordinatorLine, ...]:
    """Every task in review: those with free places first, by priority and how long they have waited.
    Raises `NotAllowed` unless `coordinator` is one.
    """
    _only(coordinator, protocol)
    rounds = workspace.reviews.open_rounds(coordinator, now)
    logs = workspace.reviews.logs([r.task.id for r in rounds]) if rounds else {}
    lines: list[CoordinatorLine] = []
    for open_round in rounds:
        log = logs[open_round.task.id]
        standing = standing_of(log).now
        leases = claims_of(log, standing.number, now)
        own = coordinator in authors_in(log)
        lines.append(
            CoordinatorLine(
                task=open_round.task,
                submitted_at=standing.submitted_at,
                priority=open_round.priority,
                needed=standing.needed,
                reviews=len(standing.reviewers),
                held=len(leases),
                places=free_places(standing, leases),
                own=own,
                reviewers=() if own else standing.reviewers,
                leases=() if own else tuple(leases.items()),
            )
        )
    return tuple(sorted(lines, key=lambda line: (not line.places, -line.priority)))


def candidates(
    workspace: Workspace, task_id: str, coordinator: str, protocol: Protocol, now: datetime
) -> tuple[Candidate, ...]:
    """Everybody in the workspace but coordinators, whoever can take the task first, then within their
    skills, then with the least to do. Raises `NotAllowed` unless `coordinator` is one and has not
    written the task; `NotFound`.
    """
    _only(coordinator, protocol)
    log = workspace.reviews.log(task_id)
    if coordinator in authors_in(log):
        raise NotAllowed(
            _("This is not possible now"),
            _("This is a task of yours; another coordinator says who reviews it."),
        )
    head = standing_of(log).head
    leases, away = claims_of(log, head, now), _skips(log, head)
    loads = loads_of(workspace.reviews.logs().values(), now)
    skills = workspace.reviews.skills()
    task = next(
        r.task for r in workspace.reviews.open_rounds(coordinator, now) if r.task.id == task_id
    )
    found = [
        Candidate(
            name=name,
            fits=fits(skills.get(name, ANYTHING), task),
            load=loads[name],
            skipped="" if name in leases else away.get(name, ""),
            has=leases.get(name),
            obstacle=may_take(log, name, now, protocol),
        )
        for name in (person.name for person in workspace.people.all())
        if name not in protocol.coordinators
    ]
    return tuple(
        sorted(
            found,
            key=lambda c: (c.has is None, c.obstacle != "", c.skipped != "", not c.fits, c.load),
        )
    )


def _skips(log: TaskLog, revision: int) -> dict[str, str]:
    """Why people gave the revision back, of those who have not taken it again."""
    away = released_by(log, revision)
    entries = [entry for entry in log.contributions if entry.revision == revision]
    return {
        entry.body.person: entry.body.reason
        for entry in sorted(entries, key=lambda entry: entry.order)
        if isinstance(entry.body, Released) and entry.body.person in away
    }


def _only(person: str, protocol: Protocol) -> None:
    if person not in protocol.coordinators:
        raise NotAllowed(
            _("Only a coordinator may do this."),
            hint=_("cuecard.yaml names them under review: coordinators."),
        )
