"""Graphs: triples that stand twice, nodes and ids that do not fit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cuecard.annotate.authoring.likeness import plain
from cuecard.annotate.lint.case import Case, said_by
from cuecard.annotate.lint.finding import Finding, error, warning
from cuecard.core.i18n import _
from cuecard.core.tasks import Graph

_ID = re.compile(r"[A-Za-z]{0,8}[_:-]?\d{1,7}")


def lint_graph(case: Case) -> Iterator[Finding]:
    """L002 and L016."""
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
    """Heads and tails that are not listed, though what they mean is."""
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
