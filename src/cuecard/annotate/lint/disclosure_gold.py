"""What the user part or a single search must not give away: forbidden strings, targets, the answer."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.annotate.lint.case import Case, Written, name_of
from cuecard.annotate.lint.finding import Finding, error, warning
from cuecard.core.i18n import _
from cuecard.core.tasks import CheckpointChain, FactWorld, Task
from cuecard.core.text import contains_term, normalise


def lint_gold_disclosure(case: Case) -> Iterator[Finding]:
    """L007, L009 and L011."""
    if case.chain:
        yield from _forbidden(case.task, case.chain)
        yield from _clues(case.chain)
    if case.world:
        yield from _answers(case.world)


def _spoken(task: Task, chain: CheckpointChain) -> Iterator[Written]:
    yield Written("gold.opening", chain.opening, "opening")
    for index, step in enumerate(chain.steps):
        if step.ambiguity:
            place = f"gold.steps[{index}].ambiguity.clue"
            yield Written(place, step.ambiguity.clue, step.question)
    if task.persona:
        yield Written("persona.initial_query", task.persona.initial_query, "initial_query")
        for index, stage in enumerate(task.persona.stages):
            place = f"persona.stages[{index}]"
            yield Written(f"{place}.line", stage.line, name_of(stage))
            yield Written(f"{place}.not_met", stage.not_met, name_of(stage))


def _forbidden(task: Task, chain: CheckpointChain) -> Iterator[Finding]:
    forbidden = dict.fromkeys((*chain.forbidden, chain.final_answer, *chain.final_aliases))
    for place, text, about in _spoken(task, chain):
        for said in forbidden:
            if contains_term(text, said):
                yield error(
                    "L009",
                    place,
                    _("says “{name}”, which the user must never say").format(name=said),
                    _("Say it another way, or take it off the forbidden list."),
                    f"{about}: {said}",
                )


def _clues(chain: CheckpointChain) -> Iterator[Finding]:
    for index, step in enumerate(chain.steps):
        if step.ambiguity is None:
            continue
        clue = step.ambiguity.clue
        named = next((name for name in step.names if contains_term(clue, name)), None)
        if named and named not in chain.forbidden:
            yield warning(
                "L011",
                f"gold.steps[{index}].ambiguity.clue",
                _("names the target “{name}” itself").format(name=named),
                _("Say what tells the target from the other candidates, not its name."),
                f"{step.question}: {named}",
            )


def _answers(world: FactWorld) -> Iterator[Finding]:
    answers = {normalise(name) for name in (world.answer, *world.answer_aliases)} - {""}
    for index, fact in enumerate(world.facts):
        names = (fact.value, f"{fact.value} {fact.unit}", f"{fact.value}{fact.unit}", *fact.aliases)
        if any(normalise(name) in answers for name in names):
            yield error(
                "L007",
                f"gold.facts[{index}].value",
                _("one search for “{key}” gives the final answer away").format(key=fact.key),
                _("Let the answer follow from several facts, or split this one."),
                fact.key,
            )
