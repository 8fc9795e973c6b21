"""What a comparison of arms says."""

from __future__ import annotations

from cuecard.annotate.agreement import Statistic
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.tasks import Family
from cuecard.core.tasks.base import Frozen
from cuecard.results.pool import Dimension
from cuecard.results.score_table import Counts


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
    revisions, tasks without a value on one side (`undefined`); trials not judged or still open, and judged trials of
    shared revisions that are paired with nothing, because the other side has none of that agent, user, …
    """

    base_only: tuple[str, ...] = ()
    arm_only: tuple[str, ...] = ()
    other_revisions: tuple[str, ...] = ()
    undefined: tuple[str, ...] = ()
    unjudged_base: int = 0
    unjudged_arm: int = 0
    open_base: int = 0
    open_arm: int = 0
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
    `tasks`: those of which both have a value, those that differ most first; to a pooled ratio the others add as well.
    `base_trials` and `arm_trials`: ids behind the figures. `within`: the dimensions within which pairs were made besides the
    task's revision; `differs`: those in which the two differ and could not be paired, so that the difference may
    be theirs, with the values of the base's and the arm's paired trials. `alone`: the agent that it stands on, if
    of several that were played only one is paired; "" else.
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
    base_trials: tuple[int, ...]
    arm_trials: tuple[int, ...]
    spending: Spending
    left_out: LeftOut
    within: tuple[Dimension, ...] = ()
    differs: dict[Dimension, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    alone: str = ""

    @property
    def unpaired(self) -> int:
        """Judged trials of shared revisions, on both sides, that are paired with nothing."""
        return self.left_out.unpaired_base + self.left_out.unpaired_arm


class Comparison(Frozen):
    """`within` and `differs` of any of its contrasts; `names`: what values are called (`words.names_of`)."""

    dimension: Dimension
    family: Family
    measure: str
    taken: Taken
    base: str
    arms: tuple[Arm, ...]
    contrasts: tuple[Contrast, ...]
    within: tuple[Dimension, ...]
    differs: tuple[Dimension, ...]
    names: dict[str, str] = {}
    notes: tuple[str, ...] = ()
