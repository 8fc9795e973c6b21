"""Rules for graphs: structure, nodes and facts that occur twice, and names that the user says too early."""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from cuecard.annotate.authoring.diff import plain
from cuecard.annotate.lint.case import Case, name_of, pairs_alike, said_by, same_name
from cuecard.annotate.lint.codes import Finding, error, warning
from cuecard.annotate.lint.wording import YES_NO, has_one_value, is_crammed
from cuecard.core.families.graph.gold import Graph
from cuecard.core.i18n import _

_ID = re.compile(r"[A-Za-z]{0,8}[_:-]?\d{1,7}")


def lint_graph(case: Case) -> Iterator[Finding]:
    """Structure of graphs: L002 and L016."""
    if case.graph is not None:
        yield from _duplicates(case, case.graph)
        yield from _unused(case, case.graph)
        yield from _strangers(case, case.graph)


def _duplicates(case: Case, graph: Graph) -> Iterator[Finding]:
    first: dict[tuple[str, str, str], int] = {}
    for index, triple in case.triples:
        head, relation, tail = graph.named(triple)
        key = (plain(head), plain(relation), plain(tail))
        if key in first:
            yield error(
                "L002",
                f"gold.triples[{index}]",
                _("says the same as triple {n}").format(n=first[key] + 1),
                _("Remove one of them; recall would count it twice."),
                said_by(graph, triple),
            )
        first.setdefault(key, index)


def _unused(case: Case, graph: Graph) -> Iterator[Finding]:
    used = {node for _index, triple in case.triples for node in (triple.head, triple.tail)}
    for index, node in enumerate(graph.nodes):
        if node.id and node.id not in used:
            yield warning(
                "L016",
                f"gold.nodes[{index}].id",
                _("no triple names the node “{name}”").format(name=node.id),
                _("Use it as head or tail of a triple, or remove it."),
                node.id,
            )


def _strangers(case: Case, graph: Graph) -> Iterator[Finding]:
    """Heads and tails that are not listed as nodes though they look like one: by a name or alias, or like an id."""
    listed = {node.id for node in graph.nodes}
    names: dict[str, str] = {}
    for node in graph.nodes:
        for name in (node.name, *node.aliases):
            if name:
                names.setdefault(plain(name), node.id)
    # Ids like n12 or Q42, which nobody would take for a name.
    shapes = {
        _shape(node.id)
        for node in graph.nodes
        if node.name and node.name != node.id and _ID.fullmatch(node.id)
    }
    told: set[str] = set()
    for index, triple in case.triples:
        for field in ("head", "tail"):
            node = triple.head if field == "head" else triple.tail
            if node in listed or node in told:
                continue
            meant = names.get(plain(node))
            if meant is not None:
                reason = _("“{name}” is a name of the node “{id}”, not its id").format(
                    name=node, id=meant
                )
                hint = _("Write the node's id; as it stands there are two nodes of one thing.")
            elif shapes and _ID.fullmatch(node) and _shape(node) in shapes - {""}:
                reason = _("no node has the id “{id}”").format(id=node)
                hint = _("List the node with its name, or name it as the others are.")
            else:
                continue
            told.add(node)
            yield error("L016", f"gold.triples[{index}].{field}", reason, hint, node)


def _shape(node: str) -> str:
    return node.rstrip("0123456789").casefold()


_crammed = lru_cache(maxsize=65536)(is_crammed)
_single = lru_cache(maxsize=8192)(has_one_value)


def lint_graph_consistency(case: Case) -> Iterator[Finding]:
    """Consistency of graphs: L005, L008, L030, L031, L032 and L036."""
    if case.graph is not None:
        yield from _stages(case, case.graph)
        yield from _tails(case, case.graph)
        yield from _single_values(case, case.graph)
        yield from _spellings(case, case.graph)
        yield from _shared_names(case.graph)


def _stages(case: Case, graph: Graph) -> Iterator[Finding]:
    if not case.stages or not case.triples:
        return
    answered = {triple.stage for _index, triple in case.triples if triple.stage is not None}
    if not answered:
        yield warning(
            "L030",
            "gold.triples",
            _("no triple says which stage it answers"),
            _("Give the triples the number of their stage."),
        )
        return
    for index, triple in case.triples:
        if triple.stage is None:
            yield warning(
                "L030",
                f"gold.triples[{index}].stage",
                _("no stage asks for this triple"),
                _("Give it the stage whose line asks for it, or remove it."),
                said_by(graph, triple),
            )
    for number, stage in enumerate(case.stages, start=1):
        if number not in answered:
            yield warning(
                "L005",
                f"persona.stages[{number - 1}]",
                _("no triple answers stage {n}").format(n=number),
                _("Give the triples that answer it this stage, or drop the stage."),
                name_of(stage),
            )


