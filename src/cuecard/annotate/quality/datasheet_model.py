"""The inputs and the contents of a datasheet as data, with pseudonyms for people."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import ValidationError

from cuecard.annotate.independent_gold.comparison import LevelAgreement
from cuecard.annotate.review.figures import MeasureAgreement, Spread, is_decided
from cuecard.annotate.study import is_study
from cuecard.core.contributions import (
    Action,
    Contribution,
    GoldBuilt,
    QcVerdict,
    Reviewed,
    TaskState,
)
from cuecard.core.i18n import _
from cuecard.core.review import RevisionStanding, Standing, TaskLog, standing_of
from cuecard.core.tables.table import Statistic
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Family, Gold, Task
from cuecard.core.text import is_cjk

if TYPE_CHECKING:
    from cuecard.core.records import EffortTotals
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class TaskInputs:
    """One task: its newest revision, its log and state, and the effort spent."""

    task: Task
    log: TaskLog
    standing: Standing
    effort: EffortTotals
    golds: tuple[IndependentGold, ...] = ()

    @property
    def in_use(self) -> bool:
        return self.standing.state is not TaskState.RETIRED

    @property
    def approved(self) -> bool:
        return self.standing.state is TaskState.APPROVED


@dataclass(frozen=True)
class IndependentGold:
    """A gold that `by` built from the brief of a revision, beside the author's."""

    by: str
    author: Gold
    second: Gold


@dataclass(frozen=True)
class Round:
    """A revision whose reviews are all in. `reviews`: those that count, in order; `approved`: their result, whatever
    happened to the revision later.
    """

    task_id: str
    family: Family
    revision: RevisionStanding
    approved: bool
    protocol: str
    reviews: tuple[tuple[str, Reviewed], ...]


@dataclass(frozen=True)
class DatasheetInputs:
    """Everything a datasheet is made from. `people`: everybody in the workspace. `study`: it is the example study."""

    tasks: Mapping[str, TaskInputs]
    people: frozenset[str]
    study: bool = False

    @property
    def logs(self) -> dict[str, TaskLog]:
        return {task_id: task.log for task_id, task in self.tasks.items()}

    @property
    def in_use(self) -> list[TaskInputs]:
        return [task for task in self.tasks.values() if task.in_use]

    def rounds(self) -> Iterator[Round]:
        """The decided rounds by task and revision; rounds that lack a review are left out, so that nothing blind is
        disclosed.
        """
        for task_id, inputs in self.tasks.items():
            for revision in inputs.standing.revisions:
                if is_decided(revision):
                    yield _round(task_id, inputs, revision)


def read_inputs(workspace: Workspace) -> DatasheetInputs:
    logs = workspace.reviews.logs()
    tasks = {
        line.id: TaskInputs(
            task=workspace.tasks.revision(line.id).task,
            log=logs[line.id],
            standing=standing_of(logs[line.id]),
            effort=workspace.effort.totals(line.id),
            golds=_golds(workspace, logs[line.id]),
        )
        for line in workspace.tasks.summaries(include_retired=True)
        if line.id in logs
    }
    people = frozenset(person.name for person in workspace.people.all())
    return DatasheetInputs(tasks, people, is_study(workspace))


def entries(log: TaskLog) -> list[Contribution]:
    """The contributions in the order in which they count."""
    return sorted(log.contributions, key=lambda entry: entry.order)


def _golds(workspace: Workspace, log: TaskLog) -> tuple[IndependentGold, ...]:
    """Those that are open: while its revision is in review, somebody may still be at one."""
    standing = standing_of(log)
    found: list[IndependentGold] = []
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
            found.append(IndependentGold(entry.by, task.gold, second))
    return tuple(found)


def _round(task_id: str, inputs: TaskInputs, revision: RevisionStanding) -> Round:
    given: dict[str, Reviewed] = {}
    protocol = ""
    for entry in entries(inputs.log):
        if entry.revision != revision.number:
            continue
        if isinstance(entry.body, Reviewed):
            given.setdefault(entry.by, entry.body)
        elif entry.body.kind == "submitted":
            protocol = entry.body.protocol
    outcomes = [
        move.action
        for move in inputs.standing.history
        if move.revision == revision.number and move.action in (Action.APPROVE, Action.RETURN)
    ]
    return Round(
        task_id=task_id,
        family=inputs.task.family,
        revision=revision,
        approved=outcomes[-1:] == [Action.APPROVE],
        protocol=protocol,
        reviews=tuple((name, given[name]) for name in revision.reviewers),
    )


class Masks:
    """Pseudonyms of people in a datasheet. `listed` people get numbers, in the order of a hash of their names, which is
    the same in every workspace; `others` get one word for all. With `named`, everybody keeps their name.
    """

    def __init__(
        self, listed: Iterable[str], others: Iterable[str] = (), *, named: bool = False
    ) -> None:
        self._named = named
        order = sorted(set(listed), key=lambda name: hashlib.sha256(name.encode()).digest())
        self._numbers = {name: f"P{index}" for index, name in enumerate(order, 1)}
        every = {*self._numbers, *others} - {""}
        words = sorted(every, key=lambda name: (-len(name), name))
        # Without a name there is nothing to find.
        self._pattern = re.compile("|".join(map(_as_word, words)) or r"(?!)", re.IGNORECASE)
        self._by_folded = {name.casefold(): self.name(name) for name in sorted(every)}

    def name(self, person: str) -> str:
        return person if self._named else self._numbers.get(person, _("somebody"))

    def text(self, text: str) -> str:
        """A text with the names of people in it replaced."""
        if self._named:
            return text
        return self._pattern.sub(
            lambda found: self._by_folded.get(found[0].casefold(), _("somebody")), text
        )

    @property
    def order(self) -> list[str]:
        """The listed people by real name, in the order of their masks."""
        return sorted(self._numbers) if self._named else list(self._numbers)


