"""What a group of trials shows besides its measures: tools, curves, errors, profiles by kind."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from cuecard.core.events import Event
from cuecard.core.scoring.curves import CurvePoint, FactCurves
from cuecard.core.scoring.graph_errors import GraphErrorCounts, GraphErrors
from cuecard.core.scoring.interaction import tool_calls_by_name
from cuecard.core.scoring.measures import Measure
from cuecard.core.scoring.profiles import ProfileCount, behaviour_profiles, typical_searches
from cuecard.core.scoring.steps import StepRecord, steps_of
from cuecard.core.tasks import CheckpointChain, FactWorld, Graph, Task
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Judgement


class Breakdown(Frozen):
    """Of one agent on the judged trials of one family.

    `tools`: calls by the tool's name. `fact_curve` for facts tasks, `graph_errors` for graph tasks. For
    checkpoint tasks `profiles` with pass rates, also `by_ambiguity` (type) and `by_difficulty`, all with
    the same K.
    """

    tools: dict[str, int] = {}
    fact_curve: tuple[CurvePoint, ...] = ()
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

    def add(
        self,
        task: Task,
        events: Sequence[Event],
        judgement: Judgement,
        measures: Sequence[Measure],
    ) -> None:
        self._tools.update(tool_calls_by_name(events))
        match task.gold:
            case Graph() as graph:
                self._graph = self._graph or GraphErrorCounts()
                self._graph.add(graph, events, judgement, measures)
            case FactWorld() as world:
                self._facts = True
                self._curves.add(world, events)
            case CheckpointChain() as chain:
                self._add_steps(task, chain, steps_of(chain, events))
            case _:
                pass

    def result(self) -> Breakdown:
        k = typical_searches(self._steps)
        return Breakdown(
            tools=dict(self._tools.most_common()),
            fact_curve=self._curves.points() if self._facts else (),
            graph_errors=self._graph.result() if self._graph else None,
            profiles=behaviour_profiles(self._steps, k) if self._steps else (),
            by_ambiguity={n: behaviour_profiles(s, k) for n, s in sorted(self._by_type.items())},
            by_difficulty={
                n: behaviour_profiles(s, k) for n, s in sorted(self._by_difficulty.items())
            },
        )

    def _add_steps(self, task: Task, chain: CheckpointChain, steps: Sequence[StepRecord]) -> None:
        self._steps += steps
        for step in steps:
            ambiguity = chain.steps[step.checkpoint].ambiguity
            if ambiguity is not None:
                self._by_type[ambiguity.type.value].append(step)
                self._by_difficulty[task.difficulty or "-"].append(step)
