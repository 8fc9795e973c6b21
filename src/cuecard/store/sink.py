"""Events on their way to the disk: many trials at once, one transaction for what came together."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from cuecard.core.errors import Conflict, CuecardError, NotFound
from cuecard.core.events import Event
from cuecard.core.i18n import _

if TYPE_CHECKING:
    from cuecard.store.runs import Runs
    from cuecard.store.workspace import Workspace

MAX_BATCH = 256

_Job = tuple[int, Event, "Future[None]"]


class EventWriter:
    """One thread that writes the events of all trials, those that wait together in one commit."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        # A daemon: whatever was acknowledged is on the disk, so it need not hold up the exit.
        self._thread = threading.Thread(target=self._work, name="cuecard-events", daemon=True)
        self._thread.start()

    def submit(self, trial_id: int, event: Event) -> Future[None]:
        """Have `event` written. The future is done when it is on the disk, or holds why it is not."""
        done: Future[None] = Future()
        # From here on it cannot be cancelled: nobody takes back what is about to be written.
        done.set_running_or_notify_cancel()
        with self._lock:
            if self._closed:
                raise CuecardError(_("The workspace is closed"), _("Nothing more can be recorded."))
            self._jobs.put((trial_id, event, done))
        return done

    def close(self) -> None:
        """Write what was submitted, then stop."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._jobs.put(None)
        self._thread.join()

    def _work(self) -> None:
        go_on = True
        while go_on:
            batch, go_on = self._next_batch()
            if batch:
                self._write(batch)

    def _next_batch(self) -> tuple[list[_Job], bool]:
        """What waits now, at least one job; and whether more may come."""
        batch: list[_Job] = []
        job = self._jobs.get()
        while job is not None:
            batch.append(job)
            if len(batch) >= MAX_BATCH:
                return batch, True
            try:
                job = self._jobs.get_nowait()
            except Empty:
                return batch, True
        return batch, False

    def _write(self, batch: Sequence[_Job]) -> None:
        try:
            self._runs.append_events([(trial_id, event) for trial_id, event, _done in batch])
        except (Conflict, NotFound) as error:
            if len(batch) == 1:
                batch[0][2].set_exception(error)
                return
            # One trial's trouble is not the others': each event on its own.
            for job in batch:
                self._write([job])
        except Exception as error:  # noqa: BLE001 - the boundary of a worker: whoever waits is told
            for _trial_id, _event, done in batch:
                done.set_exception(error)
        else:
            for _trial_id, _event, done in batch:
                done.set_result(None)


class StoreSink:
    """A trial's `Sink` into the workspace: `append` returns when the event is on the disk."""

    def __init__(self, workspace: Workspace, trial_id: int) -> None:
        self._writer = workspace.event_writer
        self._trial_id = trial_id

    async def append(self, event: Event) -> None:
        """Raises what `Runs.append_events` raises."""
        written = asyncio.wrap_future(self._writer.submit(self._trial_id, event))
        try:
            await asyncio.shield(written)
        except asyncio.CancelledError:
            # What was paid for is kept: the trial stops when this event is safe, not before.
            await asyncio.wait([written])
            raise

    def stream(self, turn: int, text: str) -> None:
        """Unfinished text is not kept."""
