"""What the engine knows of graph tasks: a schema-free graph of triples (VibeSearchBench)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from cuecard.core.agents.briefing import PublicTask
from cuecard.core.agents.offline_search import Notes, Searcher
from cuecard.core.engine.messages import AgentReply, Dialogue
from cuecard.core.engine.step_context import CallContext
from cuecard.core.families import common
from cuecard.core.families.graph import play
from cuecard.core.families.graph.gold import Graph, Node
from cuecard.core.families.graph.judge import GRAPH_MEASURES, score_graph, supporting_triples
from cuecard.core.families.graph.judge import judge_graph as judge_graph_lexically
from cuecard.core.families.registry import CoreFamily
from cuecard.core.formats.extraction import find_triples
from cuecard.core.i18n import N_, _
from cuecard.core.judges.lexical import refuse_triples
from cuecard.core.predictions import PredictedTriple, Prediction, TriplesPrediction
from cuecard.core.scoring.trial_score import GraphFigures, tallies
from cuecard.core.tasks.gold import narrow
from cuecard.core.tasks.models import Task
from cuecard.core.text import normalise
from cuecard.core.verdicts import (
    Decision,
    Decisions,
    GoldItem,
    Item,
    ItemKind,
    Judged,
    Judgement,
    Verdict,
)
from cuecard.core.worlds.statements import Statement

if TYPE_CHECKING:
    from cuecard.core.judges.model_asking import ModelAsks
    from cuecard.core.rescoring import Asked, Carry, ItemChange


def _statements(_task: Task, graph: Graph) -> Iterator[Statement]:
    for index, triple in enumerate(graph.triples):
        value, *aliases = graph.names_of(triple.tail)
        yield Statement(
            key=f"triple/{index}",
            subject=(graph.names_of(triple.head),),
            attribute=triple.relation,
            value=value,
            value_aliases=tuple(aliases),
            stage=triple.stage,
            linked=True,
        )


def _counts(graph: Graph, prediction: Prediction, judgement: Judgement) -> GraphFigures:
    decisions = Decisions.of(judgement.verdicts)
    relations: dict[str, Counter[Decision]] = defaultdict(Counter)
    stages: dict[int, Counter[Decision]] = defaultdict(Counter)
    for index, triple in enumerate(graph.triples):
        found = decisions.decision(ItemKind.TRIPLE, index)
        relations[triple.relation][found] += 1
        if triple.stage is not None:
            stages[triple.stage][found] += 1
    triples = prediction.triples if isinstance(prediction, TriplesPrediction) else None
    support = set(supporting_triples(judgement.verdicts, len(triples or ())))
    invalid = Counter(
        normalise(triple.relation) or triple.relation.strip()
        for index, triple in enumerate(triples or ())
        if index not in support
    )
    return GraphFigures(
        gold=len(graph.triples),
        predicted=None if triples is None else len(triples),
        relations=tallies(relations),
        stages=tallies(stages),
        invalid=dict(invalid),
    )


def _read(said: str, raw: str) -> Prediction | str:
    triples = find_triples(said)
    if triples is None:
        return common.NO_TRIPLES
    named = tuple(PredictedTriple(head=h, relation=r, tail=t) for h, r, t in triples)
    return TriplesPrediction(triples=named, raw=raw)


_TRIPLES = TypeAdapter(tuple[PredictedTriple, ...])


def _read_json(text: str) -> Prediction:
    return TriplesPrediction(triples=_TRIPLES.validate_json(text), raw=text)


def _judge(_task: Task, graph: Graph, prediction: Prediction) -> Judged | None:
    if not isinstance(prediction, TriplesPrediction):
        return None
    return judge_graph_lexically(graph, prediction.triples), None


async def _ask(
    judge: ModelAsks, task: Task, graph: Graph, prediction: Prediction, context: CallContext
) -> Judged | None:
    if not isinstance(prediction, TriplesPrediction):
        return None
    from cuecard.core.judges.model import judge_graph as judge_graph_by_model

    asking = judge.asking("judge_graph", task)
    return await judge_graph_by_model(asking, task.query, graph, prediction.triples, context), None


def _item(_task: Task, graph: Graph, item: Item) -> GoldItem:
    triple = graph.triples[item.index]
    context: list[str] = []
    if triple.stage is not None:
        context.append(_("stage {n}").format(n=triple.stage))
    also = [*graph.names_of(triple.head)[1:], *graph.names_of(triple.tail)[1:]]
    return GoldItem(
        item=item,
        text=" — ".join(graph.named(triple)),
        also=tuple(dict.fromkeys(also)),
        context=tuple(context),
        sources=triple.sources,
    )


def _item_text(graph: Graph, item: Item) -> str:
    if item.kind is not ItemKind.TRIPLE:
        return item.key
    return " | ".join(graph.named(graph.triples[item.index]))


def _target(graph: Graph) -> str:
    return "\n".join(" | ".join(graph.named(triple)) for triple in graph.triples)


async def _offline(public: PublicTask, dialogue: Dialogue, searcher: Searcher) -> AgentReply:
    return AgentReply(text=await play.answer(public, dialogue, searcher))


def _conclude(_public: PublicTask, _dialogue: Dialogue, notes: Notes) -> Prediction:
    triples = tuple(
        PredictedTriple(head=f.subject, relation=f.attribute, tail=f.value)
        for f in notes.facts
        if f.subject
    )
    return TriplesPrediction(triples=triples) if triples else common.nothing_found()


_Part = tuple[str, frozenset[str]]
_Said = tuple[_Part, str, _Part]


def _said(graph: Graph, index: int) -> _Said:
    triple = graph.triples[index]
    (head, *heads), (tail, *tails) = graph.names_of(triple.head), graph.names_of(triple.tail)
    return (head, frozenset(heads)), triple.relation, (tail, frozenset(tails))


def _changes(old: Graph, new: Graph) -> tuple[ItemChange, ...]:
    from cuecard.core.rescoring import GoldChange, ItemChange

    def change(fate: GoldChange, old: int | None, new: int | None) -> ItemChange:
        return ItemChange(fate=fate, old=_triple_item(old), new=_triple_item(new))

    before = {index: _said(old, index) for index in range(len(old.triples))}
    after = {index: _said(new, index) for index in range(len(new.triples))}
    same = _paired(after, before)
    left = {index: said for index, said in before.items() if index not in same.values()}
    found: list[ItemChange] = []
    for index, said in after.items():
        if index in same:
            found.append(change(GoldChange.SAME, same[index], index))
            continue
        near = next((i for i, other in left.items() if _near(said, other)), None)
        if near is not None:
            del left[near]
        found.append(change(GoldChange.ADDED if near is None else GoldChange.CHANGED, near, index))
    return (*found, *(change(GoldChange.REMOVED, index, None) for index in left))


def _near(one: _Said, other: _Said) -> bool:
    """Whether two of the three parts are equal; heads and tails are compared by name, without aliases."""
    parts = zip(_names(one), _names(other), strict=True)
    return sum(mine == theirs for mine, theirs in parts) >= 2


def _names(said: _Said) -> tuple[str, str, str]:
    return said[0][0], said[1], said[2][0]


def _paired(after: dict[int, _Said], before: dict[int, _Said]) -> dict[int, int]:
    """Pairs of equal triples, each used once, in order."""
    waiting: dict[_Said, list[int]] = defaultdict(list)
    for index, said in before.items():
        waiting[said].append(index)
    return {index: waiting[said].pop(0) for index, said in after.items() if waiting.get(said)}


def _triple_item(index: int | None) -> Item | None:
    return None if index is None else Item(kind=ItemKind.TRIPLE, index=index)


def _asked(new: Task, prediction: Prediction, items: tuple[Item, ...]) -> Asked:
    """The question to a judge about these triples only: a task whose gold has no others."""
    from cuecard.core.rescoring import Asked

    graph = narrow(new.gold, Graph)
    indices = [item.index for item in items]
    # All nodes stay, since judges tell an entity from all others of the graph.
    nodes = tuple(
        next((node for node in graph.nodes if node.id == id_), None) or Node(id=id_)
        for id_ in graph.node_ids
    )
    part = Graph(nodes=nodes, triples=tuple(graph.triples[index] for index in indices))

    def place(verdict: Verdict) -> Verdict | None:
        if verdict.item.kind is not ItemKind.TRIPLE or verdict.item.index >= len(indices):
            return None
        item = Item(kind=ItemKind.TRIPLE, index=indices[verdict.item.index])
        return verdict.model_copy(update={"item": item})

    return Asked(new.model_copy(update={"gold": part}), prediction, place)


def _carry(old: Task, new: Task, prediction: Prediction, judgement: Judgement | None) -> Carry:
    from cuecard.core.rescoring import carry_items

    return carry_items(old, new, prediction, judgement, _asked)


GRAPH = CoreFamily(
    name="graph",
    gold=Graph,
    label=N_("Graph tasks"),
    measures=("triplet_f1", *(name for name in GRAPH_MEASURES if name != "triplet_f1")),
    headlines=("triplet_f1", "node_f1"),
    main="triplet_f1",
    known_by="triplet_recall",
    bar=("triplet_f1", 0.5),
    judged=GRAPH_MEASURES,
    of_log=(),
    of_end=True,
    score=lambda _task, graph, prediction, _events, judgement: score_graph(
        graph, prediction, judgement.verdicts
    ),
    figures=lambda graph, prediction, _events, judgement: {
        "graph": _counts(graph, prediction, judgement)
    },
    handed_in="triples",
    read=_read,
    read_json=_read_json,
    conclusion="conclude_graph",
    from_memory="probe_hand_in_graph",
    judge=_judge,
    ask=_ask,
    judge_prompts=("judge_graph",),
    refuse=lambda graph, reason: (refuse_triples(graph, reason), None),
    item=_item,
    item_text=_item_text,
    target=_target,
    approach=common.plain_approach,
    columns=common.no_columns,
    offline=_offline,
    calls=12,
    conclude=_conclude,
    statements=lambda task, graph: tuple(_statements(task, graph)),
    index=common.records,
    entities=True,
    topics=True,
    chain=common.no_chain,
    facts=common.no_facts,
    changes=_changes,
    effective=common.nothing_of_play,
    carry=_carry,
)
