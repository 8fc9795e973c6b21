"""Leaks of graph tasks: what the user names before a stage has asked for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cuecard.annotate.lint.case import Case, name_of
from cuecard.annotate.lint.finding import Finding, warning
from cuecard.core.i18n import _


class _Said(NamedTuple):
    """A text of the user's part before or at a stage. What is not `heard` only the player reads."""

    place: str
    text: str
    stage: int
    about: str
    heard: bool = True


def lint_graph_leaks(case: Case) -> Iterator[Finding]:
    """L006 for graphs. A tail may be said once an earlier stage has asked for it, or when it is the
    head of a stage's own triples: the stage asks about it. What was given away once is told.
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


def _in_order(case: Case) -> Iterator[_Said]:
    persona = case.task.persona
    if persona is None:
        return
    yield _Said("persona.identity", persona.identity, 1, "identity", heard=False)
    yield _Said("persona.initial_query", persona.initial_query, 1, "initial_query")
    for index, stage in enumerate(persona.stages):
        place, name = f"persona.stages[{index}]", name_of(stage)
        yield _Said(f"{place}.not_met", stage.not_met, index + 1, name)
        yield _Said(f"{place}.line", stage.line, index + 1, name)