def _as_word(name: str) -> str:
    # Chinese is written without blanks between words.
    return re.escape(name) if is_cjk(name) else rf"(?<!\w){re.escape(name)}(?!\w)"


class Count(Frozen):
    """`n` tasks in use, `approved` of them."""

    name: str
    n: int
    approved: int


class Tally(Frozen):
    """How often something occurred, and in how many tasks."""

    name: str
    n: int
    tasks: int


class TaskFigures(Frozen):
    """`by_state` counts all tasks, the retired included; the others those in use. `approved` tasks are
    the ones that are released.
    """

    total: int
    in_use: int
    approved: int
    by_state: dict[TaskState, int]
    by_family: tuple[Count, ...]
    by_language: tuple[Count, ...]
    by_domain: tuple[Count, ...]
    by_difficulty: tuple[Count, ...]


class ReleasedTask(Frozen):
    """An approved revision. `hash`: of its content; `uid`: of its content and its past."""

    task_id: str
    family: Family
    revision: int
    hash: str
    uid: str


class Release(Frozen):
    """The approved tasks, by id. `hash`: SHA-256 over their ids and content hashes."""

    tasks: tuple[ReleasedTask, ...]
    hash: str


class PersonLine(Frozen):
    """What one person did. `tasks`: those they saved a revision of; `returned`: those of their `reviews` that did not
    approve; `golds`: independent golds, once they may be seen. Only decided rounds count.
    """

    name: str
    tasks: int
    revisions: int
    reviews: int
    returned: int
    comments: int
    golds: int
    qc_decisions: int


class ProtocolLine(Frozen):
    """Rounds under one review protocol. `stamp`: version and hash of the dimensions; `current`: it is the present one;
    `rounds`: decided rounds that were submitted under it.
    """

    stamp: str
    current: bool
    rounds: int
    reviews: int


class DimensionLine(Frozen):
    """A dimension of the present protocol."""

    family: Family
    key: str
    label: str
    help: str


class RatingLine(Frozen):
    """How reviews of decided rounds rated a dimension; `returned`: reviews that failed it and returned the task."""

    key: str
    passed: int
    failed: int
    cannot_judge: int
    returned: int
    tasks: int


class RoundFigures(Frozen):
    """Counts of review rounds; a round is one submitted revision. `waiting` rounds lack a review and add nothing else.
    `until_approval`: tasks by number of rounds until the first approval. `third`: rounds with a third review.
    `return_rate`: share of reviews that return. `minutes`: of one review, without idle times.
    """

    rounds: int
    approved: int
    returned: int
    waiting: int
    third: int
    reviews: int
    return_rate: Statistic
    minutes: Spread
    until_approval: dict[int, int]


class PairLine(Frozen):
    """Agreement of two reviewers on the decision, over their common rounds."""

    left: str
    right: str
    decision: MeasureAgreement


class GoldFigures(Frozen):
    """Agreement of independent golds with the authors' by level; counts are summed over all `golds`. Those of revisions
    in review are left out.
    """

    golds: int
    tasks: int
    levels: tuple[LevelAgreement, ...]


class RetiredTask(Frozen):
    """A task that was retired. `rules`: those behind the decision to remove it, if one was confirmed."""

    task_id: str
    family: Family
    by: str
    at: datetime | None
    reason: str
    rules: tuple[str, ...]


class EffortLine(Frozen):
    """The effort of writing tasks in use. `family` None: all. A task counts once it has an entry."""

    family: Family | None
    minutes: Spread
    queries: Spread
    pages: Spread


class SourceFigures(Frozen):
    """Web addresses of the tasks in use: distinct ones, their sites, tasks that name none."""

    addresses: int
    sites: tuple[Tally, ...]
    without: int


class SignalLine(Frozen):
    """A signal of the probes: `looked`, the number of decided tasks it was checked for; `raised`: in how many it was
    found.
    """

    name: str
    looked: int
    raised: int


class QcFigures(Frozen):
    """Quality control by the newest confirmed decision of each task. `overruled`: decided otherwise than proposed."""

    decided: int
    verdicts: dict[QcVerdict, int]
    overruled: int
    signals: tuple[SignalLine, ...]
    rules: tuple[Tally, ...]


class Datasheet(Frozen):
    program: str
    made_at: datetime
    named: bool
    tasks: TaskFigures
    release: Release
    people: tuple[PersonLine, ...]
    protocols: tuple[ProtocolLine, ...]
    dimensions: tuple[DimensionLine, ...]
    rounds: RoundFigures
    ratings: tuple[RatingLine, ...]
    agreement: tuple[MeasureAgreement, ...]
    pairs: tuple[PairLine, ...]
    golds: GoldFigures
    retired: tuple[RetiredTask, ...]
    removal_reasons: tuple[Tally, ...]
    effort: tuple[EffortLine, ...]
    sources: SourceFigures
    qc: QcFigures
    study: bool = False
