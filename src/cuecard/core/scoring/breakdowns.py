"""Breakdowns of a group of trials besides its measures: tools used, errors in graphs, and facts found call by call."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from math import ceil
from typing import Literal

from cuecard.core.families.checkpoints.score import (
    ProfileCount,
    StepRecord,
    behaviour_profiles,
    typical_searches,
)
from cuecard.core.scoring.trial_score import MAX_K, FactFigures, GraphFigures, TrialFigures
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Measure, pearson

LEAST = 50
"""The least number of trials in a fixed cohort (Mind-ParaWorld)."""
FEWEST = 20
"""The share of trials, in percent, that makes a cohort where fewer than `LEAST` trials made a call (ours)."""

Rule = Literal["asked", "least", "share"]
"""How the last call of a cohort's curve was chosen: it was `asked` for, the `least` number of trials reaches it, or a
`share` of them does."""


class CurvePoint(Frozen):
    """The curves' values at the k-th tool call, k from 1. `cohort`: how many trials made at least k calls; `trials`:
    how many the curve is drawn from. In a fixed cohort the two are equal.

    `new_facts`: facts matched for the first time by the k-th call, mean over the cohort. `fcr`: facts matched by the
    first k calls / all facts, mean over all trials (a trial with fewer calls keeps its last value).
    `hit_precision`: hits among the first k calls / k, mean over the cohort.
    """

    k: int
    cohort: int
    trials: int
    new_facts: float
    fcr: float
    hit_precision: float


class CohortCurve(Frozen):
    """Mind-ParaWorld's curves: over the `trials` that made at least `k_trunc` calls, the same trials at every k from 1
    to `k_trunc`. `rule`: how `k_trunc` was chosen. Without a trial there are no points.
    """

    k_trunc: int
    trials: int
    rule: Rule
    points: tuple[CurvePoint, ...]


class FactCurves:
    """Gathers trials one by one, then gives their curves."""

    def __init__(self) -> None:
        self._found: list[FactFigures] = []

    def add(self, found: FactFigures) -> None:
        self._found.append(found)

    def points(self) -> tuple[CurvePoint, ...]:
        """The curve over all trials, from the first call to the longest trial's last, at most `trial_score.MAX_K`."""
        longest = max((len(found.hits) for found in self._found), default=0)
        return _points(self._found, longest)

    def cohort(self, k_trunc: int | None = None) -> CohortCurve:
        """The curve over a fixed cohort, up to `k_trunc`; by default up to the call that `truncation` finds."""
        k, rule = truncation([len(found.hits) for found in self._found], k_trunc)
        fixed = [found for found in self._found if k and len(found.hits) >= k]
        points = _points(fixed, k if fixed else 0)
        return CohortCurve(k_trunc=k, trials=len(fixed), rule=rule, points=points)


def truncation(calls: Sequence[int], asked: int | None = None) -> tuple[int, Rule]:
    """The last call of a fixed cohort, and the rule that chose it: the largest k such that at least `LEAST` trials made
    k or more calls (Mind-ParaWorld), else the largest k that `FEWEST` percent of the trials reach; 0 where not even so
    many made a call. `calls`: the number of calls of each trial; those above `MAX_K` count as `MAX_K`.
    """
    if asked is not None:
        return asked, "asked"
    ranked = sorted((min(each, MAX_K) for each in calls), reverse=True)
    if len(ranked) >= LEAST and ranked[LEAST - 1] > 0:
        return ranked[LEAST - 1], "least"
    enough = ceil(len(ranked) * FEWEST / 100)
    return ranked[enough - 1] if ranked else 0, "share"


def _points(trials: Sequence[FactFigures], last: int) -> tuple[CurvePoint, ...]:
    known = [list(accumulate(found.fresh)) for found in trials]
    hits = [list(accumulate(found.hits)) for found in trials]
    points: list[CurvePoint] = []
    for k in range(1, last + 1):
        cohort = [at for at, found in enumerate(trials) if len(found.hits) >= k]
        points.append(
            CurvePoint(
                k=k,
                cohort=len(cohort),
                trials=len(trials),
                new_facts=sum(trials[at].fresh[k - 1] for at in cohort) / len(cohort),
                fcr=sum(
                    own[min(k, len(own)) - 1] / found.facts if own else 0.0
                    for own, found in zip(known, trials, strict=True)
                )
                / len(trials),
                hit_precision=sum(hits[at][k - 1] / k for at in cohort) / len(cohort),
            )
        )
    return tuple(points)


