"""Two or more arms of a dimension (agents, runs, settings, judges…) on the same revisions of tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cuecard.annotate.agreement import Statistic
from cuecard.annotate.agreement.bootstrap import RESAMPLES
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.tasks import Family
from cuecard.core.tasks.base import Frozen
from cuecard.results.pool import Dimension, Pool, Row
from cuecard.results.score_table import Counts

COMPARABLE: tuple[Dimension, ...] = (
    "agent",
    "run",
    "model",
    "scaffold",
    "setting",
    "memory",
    "user",
    "world",
    "judge",
    "compacted",
)
"""What the same task can be played or judged with in several ways; the other dimensions are the task's own."""
TIE = 1e-9
"""Values of a task closer than this are a tie."""


class Arm(Frozen):
    """`name`: its value of the dimension; `also`: the values that its trials have in the other dimensions."""

    name: str
    dimension: Dimension
    counts: Counts
    also: dict[Dimension, tuple[str, ...]]
    trials: tuple[int, ...]


class TaskDifference(Frozen):
    """A task (one revision of it) that both arms have a value of; `difference`: the arm's minus the base's."""

    task: str
    revision: int
    title: str
    base: float
    arm: float
    difference: float
    base_trials: tuple[int, ...]
    arm_trials: tuple[int, ...]


class LeftOut(Frozen):
    """What the comparison does not stand on: tasks (ids) of one side only, tasks of which the sides have different
    revisions, tasks without a value on one side (`undefined`); trials not judged, trials that are paired with
    nothing because the other side has no trial of that agent, user, …
    """

    base_only: tuple[str, ...] = ()
    arm_only: tuple[str, ...] = ()
    other_revisions: tuple[str, ...] = ()
    undefined: tuple[str, ...] = ()
    unjudged_base: int = 0
    unjudged_arm: int = 0
    unpaired_base: int = 0
    unpaired_arm: int = 0


class Spending(Frozen):
    """Means over the paired tasks of what a trial's agent took; `cost_per_point`: the extra cost of a trial by
    percentage point gained, undefined with its reason where nothing is gained, no price is known, or the measure is no
    share.
    """

    base_cost: Statistic
    arm_cost: Statistic
    base_tokens: Statistic
    arm_tokens: Statistic
    cost_per_point: Statistic


class Contrast(Frozen):
    """One arm against the base. Means, difference and spending are over the paired tasks alone. `wins`: tasks on which
    the arm has the better value (the lower one where `lower_is_better`). `sign_test`: the two-sided exact
    binomial probability of wins and losses as uneven as these if either were as likely, ties left out
    (Conover 1999, 3.4); None without any. It asks how often, not by how much: read the interval first.
    """

    base: str
    arm: str
    base_mean: Statistic
    arm_mean: Statistic
    difference: Statistic
    wins: int
    ties: int
    losses: int
    sign_test: float | None
    tasks: tuple[TaskDifference, ...]
    spending: Spending
    left_out: LeftOut


class Comparison(Frozen):
    """`within`: the dimensions within which pairs were made besides the task's revision; `differs`: those in which arms
    differ and could not be paired, so that a difference may be theirs.
    """

    dimension: Dimension
    family: Family
    measure: str
    taken: Taken
    base: str
    arms: tuple[Arm, ...]
    contrasts: tuple[Contrast, ...]
    within: tuple[Dimension, ...]
    differs: tuple[Dimension, ...]
    notes: tuple[str, ...] = ()


def arms_of(pool: Pool, dimension: Dimension) -> tuple[Arm, ...]:
    """The values that trials have, in the papers' order where there is one, else by name (runs as asked for); trials of
    which it is not known are no arm.
    """
    raise NotImplementedError


def compare(
    pool: Pool,
    dimension: Dimension,
    base: str | None = None,
    *,
    family: Family,
    measure: str | None = None,
    taken: Taken = Taken.AVG,
    arms: Sequence[str] | None = None,
    value: Callable[[Row], str] | None = None,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Each of `arms` (all) against `base` (the first) by the family's main measure or `measure`, paired by task and
    revision, and within the other dimensions where both sides have the same (`Comparison.within`); the
    value of a task is the mean over those. Judges are compared on the same trials. `value`: what tells arms
    apart instead of the dimension.

    Raises `NotFound` (an arm or measure that does not occur), `NotAllowed` (fewer than two arms, no judged trials, a
    dimension of tasks, no shared task).
    """
    raise NotImplementedError


def comparisons(
    pool: Pool,
    dimension: Dimension,
    base: str | None = None,
    *,
    measures: Sequence[str] = (),
    resamples: int = RESAMPLES,
) -> tuple[Comparison, ...]:
    """One for each family in which arms share a task and each of `measures` that it has (its headlines). Raises as
    `compare` if there is none.
    """
    raise NotImplementedError
