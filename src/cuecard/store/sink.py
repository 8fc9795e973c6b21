"""A trial's way into the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.core.events import AgentSpoke, Event, TrialStarted
from cuecard.store.writer import Session

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class StoreSink:
    """A trial's `Sink` into the workspace: `append` returns when the event is on the disk.

    Of an event that follows from those before it (what an agent says is made of its model's recorded
    replies) `append` returns sooner: it is written before all later ones, and if it is lost, playing
    on makes it again. Should it be refused, the next `append` says so.
    """

    def __init__(self, workspace: Workspace, trial_id: int) -> None:
        self._writer = workspace.event_writer
        self._trial_id = trial_id
        self._session = Session()

    async def append(self, event: Event) -> None:
        """Raises what `Runs.append_events` raises; once it has, it always does. Cancelled, it raises that
        rather than `CancelledError`, and neither before the event is on the disk or refused.
        """
        lazy = _follows(event) and not self._writer.crowded
        job = self._writer.submit(self._trial_id, event, self._session, lazy=lazy)
        if lazy:
            return
        try:
            await job.wait()
        finally:
            if job.error is not None:
                raise job.error

    def stream(self, turn: int, text: str) -> None:
        """Unfinished text is not kept."""


def _follows(event: Event) -> bool:
    """Whether playing on makes the event again. What an agent had said when it was stopped is known to
    nobody else.
    """
    if isinstance(event.body, AgentSpoke):
        return not event.body.reply.interrupted
    return isinstance(event.body, TrialStarted)
