"""What a group of trials shows besides its measures: tools, curves, errors, profiles by kind."""

from __future__ import annotations

from collections import Counter, defaultdict

from cuecard.core.scoring.curves import CohortCurve, CurvePoint, FactCurves
from cuecard.core.scoring.graph_errors import GraphErrorCounts, GraphErrors
from cuecard.core.scoring.profiles import ProfileCount, behaviour_profiles, typical_searches
from cuecard.core.scoring.steps import StepRecord
from cuecard.core.scoring.trial_figures import TrialFigures
from cuecard.core.tasks.base import Frozen


class Breakdown(Frozen):
    """Of one agent on the judged trials of one family.

    `tools`: calls by the tool's name. For facts tasks `fact_curve` over all trials (ours) and `fact_cohort`
    over a fixed cohort (the paper's), `graph_errors` for graph tasks. For
    checkpoint tasks `profiles` with pass rates, also `by_ambiguity` (type) and `by_difficulty`, all with
    the same K.
    """

    tools: dict[str, int] = {}
    fact_curve: tuple[CurvePoint, ...] = ()
    fact_cohort: CohortCurve | None = None
    graph_errors: GraphErrors | None = None
    profiles: tuple[ProfileCount, ...] = ()
    by_ambiguity: dict[str, tuple[ProfileCount, ...]] = {}
    by_difficulty: dict[str, tuple[ProfileCount, ...]] = {}


class BreakdownCounts:
    """Add trials one by one, then take the result; no log is kept."""

    def __init__(self) -> None:
        self._tools: Counter[str] = Counter()
        self._curves = FactCurves()
        self._graph: GraphErrorCounts | None = None
        self._facts = False
        self._steps: list[StepRecord] = []
        self._by_type: dict[str, list[StepRecord]] = defaultdict(list)
        self._by_difficulty: dict[str, list[StepRecord]] = defaultdict(list)

    def add(self, figures: TrialFigures, difficulty: str | None = None) -> None:
        self._tools.update(figures.tools)
        if figures.graph:
            self._graph = self._graph or GraphErrorCounts()
            self._graph.add(figures.graph, figures)
        if figures.facts:
            self._facts = True
            self._curves.add(figures.facts)
        for step in figures.steps or ():
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
