"""What a person notes at play about the task itself also reaches its authors, as a comment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import _
from cuecard.core.review import Commented, Contribution, TaskLog, TaskState, standing_of
from cuecard.core.tasks import CheckpointChain, Task
from cuecard.core.validation import format_place

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


def place_at_play(task: Task, stage: int | None = None, step: int | None = None) -> str:
    """Where in the task a note belongs: `stage` counts from 1, `step` of a chain from 0; "", the task as
    a whole, where neither is known.
    """
    if stage is not None and 1 <= stage <= len(task.stages):
        return format_place(("persona", "stages", stage - 1))
    chain = task.gold if isinstance(task.gold, CheckpointChain) else None
    if chain and step is not None and 0 <= step < len(chain.steps):
        return format_place(("gold", "steps", step))
    return ""


def tell_authors(
    workspace: Workspace, trial_id: int, by: str, text: str, place: str = ""
) -> Contribution:
    """Open a comment on the revision that is played. Raises `NotFound`, and `NotAllowed` while the task
    is in review by others or is archived: then the note stands in the session alone.
    """
    trial = workspace.runs.trial(trial_id)
    said = _("Noted at play, trial {trial}:").format(trial=trial_id) + f"\n{text.strip()}"
    body = Commented(place=place, text=said, during="play")
    instead = _("The note is kept with the session.")
    return workspace.reviews.act(
        trial.task_id,
        by,
        body,
        revision=trial.revision,
        guard=lambda log: check_may_be_told(log, by, instead),
    )


def check_may_be_told(log: TaskLog, by: str, instead: str) -> None:
    """Raises `NotAllowed` while the task is in review by others than its authors, or is archived. `instead`: what
    can be done, or what becomes of the words.
    """
    title = _("The task's authors cannot be told now")
    state = standing_of(log).state
    authors = {author for node in log.revisions for author in node.authors}
    if state is TaskState.IN_REVIEW and by not in authors:
        # Its reviewers judge without knowing what anybody else thinks of it.
        raise NotAllowed(title, _("The task is in review."), instead)
    if state is TaskState.RETIRED:
        raise NotAllowed(title, _("The task is archived."), instead)
