"""Graphs built twice: aligned by nodes (name and alias) and triples, one to one, and made one."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from cuecard.annotate.authoring.task_data import blank_triple
from cuecard.annotate.independent_gold.matching import (
    Alignment,
    Decided,
    Element,
    GoldComparer,
    Level,
    best_assignment,
    canonical,
    composed,
    named,
    union,
)
from cuecard.core.families.graph.gold import Graph, Triple
from cuecard.core.families.graph.relations import RelationRule, same_relation
from cuecard.core.i18n import _
from cuecard.core.judges.similarity import NameSimilarity, NodeIndex, Rule
from cuecard.core.text import normalise

NEAR = 60.0
"""From this similarity (0 to 100) on, two heads or tails count as variants of one."""
_SCORE = {
    Rule.SAME: 100.0,
    Rule.VALUE: 99.0,
    Rule.DATE: 99.0,
    Rule.WORDS: 98.0,
    Rule.QUALIFIED: 95.0,
}
_FIRM = {RelationRule.SAME: 99.0, RelationRule.WORD: 90.0, RelationRule.MEANING: 85.0}


class _Pairing:
    """Pairs triples: first those that mean the same (heads and tails by name, alias or near spelling, relations by
    meaning, also inverted), as many as possible; then the rest by two equal parts.
    """

    def __init__(self, author: Graph, second: Graph) -> None:
        self._author, self._second = author, second
        self._index = NodeIndex(author)
        self._alike = _alike_nodes(author, second)
        # Triples are looked at in the order of what they say, so that nothing follows from their places.
        self._left = canonical([author.named(triple) for triple in author.triples])
        self._right = canonical([second.named(triple) for triple in second.triples])
        self._why: dict[tuple[int, int], str] = {}

    def alignment(self) -> Alignment:
        author, second = self._author, self._second
        agreed = best_assignment(self._agreeing())
        gone = set(agreed.values())
        lefts = [n for n in range(len(self._left)) if n not in agreed]
        rights = [n for n in range(len(self._right)) if n not in gone]
        differing = best_assignment(self._differing(lefts, rights))
        nodes = self._nodes()
        return Alignment(
            named((*self._triples(agreed, differing), *self._named_otherwise(nodes))),
            (
                Level("triple", len(agreed), len(author.triples), len(second.triples)),
                Level("node", len(nodes), len(author.node_ids), len(second.node_ids)),
            ),
            nodes,
        )

    # What is the same

    def _agreeing(self) -> dict[tuple[int, int], float]:
        edges: dict[tuple[int, int], float] = {}
        between: dict[tuple[str, str], list[int]] = defaultdict(list)
        for n in range(len(self._right)):
            triple = self._theirs(n)
            between[triple.head, triple.tail].append(n)
        for m in range(len(self._left)):
            mine = self._mine(m)
            for head, of_head in self._alike.get(mine.head, {}).items():
                for tail, of_tail in self._alike.get(mine.tail, {}).items():
                    for n in between.get((head, tail), ()):
                        if fit := _relation_fit(mine.relation, self._theirs(n).relation):
                            edges[m, n] = of_head + of_tail + fit
                    if head == tail or self._index.is_value(mine.tail):
                        continue
                    for n in between.get((tail, head), ()):
                        fit = _relation_fit(mine.relation, self._theirs(n).relation, swapped=True)
                        if fit and (m, n) not in edges:
                            edges[m, n] = of_head + of_tail + fit - 20
                            self._why[m, n] = _("told from the other end")
        return edges

    # What belongs together and differs

    def _differing(self, lefts: list[int], rights: list[int]) -> dict[tuple[int, int], float]:
        from rapidfuzz import fuzz

        by_head: dict[str, list[int]] = defaultdict(list)
        by_tail: dict[str, list[int]] = defaultdict(list)
        for n in rights:
            by_head[self._theirs(n).head].append(n)
            by_tail[self._theirs(n).tail].append(n)
        edges: dict[tuple[int, int], float] = {}
        loose: dict[tuple[int, int], tuple[float, str]] = {}
        for m in lefts:
            mine = self._mine(m)
            heads, tails = self._alike.get(mine.head, {}), self._alike.get(mine.tail, {})
            for n in (n for head in heads for n in by_head.get(head, ())):
                other = self._theirs(n)
                if other.tail in tails:
                    edges[m, n] = 300 + fuzz.ratio(mine.relation, other.relation)
                    self._why[m, n] = _("another relation")
                elif _relation_fit(mine.relation, other.relation):
                    ends = self._author.name_of(mine.tail), self._second.name_of(other.tail)
                    loose[m, n] = fuzz.ratio(*map(normalise, ends)), _("another tail")
            for n in (n for tail in tails for n in by_tail.get(tail, ())):
                other = self._theirs(n)
                if (m, n) not in edges and _relation_fit(mine.relation, other.relation):
                    ends = self._author.name_of(mine.head), self._second.name_of(other.head)
                    loose[m, n] = fuzz.ratio(*map(normalise, ends)), _("another head")
            for n in (n for head in heads for n in by_tail.get(head, ())):
                if (m, n) not in edges and self._theirs(n).head in tails:
                    edges[m, n] = 200.0
                    self._why[m, n] = _("head and tail exchanged")
        mine_of, theirs_of = Counter(m for m, _n in loose), Counter(n for _m, n in loose)
        for (m, n), (similarity, why) in loose.items():
            # Of several tails, which is which cannot be told unless they look alike.
            if similarity >= NEAR or mine_of[m] == theirs_of[n] == 1:
                edges[m, n] = similarity
                self._why[m, n] = why
        return edges

    # What comes of it

    def _triples(
        self, agreed: dict[int, int], differing: dict[int, int]
    ) -> Iterator[tuple[Element, object, object]]:
        partner = {self._left[m]: (m, n) for m, n in (agreed | differing).items()}
        for index, triple in enumerate(self._author.triples):
            said = self._author.named(triple)
            if index in partner:
                m, n = partner[index]
                status = "agreed" if m in agreed else "differ"
                other = self._right[n]
                why = self._why.get((m, n), "")
                told = self._second.named(self._second.triples[other])
                yield Element("", "triple", status, index, other, why=why), said, told
            else:
                yield Element("", "triple", "author", index, None), said, None
        taken = {self._right[n] for n in (*agreed.values(), *differing.values())}
        for index, triple in enumerate(self._second.triples):
            if index not in taken:
                told = self._second.named(triple)
                yield Element("", "triple", "second", None, index), None, told

    def _nodes(self) -> dict[str, str]:
        """For each node of the second graph, the author's node that it is, one to one."""
        mine = sorted(self._author.node_ids, key=self._author.names_of)
        theirs = sorted(self._second.node_ids, key=self._second.names_of)
        at_mine = {node: n for n, node in enumerate(mine)}
        at_theirs = {node: n for n, node in enumerate(theirs)}
        edges = {
            (at_mine[node], at_theirs[other]): score
            for node, others in self._alike.items()
            for other, score in others.items()
        }
        return {theirs[right]: mine[left] for left, right in best_assignment(edges).items()}

    def _named_otherwise(self, nodes: dict[str, str]) -> Iterator[tuple[Element, object, object]]:
        """Nodes for which the second gold has names that the author's lacks. Aliases are gold too; a missing one is no
        disagreement.
        """
        mine = {node: n for n, node in enumerate(self._author.node_ids)}
        theirs = {node: n for n, node in enumerate(self._second.node_ids)}
        for other, node in sorted(nodes.items(), key=lambda pair: mine[pair[1]]):
            names, told = self._author.names_of(node), self._second.names_of(other)
            if set(map(normalise, told)) - set(map(normalise, names)):
                element = Element(
                    "", "node", "differ", mine[node], theirs[other], why=_("other names")
                )
                yield element, names, told

    def _mine(self, m: int) -> Triple:
        return self._author.triples[self._left[m]]

    def _theirs(self, n: int) -> Triple:
        return self._second.triples[self._right[n]]


