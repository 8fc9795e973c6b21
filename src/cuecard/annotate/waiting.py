"""What waits for a person, and what of theirs waits for others: the contents of the Home screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from cuecard.annotate.review.assignment import ANYTHING, fits
from cuecard.annotate.review.workflow import EMBEDDED_PROTOCOL, Protocol
from cuecard.core.label_records import LabelSet
from cuecard.core.records import (
    ASIDE_GOLD,
    Draft,
    OpenRound,
    RunRecord,
    TaskState,
    TaskSummary,
    TrialRecord,
)
from cuecard.core.review import standing_of

if TYPE_CHECKING:
    from cuecard.core.evaluation.wizard_of_oz import WaitingTrial
    from cuecard.store.workspace import Workspace

VERDICT_LIMIT = 1000
FAILED_LATELY = timedelta(days=3)
"""How long resuming a session in which the agent failed is offered."""


@dataclass(frozen=True)
class ReviewAtHand:
    """A review that this person has claimed until `until`, or only begun (None)."""

    task: TaskSummary
    until: datetime | None
    begun: bool


@dataclass(frozen=True)
class OpenSession:
    """A session of this person's that is unfinished, or in which the agent failed. `turns`: the agent's replies;
    `phase`: whose turn it is, or `concluding`: the agent is handing in its prediction; `since`: the time of the last
    event.
    """

    trial: TrialRecord
    turns: int
    phase: Literal["yours", "agent", "concluding", "failed"]
    since: datetime


@dataclass(frozen=True)
class GoldToDecide:
    """Independent golds of a task of this person's, built by `by`, with which it is not decided yet; `since`: the first."""

    task: TaskSummary
    by: tuple[str, ...]
    since: datetime


@dataclass(frozen=True)
class CommentedTask:
    """A task of this person's with so many `comments` of others that are not resolved, made outside reviews; `since`: the newest."""

    task: TaskSummary
    comments: int
    since: datetime


@dataclass(frozen=True)
class WithOthers:
    """Something of this person's that waits for somebody else, who is not named.

    `reviewers`: their task is in review, `reviews` of `needed` are in and `held` more are claimed; `answers`: comments
    of theirs that were answered. `reviewer`: a task
    that they reviewed waits for the other review. `author`: a task that they reviewed was returned. `since`: when it
    began to wait.
    """

    task: TaskSummary
    waits_for: Literal["reviewers", "reviewer", "author"]
    since: datetime
    reviews: int = 0
    needed: int = 0
    held: int = 0
    answers: int = 0


@dataclass(frozen=True)
class Waiting:
    """`at_hand`: reviews that this person has claimed or begun; `to_review`: tasks that they may claim; `to_assign`:
    for a coordinator, how many tasks in review nobody has claimed. `returned` with the number of open `comments` and
    since when; `commented`: others of their tasks; `to_submit`: tasks that they worked on and saved. `verdicts`: unlabelled
    verdicts, counted up to `VERDICT_LIMIT`; `sets`: labelling sets with how many of their items wait. `golds`: tasks whose gold they build
    again; `second_golds`: their tasks whose gold others built again. `sessions`: their unfinished sessions, newest first;
    `forms`: ended ones without a form; `waiting_trials`: others' sessions that wait for a person to play the agent.
    `running`: automated runs under way or paused. `forked`: their
    tasks with concurrent revisions. `with_others`: waits for somebody else.
    """

    at_hand: tuple[ReviewAtHand, ...] = ()
    to_review: tuple[TaskSummary, ...] = ()
    to_assign: int = 0
    returned: tuple[TaskSummary, ...] = ()
    comments: Mapping[str, int] = field(default_factory=dict[str, int])
    returned_at: Mapping[str, datetime] = field(default_factory=dict[str, datetime])
    commented: tuple[CommentedTask, ...] = ()
    to_submit: tuple[TaskSummary, ...] = ()
    forked: tuple[TaskSummary, ...] = ()
    drafts: tuple[Draft, ...] = ()
    verdicts: int = 0
    sets: tuple[tuple[LabelSet, int], ...] = ()
    golds: tuple[TaskSummary, ...] = ()
    second_golds: tuple[GoldToDecide, ...] = ()
    sessions: tuple[OpenSession, ...] = ()
    forms: tuple[TrialRecord, ...] = ()
    waiting_trials: tuple[WaitingTrial, ...] = ()
    running: tuple[RunRecord, ...] = ()
    with_others: tuple[WithOthers, ...] = ()

    @property
    def total(self) -> int:
        """How much waits for this person, without what waits for others."""
        reviews = len(self.at_hand) + len(self.to_review) + self.to_assign
        tasks = len(self.returned) + len(self.to_submit) + len(self.forked) + len(self.drafts)
        tasks += len(self.commented)
        played = len(self.sessions) + len(self.forms) + len(self.waiting_trials)
        golds = len(self.golds) + len(self.second_golds)
        return reviews + tasks + self.verdicts + golds + played + len(self.running)


