"""What a person finds in a trial and that its task is to blame for: a comment for the task's authors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuecard.annotate.adjudication.gold import place_in_task
from cuecard.annotate.session_notes import check_may_be_told, place_at_play
from cuecard.core.events import Event, ToolAnswered, UserSpoke
from cuecard.core.i18n import _
from cuecard.core.review import Commented, Contribution
from cuecard.core.tasks import FactWorld, Task
from cuecard.core.validation import format_place
from cuecard.core.verdicts import Item

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


def task_place(task: Task, place: str, events: Sequence[Event]) -> str:
    """Where in the task a comment on this place of a trial belongs (see `TrialNote`); "", the task as a whole,
    where no part of it is meant.
    """
    kind, _slash, rest = place.partition("/")
    if kind == "verdict":
        try:
            return place_in_task(task, Item.of_key(rest), events)
        except (ValueError, LookupError):
            return ""
    if not rest.isdigit():
        return ""
    number = int(rest)
    match kind:
        case "stage":
            return place_at_play(task, stage=number)
        case "step":
            return place_at_play(task, step=number)
        case "fact":
            return _fact(task, number)
        case "turn":
            spoken = (e for e in events if isinstance(e.body, UserSpoke) and e.body.turn == number)
            return next((_at_event(task, event) for event in spoken), "")
        case "event":
            return next((_at_event(task, e) for e in events if e.seq == number), "")
        case _:
            return ""


def comment_on_task(
    workspace: Workspace, trial_id: int, by: str, text: str, place: str = ""
) -> Contribution:
    """Open a comment on the revision that was played, which says where it was seen. Raises `NotFound`, and
    `NotAllowed` while the task is in review by others or is archived.
    """
    trial = workspace.runs.trial(trial_id)
    run = workspace.runs.get(trial.run_id)
    seen = _("Seen in trial {trial} of run {run} ({name}), agent {agent}:").format(
        trial=trial_id, run=run.id, name=run.name, agent=trial.agent.name
    )
    body = Commented(place=place, text=f"{seen}\n{text.strip()}")
    instead = _("Write a comment on the trial; it can be told them later.")
    return workspace.reviews.act(
        trial.task_id,
        by,
        body,
        revision=trial.revision,
        guard=lambda log: check_may_be_told(log, by, instead),
    )


def _at_event(task: Task, event: Event) -> str:
    body = event.body
    if isinstance(body, UserSpoke):
        return place_at_play(task, stage=body.reply.stage, step=body.reply.checkpoint)
    if isinstance(body, ToolAnswered) and body.answer.hit and isinstance(task.gold, FactWorld):
        keys = [fact.key for fact in task.gold.facts]
        matched = (key for key in body.answer.hit.matched_fact_keys if key in keys)
        return next((_fact(task, keys.index(key)) for key in matched), "")
    return ""


def _fact(task: Task, index: int) -> str:
    known = isinstance(task.gold, FactWorld) and index < len(task.gold.facts)
    return format_place(("gold", "facts", index)) if known else ""
