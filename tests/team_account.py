"""What a workspace can tell about a team's work, for comparing one with another."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from cuecard.core.contributions import TRANSITIONS, Action, Move, TaskState
from cuecard.core.review import claims_of
from cuecard.store.workspace import Workspace


def check_lawful(history: Sequence[Move]) -> None:
    """Every step is in the table of transitions, and starts where the one before ended."""
    state = TaskState.DRAFT
    before_retiring = state
    for move in history:
        transition = TRANSITIONS[move.action]
        assert state in transition.sources, (state, move)
        if move.action is Action.RETIRE:
            before_retiring = state
        # What was saved while it was archived comes back as a draft, without a step of its own.
        back = (before_retiring, TaskState.DRAFT)
        assert move.state in ((transition.target,) if transition.target else back), (state, move)
        state = move.state


def account(ws: Workspace, people: Sequence[str], now: datetime) -> dict[str, Any]:
    """All that can be told of a workspace without the names of entries, which hold how many were known
    when they were made, and so differ between one database and many.
    """
    told: dict[str, Any] = {}
    for line in ws.tasks.summaries(include_retired=True):
        standing = ws.reviews.standing(line.id)
        check_lawful(standing.history)
        assert standing.state is line.state
        assert standing.head == line.revision
        told[line.id] = {
            "summary": line.model_dump(mode="json"),
            "standing": standing.model_dump(mode="json"),
            "leases": sorted(claims_of(ws.reviews.log(line.id), standing.head, now).items()),
            "effort": ws.effort.totals(line.id).model_dump(),
        }
    views = {f"as {person}": seen_by(ws, person, now, list(told)) for person in people}
    return told | views


def seen_by(ws: Workspace, person: str, now: datetime, ids: Sequence[str]) -> dict[str, Any]:
    rounds = ws.reviews.open_rounds(person, now)
    seen: dict[str, Any] = {
        "open": [line.model_dump(mode="json") for line in rounds],
        "reviewed": [line.id for line in ws.reviews.reviewed(person)],
    }
    for task_id in ids:
        reviews = ws.reviews.visible_to(person, task_id)
        comments = ws.reviews.comments_for(person, task_id)
        log = ws.reviews.seen_log(person, task_id)
        seen[task_id] = {
            "reviews": [review.model_dump(mode="json", exclude={"uid"}) for review in reviews],
            "comments": [comment.model_dump(mode="json", exclude={"id"}) for comment in comments],
            "log": sorted((entry.at, entry.body.kind, entry.by) for entry in log.contributions),
            "authors": [node.authors for node in log.revisions],
        }
    return seen
