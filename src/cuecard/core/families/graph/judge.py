"""The lexical judge of graphs: which gold triples a set of predicted triples covers, by the spelling of names and
relations.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from cuecard.core.families.graph.gold import Graph
from cuecard.core.families.graph.relations import RelationRule, relation, same_relation
from cuecard.core.i18n import _
from cuecard.core.judges.similarity import NodeIndex, form
from cuecard.core.verdicts import Decision, Item, ItemKind, PredictedTriple, Verdict


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
