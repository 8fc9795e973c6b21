"""What authors, reviewers and evaluators know of graph tasks."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from cuecard.annotate.authoring import schema
from cuecard.annotate.authoring.diff import FuzzyKey, MatchRule
from cuecard.annotate.authoring.schema import Links
from cuecard.annotate.authoring.session import shipped_guidelines
from cuecard.annotate.authoring.task_data import blank_triple
from cuecard.annotate.families.common import as_replaced
from cuecard.annotate.families.registry import (
    AnnotateFamily,
    Answers,
    Decided,
    Dimension,
    Errors,
    GoldAnswer,
    GoldElement,
)
from cuecard.annotate.independent_gold import graphs
from cuecard.annotate.lint.graphs import lint_graph, lint_graph_consistency, lint_graph_leaks
from cuecard.annotate.lint.rules import written
from cuecard.annotate.results import PaperTable, averages
from cuecard.annotate.results import trial_against_gold as beside
from cuecard.annotate.results.errors.causes import cause_by_graph
from cuecard.annotate.results.errors.error_tables import Columns
from cuecard.annotate.results.errors.predictions import graph_findings
from cuecard.annotate.results.errors.rates import level, share
from cuecard.annotate.results.trial_record import HitLog
from cuecard.core.engine.events import Event
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.engine.trial import prediction_of
from cuecard.core.families.graph.gold import Graph
from cuecard.core.families.graph.judge import supporting_triples
from cuecard.core.i18n import N_, _
from cuecard.core.predictions import Prediction, triples_of
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.scoring.breakdowns import OVER, UNDER
from cuecard.core.text import normalise
from cuecard.core.verdicts import Decision, Decisions, Item, ItemKind, Judgement


def _graph_terms(graph: Graph, item: Item, _prediction: Prediction) -> tuple[str, ...]:
    triple = graph.triples[item.index]
    return *graph.names_of(triple.tail), *graph.names_of(triple.head)


_plain = lru_cache(maxsize=8192)(normalise)
"""Of names and relations, which tasks share."""


@lru_cache(maxsize=8192)
def _key(index: int) -> str:
    return Item(kind=ItemKind.TRIPLE, index=index).key


def _gold_answers(graph: Graph) -> tuple[GoldAnswer, ...]:
    names = {node: graph.names_of(node) for node in graph.node_ids}
    asked = [(triple.head, _plain(triple.relation)) for triple in graph.triples]
    tails: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for place, triple in zip(asked, graph.triples, strict=True):
        tails[place].add(triple.tail)
    return tuple(
        GoldAnswer(
            _key(index),
            ("gold", "triples", index),
            f"{names[triple.head][0]} — {triple.relation}",
            names[triple.tail],
            beside=names[triple.head],
            single=len(tails[asked[index]]) == 1,
            sources=triple.sources,
        )
        for index, triple in enumerate(graph.triples)
    )


def _told(
    graph: Graph, predictions: Iterable[Prediction], keys: Collection[str]
) -> Iterator[dict[str, list[str]]]:
    """Tails of predicted triples, by the gold triple that has this head and relation."""
    places: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for index, triple in enumerate(graph.triples):
        if (key := _key(index)) in keys:
            for name in {_plain(name) for name in graph.names_of(triple.head)}:
                places[name, _plain(triple.relation)].append(key)
    relations = {relation for _name, relation in places}
    # Trials write the same in the same way, nearly always.
    written: dict[tuple[str, str], Sequence[str]] = {}
    for prediction in predictions:
        found: dict[str, list[str]] = {}
        for triple in triples_of(prediction) or ():
            said = triple.head, triple.relation
            if (there := written.get(said)) is None:
                relation = _plain(said[1])
                there = places.get((_plain(said[0]), relation), ()) if relation in relations else ()
                written[said] = there
            for key in there:
                found.setdefault(key, []).append(triple.tail)
        yield found


def _against(
    graph: Graph, prediction: Prediction, judgement: Judgement | None, _hits: HitLog
) -> beside.GraphAgainst:
    verdicts = judgement.verdicts if judgement else ()
    decisions = Decisions.of(verdicts)
    handed_in = triples_of(prediction)
    triples = handed_in or ()
    gold: list[beside.GoldTriple] = []
    for index, triple in enumerate(graph.triples):
        verdict = decisions.verdict(ItemKind.TRIPLE, index)
        head, relation, tail = graph.named(triple)
        gold.append(
            beside.GoldTriple(
                index=index,
                head=head,
                relation=relation,
                tail=tail,
                stage=triple.stage,
                decision=verdict.decision if verdict else Decision.UNJUDGED,
                supporting=tuple(i for i in verdict.supporting if 0 <= i < len(triples))
                if verdict
                else (),
            )
        )
    used = set(supporting_triples(verdicts, len(triples))) if judgement else range(len(triples))
    extra = tuple(
        beside.ExtraTriple(index=i, head=t.head, relation=t.relation, tail=t.tail)
        for i, t in enumerate(triples)
        if i not in used
    )
    reason, raw = beside.unusable(prediction)
    return beside.GraphAgainst(
        gold=tuple(gold),
        extra=extra,
        predicted=None if handed_in is None else len(triples),
        reason=reason,
        raw=raw,
    )


_NODES = schema.Items(
    N_("Nodes"),
    N_("Node {n}"),
    schema.Record(
        N_("Node"),
        {
            "id": schema.Leaf(N_("Id")),
            "name": schema.Leaf(N_("Shown as")),
            "aliases": schema.ALIASES,
        },
    ),
    MatchRule(
        keys=(schema.known_by("id"), schema.known_by("id", plain=True)),
        text=schema.words("id", "name"),
        least=75,
    ),
    lambda item: schema.part(item, "name") or schema.part(item, "id"),
)
_TRIPLES = schema.Items(
    N_("Triples"),
    N_("Triple {n}"),
    schema.Record(
        N_("Triple"),
        {
            "head": schema.Leaf(N_("Head")),
            "relation": schema.Leaf(N_("Relation")),
            "tail": schema.Leaf(N_("Tail")),
            "stage": schema.Leaf(N_("Stage")),
            "sources": schema.LINKS,
            "note": schema.Leaf(N_("Note"), schema.PARAGRAPH),
        },
        whole=("head", "relation", "tail"),
    ),
    MatchRule(
        keys=(
            schema.known_by("head", "relation", "tail"),
            schema.known_by("head", "relation", "tail", plain=True),
        ),
        loose=(
            FuzzyKey(schema.known_by("head", "tail"), schema.words("relation"), 0),
            FuzzyKey(schema.known_by("head", "relation"), schema.words("tail"), 50, lone=True),
            FuzzyKey(schema.known_by("relation", "tail"), schema.words("head"), 50),
        ),
        text=schema.words("head", "relation", "tail"),
        least=75,
    ),
    schema.words("head", "relation", "tail"),
)


def _element(graph: Graph, item: Item) -> GoldElement | None:
    if item.kind is not ItemKind.TRIPLE or item.index >= len(graph.triples):
        return None
    triple = graph.triples[item.index]
    return GoldElement(("gold", "triples", item.index), graph.named(triple), triple.relation)


def _decided(graph: Graph, events: Sequence[Event], judgement: Judgement) -> Decided:
    found: dict[str, Decision | CheckpointStatus | None] = {}
    for index in range(len(graph.triples)):
        found[Item(kind=ItemKind.TRIPLE, index=index).key] = None
    predicted = triples_of(prediction_of(events)) or ()
    support = set(supporting_triples(judgement.verdicts, len(predicted)))
    unjudged = any(v.decision is Decision.UNJUDGED for v in judgement.verdicts)
    # What supports nothing that was judged may still support what was not.
    otherwise = None if unjudged else Decision.NO
    for index in range(len(predicted)):
        item = Item(kind=ItemKind.PREDICTED, index=index)
        found[item.key] = Decision.YES if index in support else otherwise
    return found


_GRAPH = tuple(
    f"{of}_{kind}" for of in ("node", "triplet") for kind in ("precision", "recall", "f1")
)


def _columns() -> Columns:
    return (
        (_("Too much"), lambda arm: share(arm.graph and arm.graph.over)),
        (_("Too little"), lambda arm: share(arm.graph and arm.graph.under)),
        (_("Handed in / gold"), lambda arm: level(arm.graph and arm.graph.generation)),
    )


def _notes() -> tuple[str, ...]:
    return (
        _(
            "Too much: more than {over} times the gold's triples; too little: less than {under} times."
        ).format(over=f"{OVER:g}", under=f"{UNDER:g}"),
    )


GRAPH = AnnotateFamily(
    drafts=("triples", "persona", "translation"),
    persona=True,
    blank=lambda: {"nodes": [], "triples": [{**blank_triple(), "stage": 1}]},
    independent=graphs.GRAPH,
    written=lambda gold: written(Graph, gold),
    fields={"nodes": _NODES, "triples": _TRIPLES},
    staged="triples",
    links=Links,
    guidelines=shipped_guidelines("graph"),
    lint=(lint_graph, lint_graph_leaks, lint_graph_consistency),
    dimensions=(
        Dimension(
            key="scenario",
            label=N_("Scenario is realistic"),
            help=N_("A person like this one could really want to know this, for this reason."),
        ),
        Dimension(
            key="interaction",
            label=N_("Interaction is natural"),
            help=N_("The lines sound like somebody who talks, and each follows from the reply."),
        ),
        Dimension(
            key="disclosure",
            label=N_("Disclosure is reasonable"),
            help=N_("Every cue can be met by a good agent, and no line gives away what it seeks."),
        ),
        Dimension(
            key="gold",
            label=N_("Gold is correct"),
            help=N_("The triples are true, complete and supported by their sources."),
        ),
        Dimension(
            key="consistency",
            label=N_("Persona and gold agree"),
            help=N_(
                "Every stage is answered by triples, and every triple is asked for by a stage."
            ),
        ),
    ),
    terms=_graph_terms,
    stratum=lambda graph, at: (graph.triples[at].stage,),
    element=_element,
    answers=Answers(_gold_answers, _told),
    decided=_decided,
    corrected=as_replaced,
    cause=cause_by_graph,
    against=_against,
    compared=("node_f1", "triplet_precision", "triplet_recall", "triplet_f1", "user_turns"),
    # VibeSearchBench: nodes and triplets, average and best of N, by language.
    paper=PaperTable(
        by=("agent",),
        figures=(*averages(*_GRAPH), *((name, Taken.BEST) for name in _GRAPH)),
        split="language",
    ),
    errors=Errors(lambda judged, _k: {"graph": graph_findings(judged)}, _columns, _notes),
)