def _alike_nodes(author: Graph, second: Graph) -> dict[str, dict[str, float]]:
    """Pairs of nodes that could be one, found from both sides (so not a year and a day in it), with their similarity."""
    forward, back = _found_in(author, second), _found_in(second, author)
    alike: dict[str, dict[str, float]] = defaultdict(dict)
    for other, nodes in forward.items():
        for node, score in nodes.items():
            if (turned := back.get(node, {}).get(other)) is not None:
                alike[node][other] = min(score, turned)
    return alike


def _found_in(graph: Graph, other: Graph) -> dict[str, dict[str, float]]:
    """For each node of `other`, the nodes of `graph` that one of its names could mean, with their similarity."""
    index = NodeIndex(graph)
    found: dict[str, dict[str, float]] = {}
    for node in other.node_ids:
        scores: dict[str, float] = {}
        for name in other.names_of(node):
            for hit, similarity in index.find(name).items():
                scores[hit] = max(scores.get(hit, 0.0), _score(similarity))
        found[node] = scores
    return found


def _score(similarity: NameSimilarity) -> float:
    return _SCORE.get(similarity.rule, similarity.score * 0.9)


def _relation_fit(one: str, other: str, *, swapped: bool = False) -> float:
    """How well two relations mean the same, 0 for not at all; words without meaning of their own do not count."""
    if not swapped and normalise(one) == normalise(other):
        return 100.0
    rules = (same_relation(one, other, swapped=swapped), same_relation(other, one, swapped=swapped))
    return min(_FIRM.get(rule, 0.0) if rule else 0.0 for rule in rules)


