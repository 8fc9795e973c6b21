"""What labels change of the figures of a benchmark."""

from __future__ import annotations

from typing import Literal

from cuecard.annotate.agreement.statistic import Statistic
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.scoring.aggregate import statistics_of
from cuecard.core.tasks import Family
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import ItemKind


class ItemCounts(Frozen):
    """Items of one kind that people labelled. `settled`: they decided on it, `adjudicated` of them by an
    adjudication; `changed`: otherwise than the machine, which decided on all but `undecided`; `open`: they
    cannot tell or are split evenly, so the machine's decision stands. `gold_wrong`: the gold is held for
    wrong. `no_support`: gold triples that only people hold for covered and that nothing handed in is
    known to support.
    """

    kind: ItemKind
    settled: int = 0
    adjudicated: int = 0
    changed: int = 0
    undecided: int = 0
    open: int = 0
    gold_wrong: int = 0
    no_support: int = 0


class MeasureEffect(Frozen):
    """A measure as the means over tasks show it. `judge` and `people` have 95% intervals over tasks, and so
    has `difference`, people's minus the judge's on the same tasks. `estimate`: what it would be had people
    labelled everything, from a drawn sample, and `estimated_difference`; None where samples of that
    measure cannot be weighted.
    """

    name: str
    taken: Taken
    judge: Statistic
    people: Statistic
    difference: Statistic
    estimate: Statistic | None = None
    estimated_difference: Statistic | None = None


class GroupEffect(Frozen):
    """One agent on the tasks of one family. `baseline`: agent, user, world or judge is an embedded offline
    player; `decided`: items that the judge decided on, `settled` of them
    also by people; `samples`: the N of Avg@N.
    """

    agent: str
    family: Family
    baseline: bool
    tasks: int
    trials: int
    labelled_trials: int
    samples: int
    decided: int
    settled: int
    items: tuple[ItemCounts, ...]
    measures: tuple[MeasureEffect, ...]

    def measure(self, name: str, taken: Taken | None = None) -> MeasureEffect | None:
        """`taken` None: the one that stands for the measure."""
        wanted = taken or statistics_of(name)[0]
        return next((m for m in self.measures if m.name == name and m.taken is wanted), None)


class RankedAgent(Frozen):
    """Ranks begin at 1; equals share the better one. None without a value."""

    agent: str
    judge: float | None
    people: float | None
    judge_rank: int | None
    people_rank: int | None


Order = Literal["above", "below", "level"]


class PairOrder(Frozen):
    """How `left` stands to `right` by the judge and by people. `same`: the share of resamples of the tasks
    in which both order them alike, n of them; undefined with a reason.
    """

    left: str
    right: str
    judge: Order | None
    people: Order | None
    same: Statistic


class Ranking(Frozen):
    """Agents of one family by its main measure, by the judge's scores the best first."""

    family: Family
    measure: str
    agents: tuple[RankedAgent, ...]
    pairs: tuple[PairOrder, ...]

    @property
    def changes(self) -> bool:
        return any(agent.judge_rank != agent.people_rank for agent in self.agents)


class Effect(Frozen):
    """`judges`: whose judgements were scored. `set_id`: the drawn set that estimates stand on, None without
    one, with its name, its items and those of them that people decided on.
    """

    runs: tuple[int, ...]
    judges: tuple[str, ...]
    people: tuple[str, ...]
    set_id: int | None
    set_name: str
    set_drawn: int
    set_settled: int
    groups: tuple[GroupEffect, ...]
    rankings: tuple[Ranking, ...]

    @property
    def settled(self) -> int:
        return sum(counts.settled for group in self.groups for counts in group.items)

    @property
    def changed(self) -> int:
        return sum(counts.changed for group in self.groups for counts in group.items)
