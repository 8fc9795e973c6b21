"""The gold that follows from what people decided of two golds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from cuecard.annotate.authoring.weaving import woven
from cuecard.annotate.second_gold.elements import Alignment, Element, ElementKind, Take
from cuecard.annotate.second_gold.tables import in_columns_of
from cuecard.core.tasks import CheckpointChain, FactWorld, Gold, Graph, Table

Takes = Mapping[str, Take]
"""What was decided, by `Element.key`."""
ItemT = TypeVar("ItemT")


def take_of(element: Element, takes: Takes) -> Take | None:
    """What is taken of an element; what is agreed is the author's unless decided otherwise, anything else
    is None until somebody decides.
    """
    take = takes.get(element.key)
    if take is not None and take in element.takes:
        return take
    return "author" if element.status == "agreed" else None


def undecided(alignment: Alignment, takes: Takes) -> list[Element]:
    return [element for element in alignment.elements if take_of(element, takes) is None]


def all_of(alignment: Alignment, side: Take) -> dict[str, Take]:
    """Every element decided for one side, as far as it can be."""
    found: dict[str, Take] = {}
    for element in alignment.elements:
        if (take := element.settled(side)) is not None:
            found[element.key] = take
    return found


def adjudicated(author: Gold, second: Gold, alignment: Alignment, takes: Takes) -> dict[str, Any]:
    """The author's gold as JSON, changed as decided. Order, stages, sources and notes are the author's
    where the second has none; what only the second has stands behind what it stands behind there.
    Raises `ValueError` while something is undecided. Whether what is left is a gold (an empty one is
    not), the task's own check says.
    """
    if undecided(alignment, takes):
        raise ValueError("something is still to be decided")
    decided = _Decided(alignment, takes)
    match author, second:
        case Graph(), Graph():
            return _graph(author, second, decided)
        case Table(), Table():
            return _table(author, second, decided)
        case CheckpointChain(), CheckpointChain():
            return _chain(author, second, decided)
        case FactWorld(), FactWorld():
            return _world(author, second, decided)
        case _:
            raise ValueError("two golds of one family can be made one")


@dataclass(frozen=True)
class _Decided:
    alignment: Alignment
    takes: Takes

    def of(self, kind: ElementKind) -> list[tuple[Element, Take]]:
        return [
            (element, take_of(element, self.takes) or "author")
            for element in self.alignment.elements
            if element.kind == kind
        ]

    def answer(self) -> Take:
        answers = self.of("answer")
        return answers[0][1] if answers else "author"


def _graph(author: Graph, second: Graph, decided: _Decided) -> dict[str, Any]:
    names = _Names(author, second, decided)
    mine = [triple.model_dump(mode="json") for triple in author.triples]
    theirs = [names.translated(triple.model_dump(mode="json")) for triple in second.triples]

    def joined(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
        return {**one, "sources": _union(one["sources"], other["sources"])}

    def filled(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
        stage = one["stage"] if other["stage"] is None else other["stage"]
        kept = {name: other[name] or one[name] for name in ("sources", "note")}
        return {**other, "stage": stage, **kept}

    triples = _composed(mine, theirs, decided.of("triple"), joined, filled)
    return {"family": "graph", "nodes": names.nodes(triples), "triples": triples}


class _Names:
    """Under which id and names each node stands in the outcome."""

    def __init__(self, author: Graph, second: Graph, decided: _Decided) -> None:
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
                self._list(node, *_union(author.names_of(node), second.names_of(other)))

    def translated(self, triple: dict[str, Any]) -> dict[str, Any]:
        head, tail = self._ids[triple["head"]], self._ids[triple["tail"]]
        return {**triple, "head": head, "tail": tail}

    def nodes(self, triples: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The listed nodes, without those whose last triple was taken away."""
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


