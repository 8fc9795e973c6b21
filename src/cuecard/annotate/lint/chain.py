"""Rules about checkpoint tasks."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.annotate.lint.finding import Finding, error, warning
from cuecard.core.i18n import _
from cuecard.core.tasks import CheckpointChain, Task
from cuecard.core.text import contains_term

_AMBIGUOUS_STEPS = {"easy": 1, "medium": 2, "hard": 3}


def lint_chain(task: Task, chain: CheckpointChain) -> list[Finding]:
    """L004, L009 and L011. Difficulty as FORMATS: discobench counts it."""
    return [*_ambiguity(task, chain), *_forbidden(task, chain), *_clues(chain)]


def _ambiguity(task: Task, chain: CheckpointChain) -> Iterator[Finding]:
    count = sum(step.ambiguity is not None for step in chain.steps)
    if not count:
        yield error(
            "L004",
            "gold.steps",
            _("no step is ambiguous, so there is nothing to ask about"),
            _("Make at least one step ambiguous, with candidates and a clue."),
        )
    elif task.difficulty and count != (wanted := _AMBIGUOUS_STEPS[task.difficulty]):
        yield warning(
            "L004",
            "difficulty",
            _("{count} ambiguous steps, where {difficulty} means {wanted}").format(
                count=count, difficulty=task.difficulty, wanted=wanted
            ),
            _("1 ambiguous step is easy, 2 are medium, 3 are hard."),
        )


def _spoken(task: Task, chain: CheckpointChain) -> Iterator[tuple[str, str]]:
    yield "gold.opening", chain.opening
    for index, step in enumerate(chain.steps):
        if step.ambiguity:
            yield f"gold.steps[{index}].ambiguity.clue", step.ambiguity.clue
    if task.persona:
        yield "persona.initial_query", task.persona.initial_query
        for index, stage in enumerate(task.persona.stages):
            yield f"persona.stages[{index}].line", stage.line
            yield f"persona.stages[{index}].not_met", stage.not_met


def _forbidden(task: Task, chain: CheckpointChain) -> Iterator[Finding]:
    forbidden = dict.fromkeys((*chain.forbidden, chain.final_answer, *chain.final_aliases))
    for place, text in _spoken(task, chain):
        for said in forbidden:
            if contains_term(text, said):
                yield error(
                    "L009",
                    place,
                    _("says “{name}”, which the user must never say").format(name=said),
                    _("Say it another way, or take it off the forbidden list."),
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
            )
