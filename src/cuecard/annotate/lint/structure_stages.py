"""Stages: their order, whether they can be reached, and what is written in them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cuecard.annotate.lint.case import Case, name_of
from cuecard.annotate.lint.finding import Finding, warning
from cuecard.core.i18n import _
from cuecard.core.scoring.numerals import parse_han
from cuecard.core.tasks import Cue, CueKind

_NUMBERED = re.compile(
    r"^\s*(?:(?:stage|step|part|panel)\s*(\d{1,2})\b|第?\s*(\d{1,2}|[一二三四五六七八九十]{1,3})\s*(?:个?阶段|步|幕)"
    r"|阶段\s*(\d{1,2}|[一二三四五六七八九十]{1,3}))",
    re.IGNORECASE,
)


def lint_stages(case: Case) -> Iterator[Finding]:
    """L001, L013, L014 and L015."""
    yield from _starts(case)
    yield from _empty(case)
    yield from _numbers(case)
    if case.graph is not None:
        yield from _order(case)
        yield from _reach(case)


def _starts(case: Case) -> Iterator[Finding]:
    for index, stage in enumerate(case.stages):
        is_start = stage.cue.kind is CueKind.START
        place = f"persona.stages[{index}].cue.kind"
        if index == 0 and not is_start:
            yield warning(
                "L001",
                place,
                _("the first stage waits for a cue, though nothing was said yet"),
                _("Give the first stage the cue 'start'."),
                name_of(stage),
            )
        elif index > 0 and is_start:
            yield warning(
                "L001",
                place,
                _("the conversation has long started at stage {n}").format(n=index + 1),
                _("Say what the agent must mention, ask or complete before this stage."),
                name_of(stage),
            )


def _empty(case: Case) -> Iterator[Finding]:
    for index, stage in enumerate(case.stages):
        # Nothing can keep the first line from being said.
        if not stage.not_met.strip() and stage.cue.kind is not CueKind.START:
            yield warning(
                "L013",
                f"persona.stages[{index}].not_met",
                _("nothing is written for a reply that does not meet the cue"),
                _("Write what the user says instead, without helping."),
                name_of(stage),
            )


def _numbers(case: Case) -> Iterator[Finding]:
    """Titles that carry numbers of their own count like the stages do."""
    for index, stage in enumerate(case.stages):
        found = _NUMBERED.match(stage.title)
        text = next(filter(None, found.groups()), "") if found else ""
        number = int(text) if text.isdecimal() else parse_han(text) if text else None
        if number is not None and number != index + 1:
            yield warning(
                "L014",
                f"persona.stages[{index}].title",
                _("is called number {said} and stands at {n}").format(said=number, n=index + 1),
                _("Move the stage, or leave the number out of its title."),
                stage.title,
            )


def _order(case: Case) -> Iterator[Finding]:
    """A stage may not ask about something that is first found later, unless the user names it."""
    graph, persona = case.graph, case.task.persona
    if graph is None or persona is None:
        return
    spoken = [persona.initial_query]
    named: set[str] = set()
    for index, stage in enumerate(persona.stages):
        spoken += [stage.line]
        for text in spoken:
            named.update(node for _name, nodes in case.node_names.find(text) for node in nodes)
        spoken.clear()
        for head in sorted(case.heads_of_stage.get(index + 1, ())):
            later = case.first_found.get(head, 0)
            if later > index + 1 and head not in named:
                yield warning(
                    "L014",
                    f"persona.stages[{index}]",
                    _("asks about “{name}”, which only stage {later} finds").format(
                        name=graph.name_of(head), later=later
                    ),
                    _("Put the stage behind that one, or let its line name what it is about."),
                    f"{name_of(stage)}: {graph.name_of(head)}",
                )


def _reach(case: Case) -> Iterator[Finding]:
    """A cue that waits only for things of its own stage or later ones is met by no reply."""
    for index, stage in enumerate(case.stages):
        if stage.cue.kind is CueKind.START or index == 0:
            continue
        waited = list(_waited_for(case, stage.cue))
        if waited and all(_is_later(case, nodes, index + 1) for _name, nodes in waited):
            names = ", ".join(dict.fromkeys(name for name, _nodes in waited))
            yield warning(
                "L015",
                f"persona.stages[{index}].cue",
                _("waits for “{names}”, which no earlier stage asks for").format(names=names),
                _("Wait for something that an earlier stage brings up."),
                name_of(stage),
            )


def _waited_for(case: Case, cue: Cue) -> Iterator[tuple[str, frozenset[str]]]:
    """What must be said to meet a cue, with the nodes of that name; none for other words."""
    for text in cue.terms:
        found = case.node_names.find(text)
        yield text, frozenset(node for _name, nodes in found for node in nodes)
    if not cue.terms and cue.kind is not CueKind.ASKS:
        for name, nodes in case.node_names.find(cue.text):
            yield name, frozenset(nodes)


def _is_later(case: Case, nodes: frozenset[str], stage: int) -> bool:
    return bool(nodes) and all(case.first_dealt_with.get(node, 0) >= stage for node in nodes)
