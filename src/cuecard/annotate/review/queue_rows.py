"""The review queue as rows of text, for reviewers and for coordinators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from cuecard.annotate.review.assignment import (
    ANYTHING,
    fits,
    free_places,
    loads_of,
    may_assign,
    may_take,
)
from cuecard.annotate.review.workflow import SAMPLES_AUTHOR, Protocol, authors_in
from cuecard.core.contributions import Released
from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import _, age, joined, listed, ngettext, pgettext, plural, time_left
from cuecard.core.records import TaskSummary
from cuecard.core.review import TaskLog, claims_of, released_by, standing_of
from cuecard.core.text import one_line

if TYPE_CHECKING:
    from cuecard.annotate.review.assignment import QueueLine
    from cuecard.core.contributions import SkillsSet
    from cuecard.store.workspace import Workspace


_PRIORITY = {2: "▲▲", 1: "▲", 0: "", -1: "▽", -2: "▽▽"}


@dataclass(frozen=True)
class QueueRow:
    """A line of the queue. `note` is short, `about` has everything in words. `mine`: this person has claimed it. `since`: when
    it was submitted, if it waits for reviews.
    """

    task: TaskSummary
    priority: int = 0
    reviews: str = ""
    waits: str = ""
    since: datetime | None = None
    note: str = ""
    about: tuple[str, ...] = ()
    mine: bool = False
    can_take: bool = False
    can_skip: bool = False
    own: bool = False

    @property
    def urgency(self) -> str:
        return _PRIORITY.get(self.priority, "")


def queue_rows(
    lines: Sequence[QueueLine],
    begun: frozenset[tuple[str, int]],
    skills: SkillsSet | None,
    now: datetime,
) -> list[QueueRow]:
    """The lines of a reviewer. `begun`: (task, revision) of their unfinished reviews."""
    return [_queue_row(line, begun, skills, now) for line in lines]


def coordinator_rows(lines: Sequence[CoordinatorLine], now: datetime) -> list[QueueRow]:
    """The lines of a coordinator, who sees who reviews."""
    return [_coordinator_row(line, now) for line in lines]


def _queue_row(
    line: QueueLine, begun: frozenset[tuple[str, int]], skills: SkillsSet | None, now: datetime
) -> QueueRow:
    told: list[str] = []
    note = ""
    is_begun = (line.task.id, line.task.revision) in begun
    if line.mine is not None:
        left = time_left(line.mine, now)
        note = (_("begun, {time}") if is_begun else _("yours, {time}")).format(time=left)
        told.append(_("You have it, {time}; working on it gives you longer.").format(time=left))
    elif line.skipped:
        note = _("skipped")
        told.append(_("You skipped it; opening it takes it after all."))
    elif is_begun:
        note = pgettext("state", "begun")
        told.append(_("You began a review and your time ran out; opening it takes it again."))
    if not line.fits:
        note = note or _("other skills")
        told.append(_outside(skills))
    if not line.turn and line.mine is None:
        note = note or _("others first")
        told.append(
            _("You have had more reviews than the others of late, so they come first for a day.")
        )
    if line.third:
        note = note or _("third opinion")
        told.append(_("Two reviewers disagree; a third decides, without seeing what they said."))
    if line.again:
        note = note or _("seen before")
        told.append(_("You reviewed an earlier revision of it."))
    return QueueRow(
        task=line.task,
        priority=line.priority,
        reviews=f"{line.reviews}/{line.needed}",
        waits=age(line.submitted_at, now) if line.submitted_at else "",
        since=line.submitted_at,
        note=note,
        about=(_standing(line.reviews, line.needed, line.places), *told),
        mine=line.mine is not None,
        can_take=True,
        can_skip=not line.skipped,
    )


def _coordinator_row(line: CoordinatorLine, now: datetime) -> QueueRow:
    if line.own:
        note = _("a task of yours")
        told = _("This is a task of yours; another coordinator says who reviews it.")
    else:
        in_ = [_("{name} ✓").format(name=one_line(name)) for name in line.reviewers]
        held = [f"{one_line(name)} {time_left(until, now)}" for name, until in line.leases]
        note = listed(in_ + held) or _("nobody yet")
        told = _("In: {names}. At work: {others}.").format(
            names=listed(map(one_line, line.reviewers)) or "–", others=listed(held) or "–"
        )
    return QueueRow(
        task=line.task,
        priority=line.priority,
        reviews=f"{line.reviews}/{line.needed}",
        waits=age(line.submitted_at, now) if line.submitted_at else "",
        since=line.submitted_at,
        note=note,
        about=(_standing(line.reviews, line.needed, line.places), told),
        own=line.own,
    )


def _standing(reviews: int, needed: int, places: int) -> str:
    said = plural(
        "{given} of {n} review is in.", "{given} of {n} reviews are in.", needed, given=reviews
    )
    if not places:
        return said
    free = ngettext("{n} more person can take it.", "{n} more people can take it.", places)
    return joined((said, free.format(n=places)))


def _outside(skills: SkillsSet | None) -> str:
    names = [*skills.languages, *skills.domains] if skills else []
    return _("It is outside what you said you review ({skills}).").format(
        skills=one_line(listed(names)) or "–"
    )


@dataclass(frozen=True)
class CoordinatorLine:
    """A task in review. `reviewers` have handed in, `leases` are claims with their ends; both are empty for the
    coordinator's `own` task, of which only the counts `reviews` and `held` are shown.
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
    """Somebody who could be assigned a task. `obstacle`: why not, translated, "" if they can; `load`: their reviews of
    the last 30 days and claims; `has`: until when they have it; `skipped`: why they gave it back, "" if they did not; `able`:
    of several tasks, how many they can take, in words.
    """

    name: str
    fits: bool
    load: int
    skipped: str
    has: datetime | None
    obstacle: str
    able: str = ""


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
    workspace: Workspace,
    task_ids: Sequence[str],
    coordinator: str,
    protocol: Protocol,
    now: datetime,
) -> list[Candidate]:
    """Everybody in the workspace but coordinators, whoever can take most of these tasks first, then within their skills, then
    with the least to do. Of several, those that `coordinator` may not assign count as tasks that nobody can take. Raises
    `NotAllowed` unless they are a coordinator and may assign one of them; `NotFound`.
    """
    _only(coordinator, protocol)
    every, people = workspace.reviews.logs(), workspace.people.all()
    logs = [every.get(task_id) for task_id in task_ids]
    obstacles = [
        may_assign(log, coordinator, protocol) if log else _("It was never saved as a revision.")
        for log in logs
    ]
    if all(obstacles):
        raise NotAllowed(_("This is not possible now"), obstacles[0])
    loads, skills = loads_of(every.values(), now), workspace.reviews.skills()
    tasks = {r.task.id: r.task for r in workspace.reviews.open_rounds(coordinator, now)}
    pairs = [
        (log, tasks[id_]) for id_, log, why in zip(task_ids, logs, obstacles, strict=True) if log and not why
    ]  # fmt: skip
    found: list[tuple[tuple[object, ...], Candidate]] = []
    for name in (each.name for each in people if each.name != SAMPLES_AUTHOR):
        if name in protocol.coordinators:
            continue
        load, fit = loads[name], all(fits(skills.get(name, ANYTHING), task) for _log, task in pairs)
        leases = [claims_of(log, standing_of(log).head, now).get(name) for log, _task in pairs]
        why = [may_take(log, name, now, protocol) for log, _task in pairs]
        if len(task_ids) == 1:
            away = "" if leases[0] else _skips(pairs[0][0]).get(name, "")
            order = (leases[0] is None, why[0] != "", away != "", not fit, load)
            found.append((order, Candidate(name, fit, load, away, leases[0], why[0])))
            continue
        able = sum(not each and has is None for each, has in zip(why, leases, strict=True))
        told = _("can take {n} of {all}").format(n=able, all=len(task_ids))
        obstacle = "" if able else why[0] or _("has them all")
        told = told if able < len(task_ids) else ""
        found.append(((-able, not fit, load), Candidate(name, fit, load, "", None, obstacle, told)))
    return [candidate for _order, candidate in sorted(found, key=lambda each: each[0])]


def _skips(log: TaskLog) -> dict[str, str]:
    """Why people gave the newest revision back, of those who have not taken it again."""
    revision = standing_of(log).head
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
