"""A review while it is being written: plain data, so that it can be kept and taken up again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from cuecard.core.i18n import _, ngettext
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.store.records import Rating, Review, ReviewDecision
from cuecard.tui.glyphs import RATING, VOTE
from cuecard.tui.state.transcript import Paragraph, Tone

if TYPE_CHECKING:
    from cuecard.annotate.review import Dimension, ReviewSheet

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


def comments_on(sheet: ReviewSheet, form: ReviewForm) -> dict[str, list[str]]:
    """What stands below each place of the document: while reviewing one's own comments, else those
    of the newest revision that may be read.
    """
    if not sheet.obstacle:
        return by_place((c.place, c.text) for c in form.comments)
    return by_place(
        (place, f"{one_line(given.reviewer)}: {text}")
        for given in sheet.visible
        if given.revision == sheet.revision
        for place, text in given.comments
    )


def side_paragraphs(sheet: ReviewSheet, form: ReviewForm) -> list[Paragraph]:
    """Below the dimensions: why nothing can be rated, my comments, and reviews that may be read."""
    lines: list[Paragraph] = []
    if sheet.obstacle:
        lines.append(Paragraph(sheet.obstacle, "muted"))
    elif form.comments:
        n = len(form.comments)
        lines.append(Paragraph(ngettext("{n} comment", "{n} comments", n).format(n=n), "strong"))
        lines += [_comment(c.place, c.text) for c in form.comments]
    else:
        lines.append(
            Paragraph(_("No comments yet: c comments on the place under the cursor."), "muted")
        )
    for given in reversed(sheet.visible):
        lines += _given(given, sheet.dimensions)
    return lines


def _given(given: Review, dimensions: Sequence[Dimension]) -> list[Paragraph]:
    glyph, _colour, label = VOTE[given.decision.value]
    tone: Tone = "good" if given.decision is ReviewDecision.APPROVE else "bad"
    head = _("{reviewer}, revision {n}: {decision}").format(
        reviewer=one_line(given.reviewer), n=given.revision, decision=f"{glyph} {_(label)}"
    )
    ratings = [f"{RATING[given.ratings.get(d.key, '')][0]} {_(d.label)}" for d in dimensions]
    return [
        Paragraph(""),
        Paragraph(head, tone),
        *(Paragraph(text, "muted", indent=2) for text in ratings),
        *(_comment(place, text) for place, text in given.comments),
    ]


def _comment(place: str, text: str) -> Paragraph:
    return Paragraph(f"✎ {place or _('the task')}: {text}", indent=2)


def by_place(comments: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Texts by place, in their order."""
    found: dict[str, list[str]] = defaultdict(list)
    for place, text in comments:
        found[place].append(text)
    return dict(found)
