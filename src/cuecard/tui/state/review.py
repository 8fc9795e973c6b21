"""A review while it is being written: plain data, so that it can be kept and taken up again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

from cuecard.core.tasks.base import Frozen
from cuecard.store.records import Rating, Review, ReviewDecision

RATINGS: tuple[Rating, ...] = ("pass", "fail", "cannot_judge")


class Comment(Frozen):
    """`place` is the element's path; "" means the task as a whole."""

    place: str
    text: str


@dataclass
class ReviewForm:
    """Ratings by dimension key and pinned comments, in the order they were made."""

    task_id: str
    revision: int
    reviewer: str
    ratings: dict[str, Rating] = field(default_factory=dict[str, Rating])
    comments: list[Comment] = field(default_factory=list[Comment])

    @property
    def is_empty(self) -> bool:
        return not self.ratings and not self.comments

    def comment(self, place: str, text: str) -> None:
        """Pin a comment; an empty text takes the place's comments away."""
        self.comments = [c for c in self.comments if c.place != place]
        if text.strip():
            self.comments.append(Comment(place=place, text=text.strip()))

    def comment_at(self, place: str) -> str:
        return next((c.text for c in self.comments if c.place == place), "")

    def to_review(self, decision: ReviewDecision) -> Review:
        return Review(
            task_id=self.task_id,
            revision=self.revision,
            reviewer=self.reviewer,
            ratings=dict(self.ratings),
            decision=decision,
            comments=tuple((c.place, c.text) for c in self.comments),
            created_at=datetime.now(UTC),
        )

    def to_data(self) -> dict[str, Any]:
        return {"ratings": dict(self.ratings), "comments": [c.model_dump() for c in self.comments]}

    def load(self, data: Mapping[str, Any]) -> None:
        """Take up what was kept; what does not fit is left out."""
        ratings = cast(dict[str, Any], data.get("ratings") or {})
        self.ratings = {key: value for key, value in ratings.items() if value in RATINGS}
        comments = cast(list[dict[str, Any]], data.get("comments") or [])
        self.comments = [
            Comment(place=str(c.get("place", "")), text=str(c.get("text", ""))) for c in comments
        ]
