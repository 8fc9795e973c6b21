"""What waits for a person: the content of Home."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.annotate.review.reviewing import review_queue
from cuecard.annotate.review.workflow import authors_of
from cuecard.core.tasks.base import Frozen
from cuecard.store.records import (
    Draft,
    RunRecord,
    RunState,
    TaskState,
    TaskSummary,
    TrialRecord,
)

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

VERDICT_LIMIT = 1000


class Waiting(Frozen):
    """`verdicts` counts unlabelled verdicts up to `VERDICT_LIMIT`. `sessions` are this person's
    play sessions that were left open, `running` the automated runs that have not ended.
    """

    to_review: tuple[TaskSummary, ...] = ()
    returned: tuple[TaskSummary, ...] = ()
    drafts: tuple[Draft, ...] = ()
    verdicts: int = 0
    sessions: tuple[TrialRecord, ...] = ()
    running: tuple[RunRecord, ...] = ()

    @property
    def total(self) -> int:
        lists = (self.to_review, self.returned, self.drafts, self.sessions, self.running)
        return self.verdicts + sum(map(len, lists))


def pending_for(workspace: Workspace, person: str) -> Waiting:
    """Everything in the workspace that waits for this person."""
    returned = workspace.tasks.summaries(state=TaskState.RETURNED)
    return Waiting(
        to_review=review_queue(workspace, person),
        returned=tuple(t for t in returned if person in authors_of(workspace, t.id)),
        drafts=tuple(workspace.drafts.of(person)),
        verdicts=len(workspace.verdicts.queue(person, limit=VERDICT_LIMIT)),
        sessions=tuple(workspace.runs.open_trials(created_by=person, kind="play")),
        running=tuple(
            run for run in workspace.runs.all(kind="grid") if run.state is RunState.RUNNING
        ),
    )
