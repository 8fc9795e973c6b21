"""Whether a trial would have gone the same way on another revision of its task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from cuecard.core.i18n import N_
from cuecard.core.tasks import CheckpointChain, FactWorld, Task


def course_changes(old: Task, new: Task) -> tuple[str, ...]:
    """What the user part or the world was made from and is not the same any more, in English. Nothing: only the
    gold that judges read has changed, and the same trial can be judged on both.

    Checkpoints are played by the user part and facts by the world, so they count; answers, triples, rows, aliases,
    sources and notes do not.
    """
    return tuple(name for name, part in _SHAPES.items() if part(old) != part(new))


def _chain(task: Task, field: str) -> object:
    if not isinstance(task.gold, CheckpointChain):
        return None
    if field == "steps":
        return [step.model_copy(update={"sources": ()}) for step in task.gold.steps]
    return getattr(task.gold, field)


def _facts(task: Task) -> object:
    if not isinstance(task.gold, FactWorld):
        return None
    return [fact.model_copy(update={"sources": ()}) for fact in task.gold.facts]


_SHAPES: Final[Mapping[str, Callable[[Task], object]]] = {
    N_("the language"): lambda task: task.language,
    N_("the query"): lambda task: task.query,
    N_("the sub-queries"): lambda task: task.sub_queries,
    N_("the persona"): lambda task: task.persona,
    N_("the family"): lambda task: task.family,
    N_("the opening question"): lambda task: _chain(task, "opening"),
    N_("the checkpoints"): lambda task: _chain(task, "steps"),
    N_("what must not be said"): lambda task: _chain(task, "forbidden"),
    N_("the facts of the world"): _facts,
}
