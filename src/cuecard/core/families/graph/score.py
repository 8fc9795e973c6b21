"""Scores of a graph task (VibeSearchBench): precision, recall and F1 of triples."""

from collections.abc import Sequence

from cuecard.core.families.graph.gold import Graph
from cuecard.core.i18n import _
from cuecard.core.text import normalise
from cuecard.core.verdicts import (
    Decision,
    Decisions,
    ItemKind,
    Measure,
    PredictedTriple,
    Prediction,
    TriplesPrediction,
    Verdict,
    count,
    harmonic,
    share,
)

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