def _tails(case: Case, graph: Graph) -> Iterator[Finding]:
    for index, triple in case.triples:
        name = graph.name_of(triple.tail)
        if plain(name) in YES_NO:
            yield warning(
                "L008",
                f"gold.triples[{index}].tail",
                _("“{name}” can be guessed without searching").format(name=name),
                _("Put what is true into the relation and a thing into the tail."),
                said_by(graph, triple),
            )
        elif _crammed(name):
            yield warning(
                "L036",
                f"gold.triples[{index}].tail",
                _("“{name}” holds several facts").format(name=name),
                _("Make a triple of each."),
                said_by(graph, triple),
            )


def _single_values(case: Case, graph: Graph) -> Iterator[Finding]:
    """Only values of one kind contradict each other: a year and a town of birth do not."""
    first: dict[tuple[str, str, bool], int] = {}
    for index, triple in case.triples:
        relation = plain(triple.relation)
        if not _single(relation):
            continue
        tail = graph.name_of(triple.tail)
        key = (triple.head, relation, any(char.isdigit() for char in tail))
        earlier = first.setdefault(key, index)
        other = graph.name_of(graph.triples[earlier].tail)
        if same_name(other) != same_name(tail):
            yield warning(
                "L032",
                f"gold.triples[{index}].tail",
                _("“{tail}” here, “{other}” in triple {n}").format(
                    tail=tail, other=other, n=earlier + 1
                ),
                _("Remove the wrong one, or say in the relation what tells them apart."),
                said_by(graph, triple),
            )


def _spellings(case: Case, graph: Graph) -> Iterator[Finding]:
    places: dict[str, str] = {}
    ids: dict[str, str] = {}
    for index, triple in case.triples:
        for field, node in (("head", triple.head), ("tail", triple.tail)):
            name = graph.name_of(node)
            ids.setdefault(name, node)
            places.setdefault(name, f"gold.triples[{index}].{field}")
    for one, other, same in pairs_alike(places):
        if ids[one] == ids[other]:
            continue
        if same:
            reason = _("“{name}” differs from “{other}” only in case, width or punctuation")
        else:
            reason = _("“{name}” looks like “{other}” with a slip in it")
        yield warning(
            "L031",
            places[other],
            reason.format(name=other, other=one),
            _("Write both alike, or make one an alias of the other."),
            f"{one} / {other}",
        )


def _shared_names(graph: Graph) -> Iterator[Finding]:
    """Pairs of listed nodes that share a name or alias."""
    owners: dict[str, dict[int, str]] = defaultdict(dict)
    for index, node in enumerate(graph.nodes):
        for name in (node.name or node.id, *node.aliases):
            if key := same_name(name):
                owners[key].setdefault(index, name)
    for found in owners.values():
        (first, name), *others = found.items()
        for index, written in others:
            if graph.nodes[index].id != graph.nodes[first].id:
                yield warning(
                    "L031",
                    f"gold.nodes[{index}]",
                    _("“{name}” is a name of “{other}” too").format(
                        name=written, other=graph.nodes[first].id
                    ),
                    _("Leave the name to one of them, or merge the two."),
                    f"{graph.nodes[first].id} / {graph.nodes[index].id}: {name}",
                )


class _Utterance(NamedTuple):
    """A text of the user's at a stage (0: before the first). `heard`: the agent hears it, not only the player."""

    place: str
    text: str
    stage: int
    about: str
    heard: bool = True


def lint_graph_leaks(case: Case) -> Iterator[Finding]:
    """Leaks in graphs: L006. A tail may be said once an earlier stage has asked for it, or if it is the head of one of
    the stage's own triples, which ask about it. A leak is reported once.
    """
    if case.graph is None or case.task.persona is None:
        return
    told: set[str] = set()
    for said in _in_order(case):
        named: set[str] = set()
        for name, nodes in case.node_names.find(said.text):
            named.update(nodes)
            if told.isdisjoint(nodes) and all(_hidden(case, node, said.stage) for node in nodes):
                stage = min(case.first_found[node] for node in nodes)
                yield warning(
                    "L006",
                    said.place,
                    _("says “{name}”, which stage {stage} is to find out").format(
                        name=name, stage=stage
                    ),
                    _("Describe it without its name, or let an earlier stage find it."),
                    f"{said.about}: {name}",
                )
        if said.heard:
            told |= named


def _hidden(case: Case, node: str, stage: int) -> bool:
    """Whether a node is to be found at `stage` or later, and was not dealt with before."""
    if node not in case.first_found or node in case.heads_of_stage.get(stage, ()):
        return False
    return case.first_dealt_with[node] >= stage


def _in_order(case: Case) -> Iterator[_Utterance]:
    persona = case.task.persona
    if persona is None:
        return
    yield _Utterance("persona.identity", persona.identity, 1, "identity", heard=False)
    yield _Utterance("persona.initial_query", persona.initial_query, 1, "initial_query")
    for index, stage in enumerate(persona.stages):
        place, name = f"persona.stages[{index}]", name_of(stage)
        yield _Utterance(f"{place}.not_met", stage.not_met, index + 1, name)
        yield _Utterance(f"{place}.line", stage.line, index + 1, name)
