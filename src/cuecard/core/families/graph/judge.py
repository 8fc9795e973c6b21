"""The lexical judge of graphs: which gold triples a set of predicted triples covers, by the spelling of names and
relations; and scores of a graph task (VibeSearchBench): precision, recall and F1 of triples.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from cuecard.core.families.graph.gold import Graph
from cuecard.core.families.graph.relations import RelationRule, relation, same_relation
from cuecard.core.i18n import _
from cuecard.core.judges.similarity import NodeIndex, form
from cuecard.core.predictions import PredictedTriple, Prediction, TriplesPrediction
from cuecard.core.text import normalise
from cuecard.core.verdicts import (
    Decision,
    Decisions,
    Item,
    ItemKind,
    Measure,
    Verdict,
    count,
    harmonic,
    share,
)


def judge_graph(graph: Graph, predicted: Sequence[PredictedTriple]) -> tuple[Verdict, ...]:
    """One verdict per gold triple, in order; `supporting` are indices into `predicted`."""
    matcher = _Matcher(graph, predicted)
    return tuple(matcher.verdict(index) for index in range(len(graph.triples)))


class _Matcher:
    def __init__(self, graph: Graph, predicted: Sequence[PredictedTriple]) -> None:
        self._graph = graph
        self._predicted = predicted
        self._nodes = NodeIndex(graph)
        # Predicted triples, indexed by the pair of gold nodes that they connect, and by each end alone.
        self._between: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._by_head: dict[str, list[int]] = defaultdict(list)
        self._by_tail: dict[str, list[int]] = defaultdict(list)
        for index, triple in enumerate(predicted):
            heads, tails = self._nodes.find(triple.head), self._nodes.find(triple.tail)
            for head in heads:
                for tail in tails:
                    self._between[head, tail].append(index)
            for key in self._keys(triple.head):
                self._by_head[key].append(index)
            for key in self._keys(triple.tail):
                self._by_tail[key].append(index)

    def verdict(self, index: int) -> Verdict:
        gold = self._graph.triples[index]
        item = Item(kind=ItemKind.TRIPLE, index=index)
        direct = self._direct(gold.head, gold.tail, gold.relation)
        inverse = self._inverse(gold.head, gold.tail, gold.relation)
        if direct or inverse:
            rules = {**inverse, **direct}
            rationale = (
                _relation_reason(next(iter(direct.values())))
                if direct
                else _("head and tail are exchanged and the relation is the inverse")
            )
            return Verdict(
                item=item,
                decision=Decision.YES,
                supporting=tuple(sorted(rules)),
                rationale=rationale,
            )
        pair = self._composed(gold.head, gold.tail, gold.relation)
        if pair:
            return Verdict(
                item=item,
                decision=Decision.YES,
                supporting=tuple(sorted(pair)),
                rationale=_("two predicted triples say it together"),
            )
        return Verdict(
            item=item, decision=Decision.NO, rationale=self._why_not(gold.head, gold.tail)
        )

    def _direct(self, head: str, tail: str, gold: str) -> dict[int, RelationRule]:
        found: dict[int, RelationRule] = {}
        for index in self._between.get((head, tail), ()):
            rule = same_relation(gold, self._predicted[index].relation)
            if rule:
                found[index] = rule
        return found

    def _inverse(self, head: str, tail: str, gold: str) -> dict[int, RelationRule]:
        if head == tail or self._nodes.is_value(tail):
            return {}
        found: dict[int, RelationRule] = {}
        for index in self._between.get((tail, head), ()):
            rule = same_relation(gold, self._predicted[index].relation, swapped=True)
            if rule:
                found[index] = rule
        return found

    def _composed(self, head: str, tail: str, gold: str) -> tuple[int, int] | None:
        """The first pair of predicted triples that together say the gold triple."""
        for first, second in self._chains(head, tail):
            one, two = (
                relation(self._predicted[first].relation),
                relation(self._predicted[second].relation),
            )
            if one.identity and _means(gold, two.text):
                return first, second
            if two.identity and _means(gold, one.text):
                return first, second
            if one.inclusion and two.inclusion and relation(gold).inclusion:
                return first, second
        for alias, other in self._renamed(head, tail):
            if _means(gold, self._predicted[other].relation):
                return alias, other
        return None

    def _chains(self, head: str, tail: str) -> Iterator[tuple[int, int]]:
        """Pairs head -> X, X -> tail."""
        ends = set(self._by_tail.get(tail, ()))
        if not ends:
            return
        for first in self._by_head.get(head, ()):
            for second in self._from(self._predicted[first].tail):
                if second in ends and second != first:
                    yield first, second

    def _renamed(self, head: str, tail: str) -> Iterator[tuple[int, int]]:
        """Pairs that use another name X of an end: X is a name of head and X -> tail, or tail is a name of X and
        head -> X. The triple that gives the name comes first in each pair.
        """
        ends = set(self._by_tail.get(tail, ()))
        for alias in self._by_tail.get(head, ()):
            if relation(self._predicted[alias].relation).identity:
                for other in self._from(self._predicted[alias].head):
                    if other in ends and other != alias:
                        yield alias, other
        starts = set(self._by_head.get(head, ()))
        for alias in self._by_head.get(tail, ()):
            if relation(self._predicted[alias].relation).identity:
                for other in self._to(self._predicted[alias].tail):
                    if other in starts and other != alias:
                        yield alias, other

    def _from(self, name: str) -> list[int]:
        return sorted({i for key in self._keys(name) for i in self._by_head.get(key, ())})

    def _to(self, name: str) -> list[int]:
        return sorted({i for key in self._keys(name) for i in self._by_tail.get(key, ())})

    def _keys(self, name: str) -> set[str]:
        """The ids of the nodes that a name could mean, and a key for the name itself that equals no id."""
        return {*self._nodes.find(name), f"\0{form(name).compact}"}

    def _why_not(self, head: str, tail: str) -> str:
        if self._between.get((head, tail)) or self._between.get((tail, head)):
            return _("both entities are joined, but by another relation")
        if not self._by_head.get(head) and not self._by_tail.get(head):
            return _("the head is not mentioned")
        if not self._by_head.get(tail) and not self._by_tail.get(tail):
            return _("the tail is not mentioned")
        return _("no predicted triple joins the two entities")


def _means(gold: str, predicted: str) -> bool:
    """Whether two relations mean the same, and not only because one of them is too general to differ."""
    return same_relation(gold, predicted) in (
        RelationRule.SAME,
        RelationRule.WORD,
        RelationRule.MEANING,
    )


def _relation_reason(rule: RelationRule) -> str:
    match rule:
        case RelationRule.SAME:
            return _("same entities, same relation")
        case RelationRule.WORD | RelationRule.MEANING:
            return _("same entities, a like relation")
        case RelationRule.GENERAL:
            return _("same entities, a relation that says nothing in particular")
        case RelationRule.UNREADABLE:
            return _("same entities, a relation in another language")


GRAPH_MEASURES = (
    "triplet_precision",
    "triplet_recall",
    "triplet_f1",
    "node_precision",
    "node_recall",
    "node_f1",
)


def score_graph(
    graph: Graph, prediction: Prediction, verdicts: Sequence[Verdict]
) -> tuple[Measure, ...]:
    """Triplet and node precision, recall and F1, each in [0, 1], and `unjudged`.

    After VibeSearchBench (the paper, not the released grader): recall = covered gold triples / all gold triples;
    precision = distinct predicted triples that support at least one *covered* gold triple / all predicted triples
    (indices out of range do not count, nor does support for a gold triple that is not covered); node recall = gold nodes
    in a covered triple / gold nodes; node precision = predicted nodes in a supporting triple / predicted nodes.

    A triple that is handed in twice counts once in the numerator and twice in the denominator. An empty prediction
    scores 0. Unjudged gold triples are left out of recall's numerator and denominator (and so are nodes that occur in no
    other triple); precision, which then lacks their support, is a lower bound. If nothing is judged all six are
    undefined. A verdict on a predicted triple itself overrides what follows from support.
    """
    triples = prediction.triples if isinstance(prediction, TriplesPrediction) else ()
    decisions = Decisions.of(verdicts)
    states = [decisions.decision(ItemKind.TRIPLE, index) for index in range(len(graph.triples))]
    unjudged = states.count(Decision.UNJUDGED)
    missing = count("unjudged", unjudged, len(states))
    if unjudged == len(states):
        reason = _("no gold triple was judged")
        return (*(Measure(name, None, 0, reason) for name in GRAPH_MEASURES), missing)

    covered = [index for index, state in enumerate(states) if state is Decision.YES]
    supporting = _supporting(decisions, covered, len(triples))
    precision = share(
        "triplet_precision",
        len({_key(triples[index]) for index in supporting}),
        len(triples),
        _("no triples were handed in"),
        zero=True,
    )
    recall = share("triplet_recall", len(covered), len(states) - unjudged, "")
    nodes = _nodes(triples)
    node_precision = share(
        "node_precision",
        len(_nodes([triples[index] for index in supporting])),
        len(nodes),
        _("no triples were handed in"),
        zero=True,
    )
    gold_nodes = _judged_nodes(graph, states)
    node_recall = share("node_recall", len(_ends(graph, covered)), len(gold_nodes), "")
    return (
        precision,
        recall,
        harmonic("triplet_f1", precision, recall),
        node_precision,
        node_recall,
        harmonic("node_f1", node_precision, node_recall),
        missing,
    )


def supporting_triples(verdicts: Sequence[Verdict], predicted: int) -> list[int]:
    """Indices of the predicted triples that support at least one covered gold triple, in order; a verdict on a
    predicted triple itself overrides that.
    """
    decisions = Decisions.of(verdicts)
    covered = [
        verdict.item.index
        for verdict in decisions.by_item.values()
        if verdict.item.kind is ItemKind.TRIPLE and verdict.decision is Decision.YES
    ]
    return _supporting(decisions, covered, predicted)


def _supporting(decisions: Decisions, covered: Sequence[int], predicted: int) -> list[int]:
    found: set[int] = set()
    for index in covered:
        verdict = decisions.verdict(ItemKind.TRIPLE, index)
        if verdict:
            found.update(verdict.supporting)
    for verdict in decisions.by_item.values():
        if verdict.item.kind is ItemKind.PREDICTED:
            match verdict.decision:
                case Decision.YES:
                    found.add(verdict.item.index)
                case Decision.NO:
                    found.discard(verdict.item.index)
                case Decision.UNJUDGED:
                    pass
    return sorted(index for index in found if 0 <= index < predicted)


def _key(triple: PredictedTriple) -> tuple[str, str, str]:
    return _name(triple.head), _name(triple.relation), _name(triple.tail)


def _name(text: str) -> str:
    # Punctuation alone normalises to "", but must stay distinct.
    return normalise(text) or text.strip()


def _nodes(triples: Sequence[PredictedTriple]) -> set[str]:
    names = (_name(text) for triple in triples for text in (triple.head, triple.tail))
    return {name for name in names if name}


def _ends(graph: Graph, indices: Sequence[int]) -> set[str]:
    return {end for i in indices for end in (graph.triples[i].head, graph.triples[i].tail)}


def _judged_nodes(graph: Graph, states: Sequence[Decision]) -> set[str]:
    judged = [index for index, state in enumerate(states) if state is not Decision.UNJUDGED]
    undecided = _ends(graph, [i for i, state in enumerate(states) if state is Decision.UNJUDGED])
    return set(graph.node_ids) - (undecided - _ends(graph, judged))
