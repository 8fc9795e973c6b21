"""What a datasheet is made from, read from the workspace once; everything after this is pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from cuecard.annotate.review.decided import is_decided
from cuecard.core.review import (
    Action,
    Contribution,
    GoldBuilt,
    Reviewed,
    RevisionStanding,
    Standing,
    TaskLog,
    TaskState,
    standing_of,
)
from cuecard.core.tasks import Family, Gold, Task

if TYPE_CHECKING:
    from cuecard.store.records import EffortTotals
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class TaskMaterial:
    """One task: its newest revision, everything that happened to it, what it took."""

    task: Task
    log: TaskLog
    standing: Standing
    effort: EffortTotals
    golds: tuple[SecondGold, ...] = ()

    @property
    def in_use(self) -> bool:
        return self.standing.state is not TaskState.RETIRED

    @property
    def approved(self) -> bool:
        return self.standing.state is TaskState.APPROVED


@dataclass(frozen=True)
class SecondGold:
    """A gold that `by` built from the brief of a revision, beside the author's."""

    by: str
    author: Gold
    second: Gold


@dataclass(frozen=True)
class Round:
    """A revision whose reviews are all in. `reviews` are those that count, in their order; `approved`:
    what they amount to, whatever was done with the revision since.
    """

    task_id: str
    family: Family
    revision: RevisionStanding
    approved: bool
    protocol: str
    reviews: tuple[tuple[str, Reviewed], ...]


@dataclass(frozen=True)
class Material:
    """`people`: everybody known to the workspace, whether they did anything or not."""

    tasks: Mapping[str, TaskMaterial]
    people: frozenset[str]

    @property
    def logs(self) -> dict[str, TaskLog]:
        return {task_id: task.log for task_id, task in self.tasks.items()}

    @property
    def in_use(self) -> list[TaskMaterial]:
        return [task for task in self.tasks.values() if task.in_use]

    def rounds(self) -> Iterator[Round]:
        """By task and revision. A round that waits for a review is not among them, so nothing that is
        still blind can show.
        """
        for task_id, material in self.tasks.items():
            for revision in material.standing.revisions:
                if is_decided(revision):
                    yield _round(task_id, material, revision)


def read_material(workspace: Workspace) -> Material:
    logs = workspace.reviews.logs()
    tasks = {
        line.id: TaskMaterial(
            task=workspace.tasks.revision(line.id).task,
            log=logs[line.id],
            standing=standing_of(logs[line.id]),
            effort=workspace.effort.totals(line.id),
            golds=_golds(workspace, logs[line.id]),
        )
        for line in workspace.tasks.summaries(include_retired=True)
        if line.id in logs
    }
    return Material(tasks, frozenset(person.name for person in workspace.people.all()))


def entries(log: TaskLog) -> list[Contribution]:
    """The contributions in the order in which they count."""
    return sorted(log.contributions, key=lambda entry: entry.order)


def _golds(workspace: Workspace, log: TaskLog) -> tuple[SecondGold, ...]:
    """Those that are open: while its revision is in review, somebody may still be at one."""
    standing = standing_of(log)
    found: list[SecondGold] = []
    for entry in entries(log):
        if not isinstance(entry.body, GoldBuilt):
            continue
        if standing.of(entry.revision).state is TaskState.IN_REVIEW:
            continue
        task = workspace.tasks.revision(log.task_id, entry.revision).task
        data = {**task.model_dump(mode="json"), "gold": entry.body.gold}
        try:
            second = Task.model_validate(data).gold
        except ValidationError:
            continue
        if second.family == task.family:
            found.append(SecondGold(entry.by, task.gold, second))
    return tuple(found)


def _round(task_id: str, material: TaskMaterial, revision: RevisionStanding) -> Round:
    given: dict[str, Reviewed] = {}
    protocol = ""
    for entry in entries(material.log):
        if entry.revision != revision.number:
            continue
        if isinstance(entry.body, Reviewed):
            given.setdefault(entry.by, entry.body)
        elif entry.body.kind == "submitted":
            protocol = entry.body.protocol
    outcomes = [
        move.action
        for move in material.standing.history
        if move.revision == revision.number and move.action in (Action.APPROVE, Action.RETURN)
    ]
    return Round(
        task_id=task_id,
        family=material.task.family,
        revision=revision,
        approved=outcomes[-1:] == [Action.APPROVE],
        protocol=protocol,
        reviews=tuple((name, given[name]) for name in revision.reviewers),
    )
