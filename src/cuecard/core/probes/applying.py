"""To which tasks a probe has something to say."""

from __future__ import annotations

from cuecard.core.i18n import _
from cuecard.core.probes.results import ProbeName
from cuecard.core.tasks import Checkpoint, CheckpointChain, CueKind, FactWorld, Stage, Task


def not_applicable(probe: ProbeName, task: Task) -> str:
    """Why the probe says nothing about the task; "" if it does."""
    match probe:
        case "closed_book":
            return ""
        case "open_book":
            if task.opening == task.query:
                return _("the user opens with the full query: there is nothing to clarify")
            return ""
        case "ambiguity":
            return _not_examinable(task)
        case "laws" | "with_facts":
            if not isinstance(task.gold, FactWorld):
                return _("only tasks over a world of facts have laws")
            return ""


def ambiguous_steps(task: Task) -> tuple[tuple[int, Checkpoint], ...]:
    """The steps that are ambiguous on purpose, with their numbers from 1."""
    if not isinstance(task.gold, CheckpointChain):
        return ()
    numbered = enumerate(task.gold.steps, 1)
    return tuple((number, step) for number, step in numbered if step.ambiguity is not None)


def later_stages(task: Task) -> tuple[tuple[int, Stage], ...]:
    """The stages that the opening does not say by itself, with their numbers from 1."""
    numbered = enumerate(task.stages, 1)
    return tuple((n, stage) for n, stage in numbered if stage.cue.kind is not CueKind.START)


def _not_examinable(task: Task) -> str:
    if isinstance(task.gold, CheckpointChain):
        return "" if ambiguous_steps(task) else _("no step is ambiguous")
    if task.persona is None:
        return _("the user says everything at once: nothing is ambiguous on purpose")
    return "" if later_stages(task) else _("the persona has no stage beyond the opening")
