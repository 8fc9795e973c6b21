"""What goes wrong in graphs that are handed in (VibeSearchBench's error analysis)."""

from __future__ import annotations

from collections import Counter, defaultdict

from cuecard.core.scoring.trial_figures import GraphFigures, Tally, TrialFigures
from cuecard.core.tasks.base import Frozen

OVER = 1.5
UNDER = 0.5
MOST = 20
_TURN_BUCKETS = ((1, 2), (3, 5), (6, 10), (11, 20), (21, None))


class RelationCoverage(Frozen):
    """Gold triples of one relation over all trials: covered, judged, and left unjudged."""

    relation: str
    covered: int
    judged: int
    unjudged: int


class RelationCount(Frozen):
    relation: str
    count: int


class Subset(Frozen):
    """Triplet F1 over some of the trials; `f1` is None where there are none."""

    name: str
    trials: int
    f1: float | None


class GraphErrors(Frozen):
    """Over all judged trials of a group.

    `format_failures`: nothing readable was handed in. `over_generation`: trials that handed in more
    than 1.5 times the gold's triples, `under_generation` less than half of them (failures not among
    these). `invalid_relations`: relations of predicted triples that support nothing, the most frequent
    first, at most 20. `by_compaction`: F1 of trials with and without a compaction; `by_user_turns`: by
    how often the user spoke.
    """

    trials: int
    format_failures: int
    over_generation: int
    under_generation: int
    coverage: tuple[RelationCoverage, ...]
    invalid_relations: tuple[RelationCount, ...]
    by_compaction: tuple[Subset, ...]
    by_user_turns: tuple[Subset, ...]


class GraphErrorCounts:
    """Add trials one by one, then take the result."""

    def __init__(self) -> None:
        self._trials = self._failures = self._over = self._under = 0
        self._coverage: dict[str, list[Tally]] = defaultdict(list)
        self._invalid: Counter[str] = Counter()
        self._compacted: dict[str, list[float]] = {"with": [], "without": []}
        self._by_turns: dict[str, list[float]] = {_bucket_name(b): [] for b in _TURN_BUCKETS}

    def add(self, graph: GraphFigures, figures: TrialFigures) -> None:
        self._trials += 1
        for relation, tally in graph.relations.items():
            self._coverage[relation].append(tally)
        if graph.predicted is None:
            self._failures += 1
        else:
            self._over += over_generated(graph)
            self._under += under_generated(graph)
            self._invalid.update(graph.invalid)
        f1 = figures.value("triplet_f1")
        if f1 is not None:
            self._compacted["with" if figures.value("compactions") else "without"].append(f1)
            self._by_turns[turns_bucket(int(figures.value("user_turns") or 0))].append(f1)

    def result(self) -> GraphErrors:
        return GraphErrors(
            trials=self._trials,
            format_failures=self._failures,
            over_generation=self._over,
            under_generation=self._under,
            coverage=tuple(
                RelationCoverage(
                    relation=relation,
                    covered=sum(tally.yes for tally in tallies),
                    judged=sum(tally.judged for tally in tallies),
                    unjudged=sum(tally.unjudged for tally in tallies),
                )
                for relation, tallies in sorted(
                    self._coverage.items(), key=lambda item: (-_size(item[1]), item[0])
                )
            ),
            invalid_relations=tuple(
                RelationCount(relation=relation, count=n)
                for relation, n in self._invalid.most_common(MOST)
            ),
            by_compaction=_subsets(self._compacted),
            by_user_turns=_subsets(self._by_turns),
        )


def over_generated(graph: GraphFigures) -> bool:
    """It handed in more than `OVER` times the gold's triples."""
    return graph.predicted is not None and graph.predicted / graph.gold > OVER


def under_generated(graph: GraphFigures) -> bool:
    """It handed in less than `UNDER` of the gold's triples, and something readable."""
    return graph.predicted is not None and graph.predicted / graph.gold < UNDER


def _size(tallies: list[Tally]) -> int:
    return sum(tally.judged + tally.unjudged for tally in tallies)


def _subsets(groups: dict[str, list[float]]) -> tuple[Subset, ...]:
    return tuple(
        Subset(name=name, trials=len(values), f1=sum(values) / len(values) if values else None)
        for name, values in groups.items()
    )


def turns_bucket(turns: int) -> str:
    """`1-2`, `3-5`, …, `21+`: user turns in classes."""
    for low, high in _TURN_BUCKETS:
        if high is None or turns <= high:
            return _bucket_name((low, high))
    raise AssertionError("the last bucket is open")


def _bucket_name(bucket: tuple[int, int | None]) -> str:
    low, high = bucket
    return f"{low}+" if high is None else f"{low}-{high}"


TURN_CLASSES = tuple(turns_bucket(low) for low, _high in _TURN_BUCKETS)
"""All of them, in order."""
