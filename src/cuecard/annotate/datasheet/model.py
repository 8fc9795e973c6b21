"""What a datasheet says, as data: counts with their n, never a real name unless it was asked for."""

from __future__ import annotations

from datetime import datetime

from cuecard.annotate.agreement.statistic import Statistic
from cuecard.annotate.review.figures import MeasureAgreement, Spread
from cuecard.annotate.second_gold.agreement import LevelAgreement
from cuecard.core.review import QcVerdict, TaskState
from cuecard.core.tasks import Family
from cuecard.core.tasks.base import Frozen


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
    """The approved tasks, by id. `hash` names the set: SHA-256 over their ids and content hashes."""

    tasks: tuple[ReleasedTask, ...]
    hash: str


class PersonLine(Frozen):
    """What one person did. `tasks`: of which they saved a revision. `returned`: those of their `reviews`
    that did not approve. `golds`: second golds that are open to see. Only decided rounds count.
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
    """`stamp`: version and hash of the dimensions; `current`: whether it is the present one. `rounds`:
    decided rounds that were submitted under it.
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
    """How the reviews of decided rounds rated a dimension; `returned`: reviews that failed it and
    returned the task.
    """

    key: str
    passed: int
    failed: int
    cannot_judge: int
    returned: int
    tasks: int


class RoundFigures(Frozen):
    """A round is one submitted revision whose reviews are all in. `waiting` rounds are not, and add
    nothing else to this sheet. `until_approval`: how many rounds it took until the first approval, and
    in how many tasks. `third`: rounds with a third review. `return_rate`: share of reviews that
    return. `minutes`: of one review, without idle stretches.
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
    """Agreement of two reviewers on the decision, over the rounds that they shared."""

    left: str
    right: str
    decision: MeasureAgreement


class GoldFigures(Frozen):
    """Second golds beside the authors', level by level; counts are summed over all `golds`. Those of
    revisions in review are left out.
    """

    golds: int
    tasks: int
    levels: tuple[LevelAgreement, ...]


class RetiredTask(Frozen):
    """A task that was taken out. `rules`: of the decision to remove it, where one was confirmed."""

    task_id: str
    family: Family
    by: str
    at: datetime | None
    reason: str
    rules: tuple[str, ...]


class EffortLine(Frozen):
    """What the tasks in use took to write. `family` "": all. A task counts once something was entered
    for it.
    """

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
    """A signal of the probes: for so many decided tasks it was `looked` at, in `raised` it was found."""

    name: str
    looked: int
    raised: int


class QcFigures(Frozen):
    """Newest confirmed decision of each task. `overruled`: the person decided otherwise than proposed."""

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