OVER = 1.5
UNDER = 0.5
MOST = 20
_TURNS: dict[str, int] = {"<=10": 10, "11-15": 15}
"""VibeSearchBench's classes of trials by user turns, with the most turns of each."""
_FINE_TURNS: dict[str, int] = {"1-2": 2, "3-5": 5, "6-10": 10, "11-20": 20}
"""Finer classes of our own, about as long as one stage, a few stages and whole dialogues take."""
TURN_CLASSES = (*_TURNS, ">15")
FINE_TURN_CLASSES = (*_FINE_TURNS, "21+")


class RelationCoverage(Frozen):
    """Gold triples of one relation, counted over all trials: how many are covered, judged (covered or not), unjudged."""

    relation: str
    covered: int
    judged: int
    unjudged: int


class RelationCount(Frozen):
    """How often a relation occurs."""

    relation: str
    count: int


class Subset(Frozen):
    """Mean triplet F1 of a subset of the trials; None where it is empty."""

    name: str
    trials: int
    f1: float | None


class GraphErrors(Frozen):
    """Errors of graph tasks, over all judged trials of a group.

    `format_failures`: trials that handed in nothing readable. `over_generation`: trials that handed in more than 1.5
    times as many triples as gold has; `under_generation`: less than half as many (without format failures).
    `invalid_relations`: relations of predicted triples that support no gold triple, the most frequent first, at most
    20. `by_compaction`: F1 of trials with and without a compaction; `by_user_turns`: F1 by the number of user turns,
    in VibeSearchBench's classes; `by_user_turns_fine`: in ours. `turns_f1`: Pearson's correlation of user turns and
    triplet F1 over trials.
    """

    trials: int
    format_failures: int
    over_generation: int
    under_generation: int
    coverage: tuple[RelationCoverage, ...]
    invalid_relations: tuple[RelationCount, ...]
    by_compaction: tuple[Subset, ...]
    by_user_turns: tuple[Subset, ...]
    by_user_turns_fine: tuple[Subset, ...]
    turns_f1: Measure


class GraphErrorCounts:
    """Counts errors of graph tasks: add trials one by one, then take the result."""

    def __init__(self) -> None:
        self._trials = self._failures = self._over = self._under = 0
        self._coverage: dict[str, list[int]] = {}  # yes, no, unjudged
        self._invalid: Counter[str] = Counter()
        self._compacted: dict[str, list[float]] = {"with": [], "without": []}
        self._turns: list[tuple[int, float]] = []

    def add(self, graph: GraphFigures, figures: TrialFigures) -> None:
        self._trials += 1
        for relation, (yes, no, unjudged) in graph.relations.items():
            sums = self._coverage.setdefault(relation, [0, 0, 0])
            sums[0] += yes
            sums[1] += no
            sums[2] += unjudged
        if graph.predicted is None:
            self._failures += 1
        else:
            self._over += over_generated(graph)
            self._under += under_generated(graph)
            for relation, n in graph.invalid.items():
                self._invalid[relation] += n
        f1 = figures.value("triplet_f1")
        if f1 is not None:
            self._compacted["with" if figures.value("compactions") else "without"].append(f1)
            self._turns.append((int(figures.value("user_turns") or 0), f1))

    def result(self) -> GraphErrors:
        return GraphErrors(
            trials=self._trials,
            format_failures=self._failures,
            over_generation=self._over,
            under_generation=self._under,
            coverage=tuple(
                RelationCoverage(
                    relation=relation,
                    covered=yes,
                    judged=yes + no,
                    unjudged=unjudged,
                )
                for relation, (yes, no, unjudged) in sorted(
                    self._coverage.items(), key=lambda item: (-sum(item[1]), item[0])
                )
            ),
            invalid_relations=tuple(
                RelationCount(relation=relation, count=n)
                for relation, n in self._invalid.most_common(MOST)
            ),
            by_compaction=_subsets(self._compacted),
            by_user_turns=_subsets(_grouped(self._turns, turns_class, TURN_CLASSES)),
            by_user_turns_fine=_subsets(_grouped(self._turns, fine_turns_class, FINE_TURN_CLASSES)),
            turns_f1=pearson("turns_f1", self._turns),
        )


