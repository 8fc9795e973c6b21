"""The rounds of review that are over: what figures and datasheets count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from cuecard.core.review import (
    Action,
    Rating,
    ReviewDecision,
    Reviewed,
    RevisionStanding,
    Standing,
    TaskLog,
    standing_of,
)
from cuecard.core.tasks.base import Frozen


class GivenReview(Frozen):
    """`commented`: the dimensions that comments of the review name. `seconds` is 0 where the time was
    not taken.
    """

    reviewer: str
    decision: ReviewDecision
    ratings: dict[str, Rating]
    commented: frozenset[str] = frozenset()
    seconds: float = 0
    at: datetime


class DecidedRound(Frozen):
    """The reviews of one revision, of which no more is to come; in the order in which they came in."""

    task_id: str
    revision: int
    reviews: tuple[GivenReview, ...]

    def by(self, reviewer: str) -> GivenReview | None:
        return next((given for given in self.reviews if given.reviewer == reviewer), None)


def is_decided(standing: RevisionStanding) -> bool:
    """Whether all reviews that the revision needs are in: open to all, or to its party because two
    disagree and no third was asked.
    """
    split = standing.seen == "party" and len(standing.reviewers) >= standing.needed
    return standing.seen == "all" or split


def decided_rounds(logs: Mapping[str, TaskLog]) -> tuple[DecidedRound, ...]:
    """By task and revision. Only reviews that count: each reviewer's first, none of an author's own."""
    found: list[DecidedRound] = []
    for task_id, log in sorted(logs.items()):
        if log.revisions:
            found += _rounds_of(task_id, log, standing_of(log))
    return tuple(found)


def rounds_until_approval(standing: Standing) -> int | None:
    """How many revisions were decided until one was approved for the first time, that one included;
    None for a task that never was.
    """
    decided: set[int] = set()
    for move in standing.history:
        if move.action in (Action.RETURN, Action.APPROVE):
            decided.add(move.revision)
        if move.action is Action.APPROVE:
            return len(decided)
    return None


def _rounds_of(task_id: str, log: TaskLog, standing: Standing) -> Iterable[DecidedRound]:
    entries = sorted(log.contributions, key=lambda entry: entry.order)
    for revision in standing.revisions:
        if not is_decided(revision):
            continue
        given: dict[str, GivenReview] = {}
        for entry in entries:
            counts = entry.revision == revision.number and entry.by in revision.reviewers
            if counts and isinstance(entry.body, Reviewed):
                given.setdefault(entry.by, _given(entry.by, entry.at, entry.body))
        yield DecidedRound(task_id=task_id, revision=revision.number, reviews=tuple(given.values()))


def _given(by: str, at: datetime, body: Reviewed) -> GivenReview:
    return GivenReview(
        reviewer=by,
        decision=body.decision,
        ratings=body.ratings,
        commented=frozenset(c.dimension for c in body.comments if c.dimension),
        seconds=body.seconds,
        at=at,
    )
