"""Leaks of tables, chains and worlds: values, targets and answers in what the user says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cuecard.annotate.lint.case import Case, Written, name_of
from cuecard.annotate.lint.finding import Finding, warning
from cuecard.annotate.lint.naming import NameFinder, folded
from cuecard.core.i18n import _
from cuecard.core.tasks import CheckpointChain
from cuecard.core.users.leaks import Told


def lint_other_leaks(case: Case) -> Iterator[Finding]:
    """L006 for tables, chains and worlds."""
    if case.table:
        yield from _table_leaks(case)
    elif case.chain:
        yield from _chain_leaks(case, case.chain)
    elif case.world:
        yield from _world_leaks(case)


def _table_leaks(case: Case) -> Iterator[Finding]:
    """A value that the query itself names is a condition, not a finding."""
    table, said = case.table, list(_persona_texts(case))
    if table is None or not said:
        return
    cells = dict.fromkeys(cell for row in table.rows for cell in row)
    told = Told((case.task.query, *table.column_names))
    yield from _named(said, NameFinder((cell, (cell,)) for cell in cells), told)


def _world_leaks(case: Case) -> Iterator[Finding]:
    """What the world's keys, entities and attributes call things anybody may say."""
    world = case.world
    if world is None:
        return
    said = list(_persona_texts(case)) or [Written("query", case.task.query, "query")]
    asked = (text for f in world.facts for text in (f.key, f.entity, f.attribute))
    values = [(fact.value, (fact.value, *fact.aliases)) for fact in world.facts]
    values.append((world.answer, (world.answer, *world.answer_aliases)))
    yield from _named(said, NameFinder(values), Told(asked))


def _chain_leaks(case: Case, chain: CheckpointChain) -> Iterator[Finding]:
    """The opening may name no target, a clue none of the steps that come after its own. L009 speaks
    of what is forbidden, L011 of a clue's own target.
    """
    forbidden = Told((*chain.forbidden, chain.final_answer, *chain.final_aliases))
    opening = Written("gold.opening", chain.opening, "opening")
    targets = [(step.target, step.names) for step in chain.steps]
    first = [opening, *_persona_texts(case)]
    yield from _named(first, NameFinder(targets), forbidden)
    for index, step in enumerate(chain.steps):
        if step.ambiguity is not None:
            place = f"gold.steps[{index}].ambiguity.clue"
            clue = Written(place, step.ambiguity.clue, step.question)
            told = Told((forbidden.folded, *step.names, *step.ambiguity.candidates))
            yield from _named([clue], NameFinder(targets[index + 1 :]), told)


def _named(said: Iterable[Written], names: NameFinder[str], may_be_said: Told) -> Iterator[Finding]:
    """Names that nobody may say yet; what was given away once is told."""
    told: set[str] = set()
    for place, text, about in said:
        for name, things in names.find(text):
            if told.isdisjoint(things) and not may_be_said.has(folded(name)):
                if place != "persona.identity":
                    told.update(things)
                yield warning(
                    "L006",
                    place,
                    _("says “{name}”, which is still to be found").format(name=name),
                    _("Describe it without its name, or leave it out."),
                    f"{about}: {name}",
                )


def _persona_texts(case: Case) -> Iterator[Written]:
    if persona := case.task.persona:
        yield Written("persona.identity", persona.identity, "identity")
        yield Written("persona.initial_query", persona.initial_query, "initial_query")
        for index, stage in enumerate(persona.stages):
            place, name = f"persona.stages[{index}]", name_of(stage)
            yield Written(f"{place}.not_met", stage.not_met, name)
            yield Written(f"{place}.line", stage.line, name)
