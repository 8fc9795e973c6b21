"""Graphs: stages and triples that belong together, one node a thing, one fact a tail."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

from cuecard.annotate.authoring.likeness import plain
from cuecard.annotate.lint.case import Case, name_of, said_by
from cuecard.annotate.lint.finding import Finding, warning
from cuecard.annotate.lint.sameness import pairs_alike, same_name
from cuecard.annotate.lint.wording import YES_NO, has_one_value, is_crammed
from cuecard.core.i18n import _
from cuecard.core.tasks import Graph

_crammed = lru_cache(maxsize=65536)(is_crammed)
_single = lru_cache(maxsize=8192)(has_one_value)


def lint_graph_consistency(case: Case) -> Iterator[Finding]:
    """L005, L008, L030, L031, L032 and L036."""
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
    """Two listed nodes that answer to one name."""
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