def _graph(author: Graph, second: Graph, decided: Decided) -> dict[str, Any]:
    names = _Names(author, second, decided)
    mine = [triple.model_dump(mode="json") for triple in author.triples]
    theirs = [names.translated(triple.model_dump(mode="json")) for triple in second.triples]

    def joined(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
        return {**one, "sources": union(one["sources"], other["sources"])}

    def filled(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
        stage = one["stage"] if other["stage"] is None else other["stage"]
        kept = {name: other[name] or one[name] for name in ("sources", "note")}
        return {**other, "stage": stage, **kept}

    triples = composed(mine, theirs, decided.of("triple"), joined, filled)
    return {"family": "graph", "nodes": names.nodes(triples), "triples": triples}


class _Names:
    """The id and names of each node in the result."""

    def __init__(self, author: Graph, second: Graph, decided: Decided) -> None:
        self._author, self._second = author, second
        self._listed = {node.id: node.model_dump(mode="json") for node in author.nodes}
        same = decided.alignment.nodes
        self._ids = dict(same)
        free = set(author.node_ids)
        for other in second.node_ids:
            if other not in same:
                name, number = other, 2
                while name in free:
                    name, number = f"{other} ({number})", number + 1
                free.add(name)
                self._ids[other] = name
                self._list(name, *second.names_of(other))
        mine, theirs = author.node_ids, second.node_ids
        for element, take in decided.of("node"):
            if element.author is None or element.second is None:
                continue
            node, other = mine[element.author], theirs[element.second]
            if take == "second":
                self._list(node, *second.names_of(other))
            elif take == "both":
                self._list(node, *union(author.names_of(node), second.names_of(other)))

    def translated(self, triple: dict[str, Any]) -> dict[str, Any]:
        head, tail = self._ids[triple["head"]], self._ids[triple["tail"]]
        return {**triple, "head": head, "tail": tail}

    def nodes(self, triples: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The listed nodes, without those whose last triple was removed."""
        used = {triple[end] for triple in triples for end in ("head", "tail")}
        before = {end for triple in self._author.triples for end in (triple.head, triple.tail)}
        alone = {node.id for node in self._author.nodes if node.id not in before}
        return [node for node in self._listed.values() if node["id"] in used | alone]

    def _list(self, node_id: str, name: str, *aliases: str) -> None:
        if aliases or name != node_id:
            shown = "" if name == node_id else name
            self._listed[node_id] = {"id": node_id, "name": shown, "aliases": list(aliases)}
        else:
            self._listed.pop(node_id, None)


def _blank(_graph: Graph, _cover: Callable[[str], str]) -> dict[str, Any]:
    return {"family": "graph", "nodes": [], "triples": [blank_triple()]}


GRAPH = GoldComparer(
    blank=_blank,
    secret=lambda graph: graph.things,
    align=lambda author, second: _Pairing(author, second).alignment(),
    adjudicated=_graph,
)
