"""What goes wrong in graphs that are handed in (VibeSearchBench's error analysis)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from cuecard.core.events import Event
from cuecard.core.prediction import TriplesPrediction
from cuecard.core.scoring.decisions import Decisions
from cuecard.core.scoring.graph import supporting_triples
from cuecard.core.scoring.interaction import compactions
from cuecard.core.scoring.log import user_turns
from cuecard.core.scoring.measures import Measure
from cuecard.core.tasks import Graph
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import normalise
from cuecard.core.trial import prediction_of
from cuecard.core.verdicts import Decision, ItemKind, Judgement

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
        self._coverage: dict[str, Counter[Decision]] = defaultdict(Counter)
        self._invalid: Counter[str] = Counter()
        self._compacted: dict[str, list[float]] = {"with": [], "without": []}
        self._by_turns: dict[str, list[float]] = {_bucket_name(b): [] for b in _TURN_BUCKETS}

    def add(
        self,
        graph: Graph,
        events: Sequence[Event],
        judgement: Judgement,
        measures: Sequence[Measure],
    ) -> None:
        self._trials += 1
        decisions = Decisions.of(judgement.verdicts)
        for index, triple in enumerate(graph.triples):
            found = decisions.decision(ItemKind.TRIPLE, index)
            self._coverage[triple.relation][found] += 1
        prediction = prediction_of(events)
        if isinstance(prediction, TriplesPrediction):
            predicted = prediction.triples
            ratio = len(predicted) / len(graph.triples)
            self._over += ratio > OVER
            self._under += ratio < UNDER
            support = set(supporting_triples(judgement.verdicts, len(predicted)))
            self._invalid.update(
                normalise(triple.relation) or triple.relation.strip()
                for index, triple in enumerate(predicted)
                if index not in support
            )
        else:
            self._failures += 1
        f1 = next((m.value for m in measures if m.name == "triplet_f1"), None)
        if f1 is not None:
            self._compacted["with" if compactions(events) else "without"].append(f1)
            self._by_turns[_bucket_of(len(user_turns(events)))].append(f1)

    def result(self) -> GraphErrors:
        return GraphErrors(
            trials=self._trials,
            format_failures=self._failures,
            over_generation=self._over,
            under_generation=self._under,
            coverage=tuple(
                RelationCoverage(
                    relation=relation,
                    covered=found[Decision.YES],
                    judged=found[Decision.YES] + found[Decision.NO],
                    unjudged=found[Decision.UNJUDGED],
                )
                for relation, found in sorted(
                    self._coverage.items(), key=lambda item: (-item[1].total(), item[0])
                )
            ),
            invalid_relations=tuple(
                RelationCount(relation=relation, count=n)
                for relation, n in self._invalid.most_common(MOST)
            ),
            by_compaction=_subsets(self._compacted),
            by_user_turns=_subsets(self._by_turns),
        )


def _subsets(groups: dict[str, list[float]]) -> tuple[Subset, ...]:
    return tuple(
        Subset(name=name, trials=len(values), f1=sum(values) / len(values) if values else None)
        for name, values in groups.items()
    )


def _bucket_of(turns: int) -> str:
    for low, high in _TURN_BUCKETS:
        if high is None or turns <= high:
            return _bucket_name((low, high))
    raise AssertionError("the last bucket is open")


def _bucket_name(bucket: tuple[int, int | None]) -> str:
    low, high = bucket
    return f"{low}+" if high is None else f"{low}-{high}"
