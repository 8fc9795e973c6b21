"""The queue: what a person may take to review, in the order in which it helps most.

Reviewers pull. The number of reviews evens out because whoever has had clearly more than the others
is shown new tasks after those that are more urgently theirs, until a task has waited for a day.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from cuecard.annotate.review.protocol import Protocol
from cuecard.core.review import Reviewed, SkillsSet, TaskLog, standing_of
from cuecard.core.review.claims import claims_of
from cuecard.core.text import contains_term
from cuecard.store.records import OpenRound, TaskSummary

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

LOAD_WINDOW = timedelta(days=30)
"""How far back reviews count towards a person's load."""
AHEAD = 1.0
"""So many more than the average is clearly more."""
PATIENCE = timedelta(hours=24)
"""What has waited this long is anybody's turn."""
ANYTHING = SkillsSet()


@dataclass(frozen=True)
class QueueLine:
    """A task that a person may take, or has. `places`: how many more people it takes. `mine`: until
    when they have it. `fits`: it is within their skills. `turn`: others have not had fewer reviews.
    `skipped`: they gave it back. `again`: they reviewed an earlier revision. `third`: two reviewers
    disagree about it.
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
    """What `person` may review now, without the names of authors and reviewers. First what they have
    already, by the time that is left; then by priority, whose turn it is, whether it is the last place, and how long it has
    waited. What is outside their skills comes last, and after that what they skipped.

    Empty for coordinators, who see who reviews and so do not.
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
    """The queue of `person` from what they may know of every task in review; `loads` as `loads_of`
    gives them, `again`: tasks of which they reviewed a revision before.
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
    """What to take next: the first that nobody has to be asked about; what one has already counts."""
    return next((line for line in lines if line.mine or (line.fits and line.turn)), None)


def fits(skills: SkillsSet, task: TaskSummary) -> bool:
    """Whether a task is in a declared language and domain; none declared is any. A domain fits that
    names the skill ("medicine" fits "clinical medicine").
    """
    if skills.languages and task.language not in skills.languages:
        return False
    return not skills.domains or any(contains_term(task.domain, name) for name in skills.domains)


def loads_of(logs: Iterable[TaskLog], now: datetime) -> Counter[str]:
    """How much everybody has: reviews of the last 30 days and leases that hold."""
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
    """Whether somebody has clearly more than the average of `team`."""
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
