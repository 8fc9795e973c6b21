"""What goes wrong in graphs that are handed in (VibeSearchBench's error analysis)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from cuecard.core.scoring.measures import Measure, pearson
from cuecard.core.scoring.trial_figures import GraphFigures, Tally, TrialFigures
from cuecard.core.tasks.base import Frozen

OVER = 1.5
UNDER = 0.5
MOST = 20
_TURNS: dict[str, int] = {"<=10": 10, "11-15": 15}
"""VibeSearchBench's classes of user turns, and the most turns in them."""
_FINE_TURNS: dict[str, int] = {"1-2": 2, "3-5": 5, "6-10": 10, "11-20": 20}
"""Ours: as wide as one stage, a few stages and whole dialogues take."""
TURN_CLASSES = (*_TURNS, ">15")
FINE_TURN_CLASSES = (*_FINE_TURNS, "21+")


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
    how often the user spoke, in the paper's classes, `by_user_turns_fine` in ours. `turns_f1`: Pearson's
    correlation of user turns and triplet F1 over trials.
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
    """Add trials one by one, then take the result."""

    def __init__(self) -> None:
        self._trials = self._failures = self._over = self._under = 0
        self._coverage: dict[str, list[Tally]] = defaultdict(list)
        self._invalid: Counter[str] = Counter()
        self._compacted: dict[str, list[float]] = {"with": [], "without": []}
        self._turns: list[tuple[int, float]] = []

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
            self._turns.append((user_turns_of(figures), f1))

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
            by_user_turns=_subsets(_grouped(self._turns, turns_class, TURN_CLASSES)),
            by_user_turns_fine=_subsets(_grouped(self._turns, fine_turns_class, FINE_TURN_CLASSES)),
            turns_f1=pearson("turns_f1", self._turns),
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


def _grouped(
    found: Iterable[tuple[int, float]], class_of: Callable[[int], str], names: Iterable[str]
) -> dict[str, list[float]]:
    groups: dict[str, list[float]] = {name: [] for name in names}
    for turns, f1 in found:
        groups[class_of(turns)].append(f1)
    return groups


def user_turns_of(figures: TrialFigures) -> int:
    return int(figures.value("user_turns") or 0)


def turns_class(turns: int) -> str:
    """`<=10`, `11-15`, `>15` user turns (VibeSearchBench)."""
    return next((name for name, most in _TURNS.items() if turns <= most), TURN_CLASSES[-1])


def fine_turns_class(turns: int) -> str:
    """`1-2`, `3-5`, …, `21+` user turns (ours)."""
    return next((name for name, most in _FINE_TURNS.items() if turns <= most), "21+")
