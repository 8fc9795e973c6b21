"""All that one person needs to review a task, or to read its reviews."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.annotate.authoring.changes import Change, changes_between
from cuecard.annotate.review.comments import Thread, threads_for
from cuecard.annotate.review.protocol import EMBEDDED_PROTOCOL, Protocol
from cuecard.annotate.review.reviewing import ReviewSheet, review_sheet
from cuecard.annotate.review.spot_check import gold_items, sample_of
from cuecard.annotate.review.workflow import actions_of
from cuecard.core.review import Action, Rating

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class ReviewDesk:
    """`changes`: since the revision that this person reviewed before; `last`: how they rated that.
    `threads`: what they may read of comments on earlier revisions, and on this one if its reviews are
    in. `items`: the places of the gold items, `sample` those they must mark.
    """

    sheet: ReviewSheet
    changes: tuple[Change, ...]
    last: dict[str, Rating]
    threads: tuple[Thread, ...]
    items: tuple[str, ...]
    sample: tuple[str, ...]
    may_ask_third: bool

    @property
    def reading(self) -> bool:
        """Whether there is nothing to fill in."""
        return bool(self.sheet.obstacle)


def review_desk(
    workspace: Workspace, task_id: str, person: str, protocol: Protocol = EMBEDDED_PROTOCOL
) -> ReviewDesk:
    """The newest revision on one person's desk. Raises `NotFound`."""
    sheet = review_sheet(workspace, task_id, person, protocol)
    changes: list[Change] = []
    last: dict[str, Rating] = {}
    if sheet.previous is not None:
        before, now = (t.model_dump(mode="json") for t in (sheet.previous, sheet.task))
        changes = changes_between(before, now)
        last = next(
            dict(given.ratings)
            for given in sheet.visible
            if (given.reviewer, given.revision) == (person, sheet.previous_number)
        )
    return ReviewDesk(
        sheet=sheet,
        changes=tuple(changes),
        last=last,
        threads=threads_for(workspace, person, task_id),
        items=tuple(item.place for item in gold_items(sheet.task)),
        sample=sample_of(sheet.task, sheet.uid, person, protocol.spot_check),
        may_ask_third=Action.ASK_THIRD in actions_of(workspace, task_id, person),
    )