def _table(author: Table, second: Table, decided: _Decided) -> dict[str, Any]:
    mine = [list(row) for row in author.rows]
    theirs = [list(row) for row in in_columns_of(author, second)]
    rows = decided.of("row")
    for element, take in decided.of("cell"):
        at, other, column = element.author, element.second, element.column
        if at is None or other is None or column is None:
            continue
        if take == "second":
            mine[at][column] = theirs[other][column]
        # A row whose cells were decided one by one stays; it is listed once for all of them.
        if not any(known.author == at for known, _take in rows):
            rows.append((element, "author"))
    made = _composed(mine, theirs, rows, lambda one, _other: one, lambda _one, other: other)
    return {**author.model_dump(mode="json"), "rows": made}


def _chain(author: CheckpointChain, second: CheckpointChain, decided: _Decided) -> dict[str, Any]:
    data, other = author.model_dump(mode="json"), second.model_dump(mode="json")
    steps = _composed(data["steps"], other["steps"], decided.of("step"), _named_too, _sourced)
    return {
        **data,
        "steps": steps,
        **_answer(data, other, decided, "final_answer", "final_aliases"),
    }


def _world(author: FactWorld, second: FactWorld, decided: _Decided) -> dict[str, Any]:
    data, other = author.model_dump(mode="json"), second.model_dump(mode="json")
    facts = _composed(data["facts"], other["facts"], decided.of("fact"), _named_too, _sourced)
    made = {**data, "facts": facts, **_answer(data, other, decided, "answer", "answer_aliases")}
    if decided.answer() == "second" and other["derivation"]:
        made["derivation"] = other["derivation"]
    return made


def _answer(
    data: Mapping[str, Any], other: Mapping[str, Any], decided: _Decided, name: str, aliases: str
) -> dict[str, Any]:
    match decided.answer():
        case "second":
            return {name: other[name], aliases: other[aliases]}
        case "both":
            names = _union([data[name], *data[aliases]], [other[name], *other[aliases]])
            return {name: names[0], aliases: names[1:]}
        case _:
            return {name: data[name], aliases: data[aliases]}


def _named_too(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """One thing with the names and sources of both."""
    name = "target" if "target" in one else "value"
    names = _union([one[name], *one["aliases"]], [other[name], *other["aliases"]])
    sources = _union(one["sources"], other["sources"])
    return {**one, "aliases": names[1:], "sources": sources}


def _sourced(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {**other, "sources": other["sources"] or one["sources"]}


def _composed(
    mine: Sequence[ItemT],
    theirs: Sequence[ItemT],
    decided: Iterable[tuple[Element, Take]],
    joined: Callable[[ItemT, ItemT], ItemT],
    filled: Callable[[ItemT, ItemT], ItemT],
) -> list[ItemT]:
    """The list that follows: `joined` makes one of an agreed pair of which both are taken, `filled`
    the second's with what only the author's has.
    """
    made: dict[int, ItemT] = {}
    behind: dict[int, list[int]] = {}
    for element, take in decided:
        i, j = element.author, element.second
        if j is None and i is not None:
            if take in ("author", "both"):
                made[i] = mine[i]
        elif i is None and j is not None:
            behind[j] = [len(mine) + j]
            if take in ("second", "both"):
                made[len(mine) + j] = theirs[j]
        elif i is not None and j is not None:
            apart = take == "both" and element.status == "differ"
            behind[j] = [i, len(mine) + j] if apart else [i]
            if take == "author":
                made[i] = mine[i]
            elif take == "second":
                made[i] = filled(mine[i], theirs[j])
            elif apart:
                made[i], made[len(mine) + j] = mine[i], theirs[j]
            elif take == "both":
                made[i] = joined(mine[i], theirs[j])
    other = [known for j in range(len(theirs)) for known in behind.get(j, ())]
    return [made[known] for known in woven(range(len(mine)), other, made.keys())]


def _union(one: Sequence[str], other: Sequence[str]) -> list[str]:
    return list(dict.fromkeys((*one, *other)))
