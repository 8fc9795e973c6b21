"""Errors in graphs that were handed in (VibeSearchBench's error analysis), with intervals by task."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from cuecard.core.i18n import _
from cuecard.core.scoring.graph_errors import (
    TURN_CLASSES,
    over_generated,
    turns_bucket,
    under_generated,
)
from cuecard.core.scoring.trial_figures import GraphFigures, Tally
from cuecard.core.tasks.base import Frozen
from cuecard.results.errors.classes import CALL_CLASSES, TrialClass, calls_class, classes
from cuecard.results.errors.groups import Judged
from cuecard.results.errors.rates import Rate, counted, flagged, plan
from cuecard.results.pool import Row


class Coverage(Frozen):
    """Gold triples of one relation, or of one stage, over all trials. `rate`: covered of the judged ones;
    `unjudged` are beside.
    """

    name: str
    rate: Rate
    unjudged: int

    @property
    def gold(self) -> int:
        return round(self.rate.of) + self.unjudged


class InvalidRelation(Frozen):
    """How often predicted triples with this relation supported nothing, and in which trials."""

    relation: str
    count: int
    trials: tuple[int, ...]


class GraphFindings(Frozen):
    """`over`: handed in more than 1.5 times the gold's triples; `under`: less than half. Both over all judged trials,
    unreadable ones too. `generation`: triples handed in / gold triples of the readable, mean over tasks. `relations`: the
    most frequent in the gold first, `stages` in their order, `invalid`: the most frequent first. F1 by compaction
    (`with`, `without`), by user turns, by tool calls.
    """

    over: Rate
    under: Rate
    generation: Rate
    relations: tuple[Coverage, ...]
    stages: tuple[Coverage, ...]
    invalid: tuple[InvalidRelation, ...]
    by_compaction: tuple[TrialClass, ...]
    by_user_turns: tuple[TrialClass, ...]
    by_tool_calls: tuple[TrialClass, ...]


def graph_findings(judged: Judged) -> GraphFindings:
    """Errors of one arm's trials on graphs."""
    graphs = [(row, figures.graph, figures) for row, figures in judged if figures.graph]
    read = [(row, graph) for row, graph, _f in graphs if graph.predicted is not None]
    whole = counted(
        {
            "over": flagged("over_generation", ((r, over_generated(g)) for r, g, _f in graphs)),
            "under": flagged("under_generation", ((r, under_generated(g)) for r, g, _f in graphs)),
            "ratio": plan(
                "generation_ratio",
                ((row, (graph.predicted or 0) / graph.gold, 1.0) for row, graph in read),
                share=False,
                empty=_("nothing readable was handed in"),
                each_task=True,
            ),
        }
    )
    return GraphFindings(
        over=whole["over"],
        under=whole["under"],
        generation=whole["ratio"],
        relations=_coverage((row, graph.relations) for row, graph, _f in graphs),
        stages=tuple(
            sorted(
                _coverage(_by_stage(row, graph) for row, graph, _f in graphs),
                key=lambda each: int(each.name),
            )
        ),
        invalid=_invalid(read),
        by_compaction=classes(
            judged, lambda f: "with" if f.value("compactions") else "without", ("with", "without")
        ),
        by_user_turns=classes(
            judged, lambda f: turns_bucket(int(f.value("user_turns") or 0)), TURN_CLASSES
        ),
        by_tool_calls=classes(
            judged, lambda f: calls_class(int(f.value("tool_calls") or 0)), CALL_CLASSES
        ),
    )


def _coverage(tallies: Iterable[tuple[Row, Mapping[str, Tally]]]) -> tuple[Coverage, ...]:
    """Those with most gold triples first."""
    parts: dict[str, list[tuple[Row, Tally]]] = defaultdict(list)
    for row, by_name in tallies:
        for name, tally in by_name.items():
            parts[name].append((row, tally))
    rates = counted(
        {
            name: plan(
                "coverage",
                ((row, tally.yes, tally.judged) for row, tally in mine),
                empty=_("no gold triple was judged"),
            )
            for name, mine in parts.items()
        }
    )
    found = [
        Coverage(name=name, rate=rates[name], unjudged=sum(tally.unjudged for _row, tally in mine))
        for name, mine in parts.items()
    ]
    return tuple(sorted(found, key=lambda each: (-each.gold, each.name)))


def _by_stage(row: Row, graph: GraphFigures) -> tuple[Row, dict[str, Tally]]:
    return row, {str(stage): tally for stage, tally in graph.stages.items()}


def _invalid(read: Sequence[tuple[Row, GraphFigures]]) -> tuple[InvalidRelation, ...]:
    counts: Counter[str] = Counter()
    trials: dict[str, list[int]] = defaultdict(list)
    for row, graph in read:
        counts.update(graph.invalid)
        for relation in graph.invalid:
            trials[relation].append(row.trial.id)
    return tuple(
        InvalidRelation(relation=relation, count=n, trials=tuple(trials[relation]))
        for relation, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    )
