"""The thread that writes events: many trials at once, one transaction for what came together."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from queue import Empty, SimpleQueue
from typing import Literal

from cuecard.core.errors import Conflict, CuecardError, NotFound
from cuecard.core.events import Event
from cuecard.core.i18n import _
from cuecard.store.appending import Appender
from cuecard.store.engine import Database

MAX_BATCH = 512
MAX_WAITING = 4096
"""Events in the queue from which on nobody may run ahead of the disk."""
BUSY = 3
"""Events in a batch from which on the next one waits a little for company."""
GATHER = 0.003
"""Seconds of that: far less than any model takes, and a commit costs as much CPU as twenty events."""
LAZY = 0.05
"""Seconds that events for which nobody waits are held back at most."""


class Session:
    """Whoever plays one trial here. Once an event of theirs is refused, so is all that they submitted
    after it: it must not come to stand behind somebody else's.
    """

    __slots__ = ("trouble",)

    def __init__(self) -> None:
        self.trouble: Exception | None = None


class Job:
    """An event on its way to the disk. `settled`: it is there, or `error` says why not."""

    __slots__ = ("_loop", "_waiter", "error", "event", "lazy", "session", "settled", "trial_id")

    def __init__(self, trial_id: int, event: Event, session: Session, *, lazy: bool) -> None:
        self.trial_id = trial_id
        self.event = event
        self.session = session
        self.lazy = lazy
        self.settled = False
        self.error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """Where it was submitted, and will be settled."""
        return self._loop

    async def wait(self) -> None:
        """Return when it is settled. If cancelled, only then as well, however often: nobody takes back
        what is about to be written.
        """
        cancelled: asyncio.CancelledError | None = None
        while not self.settled:
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled

    def refuse(self, error: Exception) -> None:
        """With the session's first trouble, rather than what followed from it."""
        if self.session.trouble is None:
            self.session.trouble = error
        self.error = self.session.trouble

    def settle(self) -> None:
        """On the loop where it was submitted, if there is one."""
        self.settled = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


_Order = Job | Literal["flush", "stop"]


class EventWriter:
    """One thread that writes the events of all trials, those that wait together in one commit."""

    def __init__(self, database: Database) -> None:
        self._appender = Appender(database)
        self._orders: SimpleQueue[_Order] = SimpleQueue()
        self._lock = threading.Lock()
        self._progress = threading.Condition()
        self._submitted = 0
        self._written = 0
        self._busy = False
        self._closed = False
        # A daemon: whatever was acknowledged is on the disk, so it need not hold up the exit.
        self._thread = threading.Thread(target=self._work, name="cuecard-events", daemon=True)
        self._thread.start()

    def submit(
        self, trial_id: int, event: Event, session: Session | None = None, *, lazy: bool = False
    ) -> Job:
        """Have `event` written, behind all that was submitted before. `lazy`: nobody waits for it, so
        it may go with the next one. Raises `CuecardError` if the workspace is closed.
        """
        job = Job(trial_id, event, session or Session(), lazy=lazy)
        with self._lock:
            if self._closed:
                raise CuecardError(_("The workspace is closed"), _("Nothing more can be recorded."))
            self._submitted += 1
            self._orders.put(job)
        return job

    @property
    def crowded(self) -> bool:
        """So much waits that whoever could run ahead should wait too."""
        return self._submitted - self._written > MAX_WAITING

    def settle(self) -> None:
        """Return when all that was submitted so far is written (or refused)."""
        with self._lock:
            upto = self._submitted
            if self._written >= upto:
                return
            self._orders.put("flush")
        with self._progress:
            self._progress.wait_for(lambda: self._written >= upto)

    def close(self) -> None:
        """Write what was submitted, then stop."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._orders.put("stop")
        self._thread.join()

    def _work(self) -> None:
        go_on = True
        while go_on:
            batch, go_on = self._next_batch()
            if batch:
                self._write(batch)
                self._tell(batch)
                self._busy = len(batch) >= BUSY

    def _next_batch(self) -> tuple[list[Job], bool]:
        """What is to be written now; and whether more may come."""
        batch: list[Job] = []
        awaited = gathered = False
        until = 0.0
        order: _Order | None = self._orders.get()
        while order is not None:
            if not isinstance(order, Job):
                return batch, order == "flush"
            if not batch:
                until = time.monotonic() + LAZY
            batch.append(order)
            awaited |= not order.lazy
            if len(batch) >= MAX_BATCH:
                break
            order = self._next_order(0)
            if order is None and not awaited:
                order = self._next_order(until - time.monotonic())
            elif order is None and self._busy and not gathered:
                # Asleep rather than waiting: woken by each event, the thread would gather nothing.
                gathered = True
                time.sleep(GATHER)
                order = self._next_order(0)
        return batch, True

    def _next_order(self, patience: float) -> _Order | None:
        try:
            return self._orders.get(patience > 0, max(patience, 0))
        except Empty:
            return None

    def _write(self, batch: Sequence[Job], *, again: bool = False) -> None:
        """Write a batch, or what of it can be: one trial's trouble is not the others'."""
        for job in batch:
            if job.session.trouble is not None:
                job.refuse(job.session.trouble)
        batch = [job for job in batch if job.error is None]
        if not batch:
            return
        try:
            self._appender.append([(job.trial_id, job.event) for job in batch])
        except Exception as error:  # noqa: BLE001 - the boundary of a worker: whoever waits is told
            trials: dict[int, list[Job]] = defaultdict(list)
            for job in batch:
                trials[job.trial_id].append(job)
            self._appender.forget(trials)
            if isinstance(error, CuecardError) and not isinstance(error, Conflict | NotFound):
                parts = []  # The disk's or the server's trouble is everybody's.
            elif len(trials) > 1:
                parts = list(trials.values())
            elif len(batch) > 1:
                parts = [[job] for job in batch]
            else:
                # What was remembered of the log may be out of date: somebody else wrote the same.
                parts = [] if again else [list(batch)]
            for part in parts:
                self._write(part, again=len(batch) == 1)
            if not parts:
                for job in batch:
                    job.refuse(error)

    def _tell(self, batch: Sequence[Job]) -> None:
        by_loop: dict[asyncio.AbstractEventLoop | None, list[Job]] = defaultdict(list)
        for job in batch:
            by_loop[job.loop].append(job)
        for loop, jobs in by_loop.items():
            if loop is None:
                _settle(jobs)
                continue
            try:
                loop.call_soon_threadsafe(_settle, jobs)
            except RuntimeError:  # The loop was closed: nobody waits any more.
                for job in jobs:
                    job.settled = True
        with self._progress:
            self._written += len(batch)
            self._progress.notify_all()


def _settle(jobs: Sequence[Job]) -> None:
    for job in jobs:
        job.settle()