def over_generated(graph: GraphFigures) -> bool:
    """Whether the trial handed in more than `OVER` times as many triples as gold has."""
    return graph.predicted is not None and graph.predicted / graph.gold > OVER


def under_generated(graph: GraphFigures) -> bool:
    """Whether the trial handed in less than `UNDER` times as many triples as gold has, in a readable form."""
    return graph.predicted is not None and graph.predicted / graph.gold < UNDER


def _subsets(groups: dict[str, list[float]]) -> tuple[Subset, ...]:
    return tuple(
        Subset(name=name, trials=len(values), f1=sum(values) / len(values) if values else None)
        for name, values in groups.items()
    )


def _grouped(
    found: Iterable[tuple[int, float]], class_of: Callable[[int], str], names: Iterable[str]
) -> dict[str, list[float]]:
    groups: dict[str, list[float]] = {name: [] for name in names}
    for turns, f1 in found:
        groups[class_of(turns)].append(f1)
    return groups


def turns_class(turns: int) -> str:
    """`<=10`, `11-15`, `>15` user turns (VibeSearchBench)."""
    return next((name for name, most in _TURNS.items() if turns <= most), TURN_CLASSES[-1])


def fine_turns_class(turns: int) -> str:
    """`1-2`, `3-5`, …, `21+` user turns (ours)."""
    return next((name for name, most in _FINE_TURNS.items() if turns <= most), "21+")


class Breakdown(Frozen):
    """The breakdown of one agent's judged trials of one family.

    `tools`: number of calls by tool. Facts tasks have `fact_curve` over all trials (ours) and `fact_cohort` over a
    fixed cohort (Mind-ParaWorld's). Graph tasks have `graph_errors`. Checkpoint tasks have behaviour `profiles` with
    pass rates (DiscoBench), also `by_ambiguity` (type) and `by_difficulty`, all with the same search threshold K.
    """

    tools: dict[str, int] = {}
    fact_curve: tuple[CurvePoint, ...] = ()
    fact_cohort: CohortCurve | None = None
    graph_errors: GraphErrors | None = None
    profiles: tuple[ProfileCount, ...] = ()
    by_ambiguity: dict[str, tuple[ProfileCount, ...]] = {}
    by_difficulty: dict[str, tuple[ProfileCount, ...]] = {}


class BreakdownCounts:
    """Counts a breakdown: add trials one by one, then take the result; logs are not kept."""

    def __init__(self) -> None:
        self._tools: Counter[str] = Counter()
        self._curves = FactCurves()
        self._graph: GraphErrorCounts | None = None
        self._facts = False
        self._steps: list[StepRecord] = []
        self._by_type: dict[str, list[StepRecord]] = defaultdict(list)
        self._by_difficulty: dict[str, list[StepRecord]] = defaultdict(list)

    def add(self, figures: TrialFigures, difficulty: str | None = None) -> None:
        told = figures.details
        for tool, n in told.tools.items():
            self._tools[tool] += n
        if told.graph:
            self._graph = self._graph or GraphErrorCounts()
            self._graph.add(told.graph, figures)
        if told.facts:
            self._facts = True
            self._curves.add(told.facts)
        for step in told.steps or ():
            self._steps.append(step.record)
            if step.ambiguity:
                self._by_type[step.ambiguity].append(step.record)
                self._by_difficulty[difficulty or "-"].append(step.record)

    def result(self) -> Breakdown:
        k = typical_searches(self._steps)
        return Breakdown(
            tools=dict(self._tools.most_common()),
            fact_curve=self._curves.points() if self._facts else (),
            fact_cohort=self._curves.cohort() if self._facts else None,
            graph_errors=self._graph.result() if self._graph else None,
            profiles=behaviour_profiles(self._steps, k) if self._steps else (),
            by_ambiguity={n: behaviour_profiles(s, k) for n, s in sorted(self._by_type.items())},
            by_difficulty={
                n: behaviour_profiles(s, k) for n, s in sorted(self._by_difficulty.items())
            },
        )