def pending_for(
    workspace: Workspace,
    person: str,
    protocol: Protocol = EMBEDDED_PROTOCOL,
    now: datetime | None = None,
) -> Waiting:
    """Everything in the workspace that waits for this person, and what of theirs waits for others."""
    rounds = workspace.reviews.open_rounds(person, now or datetime.now(UTC))
    coordinates = person in protocol.coordinators
    open_to = [] if coordinates else [r for r in rounds if _may_have(r)]
    begun = frozenset(workspace.review_forms.of(person) if open_to else ())
    at_hand = tuple(
        ReviewAtHand(r.task, r.mine, is_begun)
        for r in open_to
        if (is_begun := (r.task.id, r.task.revision) in begun) or r.mine
    )
    taken = {review.task.id for review in at_hand}
    free = [r for r in open_to if r.task.id not in taken and not r.released]
    skills = workspace.reviews.skills().get(person, ANYTHING) if free else ANYTHING

    mine = workspace.tasks.written_by(person)
    returned = workspace.tasks.summaries(state=TaskState.RETURNED)
    back = tuple(task for task in returned if task.id in mine)
    reviewed = {task.id for task in workspace.reviews.reviewed(person)} if returned else set[str]()
    theirs = [task for task in returned if task.id in reviewed and task.id not in mine]
    returned_at = _moved_at(workspace, [*back, *theirs])
    drafts = tuple(workspace.drafts.of(person))
    forked = tuple(t for t in workspace.tasks.summaries(forked=True) if t.id in mine)
    # What must be brought together first cannot be submitted yet.
    elsewhere = {draft.task_id for draft in drafts} | {task.id for task in forked}
    return Waiting(
        at_hand=at_hand,
        to_review=tuple(r.task for r in free if fits(skills, r.task)),
        to_assign=sum(r.reviews + r.claims < r.needed for r in rounds) if coordinates else 0,
        returned=back,
        comments=_open_comments(workspace, person, back) if back else {},
        returned_at=returned_at,
        commented=_commented(workspace, person, {task.id for task in back}),
        to_submit=_to_submit(workspace, person, mine, elsewhere),
        forked=forked,
        drafts=drafts,
        verdicts=workspace.verdicts.waiting(person, limit=VERDICT_LIMIT),
        sets=_sets(workspace, person),
        golds=_golds(workspace, person),
        second_golds=_second_golds(workspace, person),
        sessions=_open_sessions(workspace, person, now),
        forms=tuple(forms_missing(workspace, person, now)),
        waiting_trials=_waiting_trials(workspace, person),
        running=tuple(
            r for r in workspace.runs.all(unfinished=True, paused=True) if r.kind != "play"
        ),
        with_others=(
            *(_with_reviewers(r) for r in rounds if r.wrote),
            *(_with_the_other(r) for r in rounds if r.reviewed and not r.wrote),
            *(
                WithOthers(
                    task,
                    "author",
                    returned_at.get(task.id, task.updated_at),
                    answers=_answered(workspace, person, task.id),
                )
                for task in theirs
            ),
        ),
    )


def _sets(workspace: Workspace, person: str) -> tuple[tuple[LabelSet, int], ...]:
    left = workspace.label_sets.left(person)
    return (
        tuple((one, left[one.id]) for one in workspace.label_sets.all() if one.id in left)
        if left
        else ()
    )


def _golds(workspace: Workspace, person: str) -> tuple[TaskSummary, ...]:
    kept = workspace.drafts.aside(person, ASIDE_GOLD)
    ids = {key.removesuffix(ASIDE_GOLD) for key in kept}
    return tuple(task for task in workspace.tasks.summaries() if task.id in ids) if ids else ()


def _second_golds(workspace: Workspace, person: str) -> tuple[GoldToDecide, ...]:
    found: dict[str, list[tuple[str, datetime]]] = {}
    for task_id, by, at in workspace.reviews.built_for(person):
        found.setdefault(task_id, []).append((by, at))
    return tuple(
        GoldToDecide(task, tuple(by for by, _at in found[task.id]), found[task.id][0][1])
        for task in (workspace.tasks.summaries() if found else ())
        if task.id in found
    )


