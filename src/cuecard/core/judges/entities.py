"""Finds the gold nodes that a predicted name could mean, without comparing all with all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from cuecard.core.judges.similarity import FUZZY_CUTOFF, Likeness, Rule, best_likeness, form
from cuecard.core.tasks import Graph

_SHORTEST_FUZZY = 4


class NodeIndex:
    """All nodes of a gold graph by every form of every name, for looking up predicted names."""

    def __init__(self, graph: Graph) -> None:
        self._names = {node: graph.names_of(node) for node in graph.node_ids}
        self._same: dict[str, set[str]] = defaultdict(set)
        self._blocks: dict[str, set[str]] = defaultdict(set)
        for node, names in self._names.items():
            for name in names:
                self._same[form(name).compact].add(node)
                for block in form(name).blocks:
                    self._blocks[block].add(node)
        self._spellings = [text for text in self._same if len(text) >= _SHORTEST_FUZZY]
        self._found: dict[str, Mapping[str, Likeness]] = {}

    def find(self, name: str) -> Mapping[str, Likeness]:
        """The nodes that `name` could mean, with why. Nodes of the same name shut out others."""
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def is_value(self, node: str) -> bool:
        """Whether the node is an amount or a date rather than a thing."""
        of = form(self._names[node][0])
        return of.quantity is not None or of.date is not None

    def _find(self, name: str) -> dict[str, Likeness]:
        of = form(name)
        candidates = set(self._same.get(of.compact, ()))
        if not candidates:
            candidates = {node for block in of.blocks for node in self._blocks.get(block, ())}
            candidates |= self._near(of.compact)
        found: dict[str, Likeness] = {}
        for node in candidates:
            likeness = best_likeness(self._names[node], name)
            if likeness:
                found[node] = likeness
        firm = {n: likeness for n, likeness in found.items() if likeness.rule is not Rule.SPELLING}
        return firm or found

    def _near(self, compact: str) -> set[str]:
        if len(compact) < _SHORTEST_FUZZY or not self._spellings:
            return set()
        from rapidfuzz import fuzz, process

        hits = process.extract(
            compact, self._spellings, scorer=fuzz.ratio, score_cutoff=FUZZY_CUTOFF, limit=5
        )
        return {node for text, *_rest in hits for node in self._same[text]}
