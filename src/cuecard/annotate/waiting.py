"""What waits for a person: the content of Home."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cuecard.annotate.review.comments import open_comments
from cuecard.annotate.review.reviewing import review_queue
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


@dataclass(frozen=True)
class OwnInReview:
    """A task of this person's that reviewers have; how many of its two reviews are in, not whose."""

    task: TaskSummary
    reviews: int


@dataclass(frozen=True)
class Waiting:
    """`begun` are reviews that this person has begun, `to_review` the others. `verdicts` counts
    unlabelled verdicts up to `VERDICT_LIMIT`. `sessions` are this person's play sessions that were
    left open, `running` the automated runs that have not ended. `own_in_review` waits for others.
    `comments`: how many are open on the tasks that were returned, by task.
    """

    begun: tuple[TaskSummary, ...] = ()
    to_review: tuple[TaskSummary, ...] = ()
    returned: tuple[TaskSummary, ...] = ()
    drafts: tuple[Draft, ...] = ()
    verdicts: int = 0
    sessions: tuple[TrialRecord, ...] = ()
    running: tuple[RunRecord, ...] = ()
    own_in_review: tuple[OwnInReview, ...] = ()
    comments: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def total(self) -> int:
        """What waits for this person, not for others."""
        reviews = len(self.begun) + len(self.to_review)
        tasks = len(self.returned) + len(self.drafts)
        return reviews + tasks + self.verdicts + len(self.sessions) + len(self.running)


def pending_for(workspace: Workspace, person: str) -> Waiting:
    """Everything in the workspace that waits for this person, and what of theirs is in review."""
    queue = review_queue(workspace, person, datetime.now(UTC))
    forms = set(workspace.review_forms.of(person)) if queue else set[tuple[str, int]]()
    returned = workspace.tasks.summaries(state=TaskState.RETURNED)
    handed_in = workspace.reviews.handed_in()
    in_review = workspace.tasks.summaries(state=TaskState.IN_REVIEW) if handed_in else []
    mine = workspace.tasks.written_by(person) if returned or in_review else frozenset[str]()
    back = tuple(task for task in returned if task.id in mine)
    return Waiting(
        begun=tuple(t for t in queue if (t.id, t.revision) in forms),
        to_review=tuple(t for t in queue if (t.id, t.revision) not in forms),
        returned=back,
        comments=open_comments(workspace, person, [task.id for task in back]),
        drafts=tuple(workspace.drafts.of(person)),
        verdicts=workspace.verdicts.waiting(person, limit=VERDICT_LIMIT),
        sessions=tuple(workspace.runs.open_trials(created_by=person, kind="play")),
        running=tuple(r for r in workspace.runs.all(state=RunState.RUNNING) if r.kind != "play"),
        own_in_review=tuple(
            OwnInReview(t, handed_in.get(t.id, 0)) for t in in_review if t.id in mine
        ),
    )
