"""Names of entities and relations in a graph: completion while typing, similar names, and triples that say the same."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rapidfuzz import fuzz, process

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.diff import alike, far_at_most, list_diff, plain, squeezed
from cuecard.annotate.authoring.edit import TaskEdit

NameKind = Literal["entity", "relation"]
TripleKey = tuple[str, str, str]

_FUZZY = 72
_OFFERED = 8


@dataclass(frozen=True)
class SimilarTriple:
    """Another triple, by index, that says the same as a given one (`same`), or probably does (`near`)."""

    index: int
    how: Literal["same", "near"]


def key_of(triple: Mapping[str, Any]) -> TripleKey:
    """A triple's three parts for comparison: without case, width and punctuation at the ends."""
    return (
        plain(_text(triple, "head")),
        plain(_text(triple, "relation")),
        plain(_text(triple, "tail")),
    )


class _Names:
    """Names of one kind with how often they are used; a name that is only listed counts 0."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._plain: dict[str, str] | None = None

    def add(self, names: Iterable[str]) -> None:
        for name in names:
            if name:
                self._plain = None if name not in self.counts else self._plain
                self.counts[name] += 1

    def remove(self, names: Iterable[str]) -> None:
        for name in names:
            if name and (left := self.counts[name] - 1) >= 0:
                self.counts[name] = left
                if not left:
                    del self.counts[name]
                    self._plain = None

    @property
    def plain_names(self) -> dict[str, str]:
        """Each name with how it is compared."""
        if self._plain is None:
            self._plain = {name: plain(name) for name in self.counts}
        return self._plain


class EndpointIndex:
    """An index of triples by head and by tail."""

    def __init__(self, keys: Iterable[TripleKey]) -> None:
        self._by_head: dict[str, list[int]] = {}
        self._by_tail: dict[str, list[int]] = {}
        for index, (head, _relation, tail) in enumerate(keys):
            self._by_head.setdefault(head, []).append(index)
            self._by_tail.setdefault(tail, []).append(index)

    def touching(self, heads: Iterable[str], tails: Iterable[str]) -> list[int]:
        """Triples with one of the heads or one of the tails, in order."""
        found = {index for name in heads for index in self._by_head.get(name, ())}
        found.update(index for name in tails for index in self._by_tail.get(name, ()))
        return sorted(found)


class GraphIndex:
    """An index of the names in a graph that is being edited. Call `refresh` with the edit before asking."""

    def __init__(self) -> None:
        self._triples: list[dict[str, Any]] = []
        self._nodes: list[dict[str, Any]] = []
        self._keys: list[TripleKey] = []
        self._key_counts: Counter[TripleKey] = Counter()
        self._names: dict[NameKind, _Names] = {"entity": _Names(), "relation": _Names()}
        self._other_names: dict[str, str] = {}
        self._meant: dict[str, frozenset[str]] = {}

    def refresh(self, edit: TaskEdit) -> None:
        """Follow the edit to where it stands now."""
        self._follow_triples(edit.items(ops.TRIPLES))
        nodes = edit.items(ops.NODES)
        if nodes is not self._nodes:
            self._follow_nodes(nodes)

    @property
    def entities(self) -> Mapping[str, int]:
        """Every entity that triples name, with in how many places they do."""
        return self._names["entity"].counts

    @property
    def relations(self) -> Mapping[str, int]:
        return self._names["relation"].counts

    def uses(self, kind: NameKind, name: str, *, besides: int | None = None) -> int:
        """In how many places of triples the name stands, not counting those of triple `besides`."""
        count = self._names[kind].counts[name]
        if besides is not None and 0 <= besides < len(self._triples):
            count -= _names_in(self._triples[besides], kind).count(name)
        return count

    def known(self, kind: NameKind) -> list[str]:
        """Every name of a kind: those in use, for entities also the listed nodes."""
        names = list(self._names[kind].counts)
        if kind == "entity":
            names += [
                n for n in dict.fromkeys(self._other_names.values()) if n not in self.entities
            ]
        return names

    def candidates(
        self, kind: NameKind, typed: str, limit: int = _OFFERED, *, besides: int | None = None
    ) -> list[str]:
        """Completions for what is typed: names that begin with it, then those that contain it, then similar ones; the
        most used first. An alias gives its entity. Names that occur only in triple `besides`, the one being typed, are
        left out.
        """
        start, more = plain(typed), limit + 3
        if not start:
            found = dict.fromkeys(n for n, _count in self._names[kind].counts.most_common(more))
        else:
            found = dict.fromkeys(self._literally(kind, start, more))
            if len(found) < more and len(start) >= 3:
                hits = process.extract(
                    start,
                    self._names[kind].plain_names,
                    scorer=fuzz.ratio,
                    score_cutoff=_FUZZY,
                    limit=more,
                    processor=None,
                )
                found |= dict.fromkeys(hit[2] for hit in hits)
        own = self._only_in(kind, besides)
        return [name for name in found if name != typed and name not in own][:limit]

    def near(
        self, kind: NameKind, name: str, *, besides: int | None = None, limit: int = 3
    ) -> list[str]:
        """Other names in use that probably mean the same as `name`; an alias gives its node. Triple `besides`, the one
        being typed, is ignored.
        """
        if not name.strip():
            return []
        found: dict[str, None] = {}
        if kind == "entity" and (node := self._other_names.get(plain(name), name)) != name:
            found.setdefault(node)
        for other in self._near_spelling(kind, name):
            if other != name and self.uses(kind, other, besides=besides) > 0:
                found.setdefault(other)
        return list(found)[:limit]

    def like(
        self,
        triple: Mapping[str, Any],
        *,
        besides: int | None = None,
        ends: EndpointIndex | None = None,
    ) -> SimilarTriple | None:
        """The first other triple that says the same as `triple`, by any names of its nodes; else one with two equal
        parts and a similar third. To ask for many triples, call `ends` once and pass the result.
        """
        head, relation, tail = key_of(triple)
        if not head or not tail:
            return None
        heads, tails = self._meaning(head), self._meaning(tail)
        near: int | None = None
        among = range(len(self._keys)) if ends is None else ends.touching(heads, tails)
        for index in among:
            h, r, t = self._keys[index]
            if index == besides or (h not in heads and t not in tails) or not r:
                continue
            same = (h in heads, r == relation, t in tails)
            if all(same):
                return SimilarTriple(index, "same")
            if near is None and sum(same) == 2 and self._third_alike(triple, index, same):
                near = index
        return None if near is None else SimilarTriple(near, "near")

    def ends(self) -> EndpointIndex:
        """The triples by head and by tail, as they are now."""
        return EndpointIndex(self._keys)

    def _only_in(self, kind: NameKind, index: int | None) -> set[str]:
        if index is None or not 0 <= index < len(self._triples):
            return set()
        here = _names_in(self._triples[index], kind)
        return {n for n in here if not self.uses(kind, n, besides=index) and not self.is_listed(n)}

    def is_listed(self, entity: str) -> bool:
        """Whether the entity has an entry among the nodes."""
        return self._other_names.get(plain(entity)) == entity

    def repeated(self, index: int) -> bool:
        """Whether another triple has the same names as triple `index`."""
        key = self._keys[index]
        return self._key_counts[key] > 1 and all(key)

    def _literally(self, kind: NameKind, start: str, limit: int) -> list[str]:
        names = self._names[kind]
        counts = names.counts
        here = [
            (name, at) for name, text in names.plain_names.items() if (at := text.find(start)) >= 0
        ]
        here.sort(key=lambda item: (item[1] > 0, -counts[item[0]], len(item[0])))
        found = [name for name, _at in here[:limit]]
        if kind == "entity":
            others = [node for text, node in self._other_names.items() if text.startswith(start)]
            found = [*found[: limit - 2], *others[:2], *found[limit - 2 :]] if others else found
        return found

    def _near_spelling(self, kind: NameKind, name: str) -> list[str]:
        tight = squeezed(name)
        choices = self._names[kind].plain_names
        if not tight:
            return []
        similar = process.extract(
            plain(name), choices, scorer=fuzz.ratio, score_cutoff=70, limit=40, processor=None
        )
        hits = [other for _text_, _score, other in similar]
        if far_at_most(tight) == 0:
            hits += [other for other in choices if squeezed(other) == tight and other not in hits]
        return [other for other in hits if alike(name, other)]

    def _third_alike(
        self, triple: Mapping[str, Any], index: int, same: tuple[bool, bool, bool]
    ) -> bool:
        field = ("head", "relation", "tail")[same.index(False)]
        return alike(_text(triple, field), _text(self._triples[index], field))

    def _meaning(self, key: str) -> frozenset[str]:
        return self._meant.get(key) or frozenset((key,))

    def _follow_triples(self, triples: list[dict[str, Any]]) -> None:
        diff = list_diff(self._triples, triples)
        if diff is None:
            self._triples = triples
            return
        start, old_end, new_end = diff
        for kind, names in self._names.items():
            for triple in self._triples[start:old_end]:
                names.remove(_names_in(triple, kind))
            for triple in triples[start:new_end]:
                names.add(_names_in(triple, kind))
        fresh = [key_of(triple) for triple in triples[start:new_end]]
        for key in self._keys[start:old_end]:
            self._key_counts[key] -= 1
            if not self._key_counts[key]:
                del self._key_counts[key]
        self._key_counts.update(fresh)
        self._keys[start:old_end] = fresh
        self._triples = triples

    def _follow_nodes(self, nodes: list[dict[str, Any]]) -> None:
        self._nodes, self._other_names, self._meant = nodes, {}, {}
        for node in nodes:
            name = str(node.get("id", ""))
            others = [str(node.get("name", "")), *(str(alias) for alias in node.get("aliases", ()))]
            meant = frozenset(text for text in map(plain, (name, *others)) if text)
            for other in meant:
                self._other_names.setdefault(other, name)
                self._meant.setdefault(other, meant)


def _names_in(triple: Mapping[str, Any], kind: NameKind) -> list[str]:
    if kind == "relation":
        return [_text(triple, "relation")]
    return [_text(triple, "head"), _text(triple, "tail")]


def _text(triple: Mapping[str, Any], field: str) -> str:
    value = triple.get(field)
    return value if isinstance(value, str) else "" if value is None else str(value)
