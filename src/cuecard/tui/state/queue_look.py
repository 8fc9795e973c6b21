"""What the review queue shows, read from the workspace at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cuecard.annotate.review.coordinating import lines_for
from cuecard.annotate.review.protocol import Protocol
from cuecard.annotate.review.queue import next_line, queue_for
from cuecard.annotate.review.queue_rows import QueueRow, coordinator_rows, done_rows, queue_rows

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class Look:
    """`todo` for this person, `done` by them. `skipped`: how many they skipped, shown or not. `next_id`:
    the task to take next, "" if none is clearly theirs.
    """

    todo: list[QueueRow] = field(default_factory=list[QueueRow])
    done: list[QueueRow] = field(default_factory=list[QueueRow])
    skipped: int = 0
    coordinates: bool = False
    next_id: str = ""


def look_for(workspace: Workspace, person: str, protocol: Protocol, with_skipped: bool) -> Look:
    """What this person can review and what they may read; runs in a thread."""
    now = datetime.now(UTC)
    done = done_rows(workspace.reviews.reviewed(person), now)
    if person in protocol.coordinators:
        lines = lines_for(workspace, person, protocol, now)
        return Look(coordinator_rows(lines, now), done, coordinates=True)
    queue = queue_for(workspace, person, protocol, now, with_skipped=True)
    shown = [line for line in queue if with_skipped or not line.skipped]
    begun = frozenset(workspace.review_forms.of(person))
    best = next_line(shown)
    return Look(
        queue_rows(shown, begun, workspace.reviews.skills().get(person), now),
        done,
        skipped=sum(line.skipped for line in queue),
        next_id=best.task.id if best else "",
    )
