"""A review while it is being written: plain data, so that it can be kept and taken up again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

from pydantic import ValidationError

from cuecard.annotate.review.spot_check import unmarked
from cuecard.core.review import CheckMark, GoldCheck, PinnedComment, Rating, ReviewDecision
from cuecard.store.records import Review

RATINGS: tuple[Rating, ...] = ("pass", "fail", "cannot_judge")
MARKS: tuple[CheckMark, ...] = ("right", "wrong", "unsure")


@dataclass
class ReviewForm:
    """Ratings by dimension key, comments in the order in which they were made (one for each place and
    dimension), marks on gold items and the pages opened for them by place, seconds of work. `sample`:
    the gold items that must be marked.
    """

    task_id: str
    revision: int
    reviewer: str
    sample: tuple[str, ...] = ()
    ratings: dict[str, Rating] = field(default_factory=dict[str, Rating])
    comments: list[PinnedComment] = field(default_factory=list[PinnedComment])
    marks: dict[str, CheckMark] = field(default_factory=dict[str, CheckMark])
    opened: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    seconds: float = 0.0

    def comment(self, place: str, text: str, dimension: str = "") -> None:
        """Pin a comment in place of the one there is; an empty text takes that away."""
        text = text.strip()
        for index, known in enumerate(self.comments):
            if (known.place, known.dimension) == (place, dimension):
                if text:
                    self.comments[index] = known.model_copy(update={"text": text})
                else:
                    del self.comments[index]
                return
        if text:
            self.comments.append(PinnedComment(place=place, text=text, dimension=dimension))

    def comment_at(self, place: str, dimension: str = "") -> str:
        for known in self.comments:
            if (known.place, known.dimension) == (place, dimension):
                return known.text
        return ""

    def explained(self, dimension: str) -> bool:
        """Whether a comment says why a dimension fails."""
        return any(comment.dimension == dimension for comment in self.comments)

    def mark(self, place: str, mark: CheckMark) -> None:
        """Mark a gold item; the mark that it carries already is taken off."""
        if self.marks.get(place) == mark:
            del self.marks[place]
        else:
            self.marks[place] = mark

    def note_opened(self, place: str, url: str) -> None:
        """A page was opened for a gold item."""
        urls = self.opened.setdefault(place, [])
        if url not in urls:
            urls.append(url)

    @property
    def checks(self) -> tuple[GoldCheck, ...]:
        """The marks, each with the pages that were opened for it."""
        return tuple(
            GoldCheck(place=place, mark=mark, opened=tuple(self.opened.get(place, ())))
            for place, mark in self.marks.items()
        )

    @property
    def left_to_mark(self) -> tuple[str, ...]:
        """What of the sample carries no mark yet."""
        return unmarked(self.sample, self.checks)

    @property
    def unexplained_wrong(self) -> tuple[str, ...]:
        """Items marked wrong at which, and inside which, no comment is pinned."""
        said = [comment.place for comment in self.comments]
        return tuple(
            place
            for place, mark in self.marks.items()
            if mark == "wrong" and not any(inside(there, place) for there in said)
        )

    def to_review(self, decision: ReviewDecision) -> Review:
        return Review(
            task_id=self.task_id,
            revision=self.revision,
            reviewer=self.reviewer,
            ratings=dict(self.ratings),
            decision=decision,
            comments=tuple(self.comments),
            checks=self.checks,
            sample=self.sample,
            seconds=round(self.seconds, 1),
            created_at=datetime.now(UTC),
        )

    def to_data(self) -> dict[str, Any]:
        return {
            "ratings": dict(self.ratings),
            "comments": [comment.model_dump() for comment in self.comments],
            "marks": dict(self.marks),
            "opened": {place: list(urls) for place, urls in self.opened.items()},
            "seconds": self.seconds,
        }

    def load(self, data: Mapping[str, Any]) -> None:
        """Take up what was kept; what does not fit is left out."""
        ratings, marks = _mapping(data.get("ratings")), _mapping(data.get("marks"))
        self.ratings = {key: value for key, value in ratings.items() if value in RATINGS}
        self.marks = {place: mark for place, mark in marks.items() if mark in MARKS}
        self.opened = {
            place: [str(url) for url in cast(list[Any], urls)]
            for place, urls in _mapping(data.get("opened")).items()
            if isinstance(urls, list)
        }
        seconds = data.get("seconds")
        self.seconds = float(seconds) if isinstance(seconds, int | float) else 0.0
        self.comments = []
        comments = data.get("comments")
        for kept in cast(list[Any], comments) if isinstance(comments, list) else ():
            try:
                self.comments.append(PinnedComment.model_validate(kept))
            except ValidationError:
                continue


def inside(place: str, owner: str) -> bool:
    """Whether a place is an element or a part of it; everything is inside the whole task ""."""
    return not owner or place == owner or place.startswith((f"{owner}.", f"{owner}["))


def _mapping(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