def _commented(workspace: Workspace, person: str, told: set[str]) -> tuple[CommentedTask, ...]:
    """`told`: tasks that are told with their comments anyway."""
    ids = set(workspace.reviews.commented_for(person)) - told
    found: list[CommentedTask] = []
    for task in workspace.tasks.summaries() if ids else ():
        seen = workspace.reviews.comments_for(person, task.id) if task.id in ids else ()
        others = [one for one in seen if not (one.of_review or one.resolved or one.by == person)]
        if others:
            found.append(CommentedTask(task, len(others), max(one.at for one in others)))
    return tuple(found)


def _answered(workspace: Workspace, person: str, task_id: str) -> int:
    comments = workspace.reviews.comments_for(person, task_id)
    return sum(
        bool(one.answers) and one.answers[-1].by != person for one in comments if one.by == person
    )


def _open_sessions(
    workspace: Workspace, person: str, now: datetime | None
) -> tuple[OpenSession, ...]:
    since = (now or datetime.now(UTC)) - FAILED_LATELY
    trials = workspace.runs.open_trials(created_by=person, kind="play", failed_since=since)
    found = [_open_session(workspace, trial) for trial in trials]
    return tuple(sorted(found, key=lambda session: session.since, reverse=True))


def _open_session(workspace: Workspace, trial: TrialRecord) -> OpenSession:
    from cuecard.core.engine.events import AgentSpoke, UserSpoke

    spoken = [event.body for event in workspace.runs.words(trial.id)]
    last = spoken[-1] if spoken else None
    phase: Literal["yours", "agent", "concluding", "failed"] = "yours"
    if trial.termination is not None:
        phase = "failed"
    elif isinstance(last, UserSpoke):
        phase = "concluding" if last.reply.done else "agent"
    turns = sum(isinstance(body, AgentSpoke) for body in spoken)
    newest = workspace.player_moves.pulse(trial.id)
    return OpenSession(trial, turns, phase, newest.at if newest else trial.created_at)


REMEMBERED = timedelta(days=14)
"""How long after its end a session's form is still asked for: later answers say little of it."""


def forms_missing(
    workspace: Workspace, person: str, now: datetime | None = None
) -> list[TrialRecord]:
    """The sessions that this person played to an end without a form yet, newest first. After `REMEMBERED` they are not
    asked any more.
    """
    since = (now or datetime.now(UTC)) - REMEMBERED
    return [workspace.runs.trial(id_) for id_ in workspace.session_forms.missing(person, since)]


def _waiting_trials(workspace: Workspace, person: str) -> tuple[WaitingTrial, ...]:
    if not workspace.runs.open_trials(kind="play"):
        return ()
    from cuecard.core.evaluation.wizard_of_oz import waiting_trials

    return tuple(waiting_trials(workspace, person))


def _may_have(open_round: OpenRound) -> bool:
    if open_round.wrote or open_round.reviewed:
        return False
    places = open_round.needed - open_round.reviews - open_round.claims
    return open_round.mine is not None or places > 0


def _with_reviewers(own: OpenRound) -> WithOthers:
    return WithOthers(
        own.task,
        "reviewers",
        own.submitted_at or own.task.updated_at,
        reviews=own.reviews,
        needed=own.needed,
        held=own.claims,
    )


def _with_the_other(reviewed: OpenRound) -> WithOthers:
    since = reviewed.submitted_at or reviewed.task.updated_at
    return WithOthers(
        reviewed.task, "reviewer", since, reviews=reviewed.reviews, needed=reviewed.needed
    )


def _to_submit(
    workspace: Workspace, person: str, mine: frozenset[str], drafted: set[str]
) -> tuple[TaskSummary, ...]:
    """Saved tasks that were worked on here, without those that were only imported."""
    if not mine:
        return ()
    drafts = workspace.tasks.summaries(state=TaskState.DRAFT)
    worked_on = workspace.effort.worked_on(person)
    return tuple(
        task
        for task in drafts
        if task.id in mine - drafted and (task.revision > 1 or task.id in worked_on)
    )


def _open_comments(
    workspace: Workspace, person: str, tasks: Iterable[TaskSummary]
) -> dict[str, int]:
    from cuecard.annotate.review.comments import open_comments  # Home starts without it

    return open_comments(workspace, person, [task.id for task in tasks])


def _moved_at(workspace: Workspace, tasks: Iterable[TaskSummary]) -> dict[str, datetime]:
    """When these tasks came into their present state."""
    ids = [task.id for task in tasks]
    logs = workspace.reviews.logs(ids) if ids else {}
    found: dict[str, datetime] = {}
    for task_id, log in logs.items():
        if history := standing_of(log).history:
            found[task_id] = history[-1].at
    return found
