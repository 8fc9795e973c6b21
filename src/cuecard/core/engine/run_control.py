"""Stops a run from any thread: what plays, judges or asks on its behalf holds to one control."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from cuecard.core.errors import Halt, StoppedByPerson
from cuecard.core.i18n import _

GRACE_S: Final = 10.0

Outcome = TypeVar("Outcome")


class RunControl:
    """Stops a run, from any thread. `pause` waits for the calls under way, however long they take; `drain` waits at
    most `grace` seconds for them; `cancel` stops at once. One control serves one run.
    """

    def __init__(self, grace: float = GRACE_S) -> None:
        self._grace = grace
        self._cut_at: float | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._held: set[asyncio.Future[Any]] = set()
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: Callable[[], None] = lambda: None
        self._resize: Callable[[int], None] = lambda _count: None
        self._cancelled = False
        self._record = False
        self._halt: Halt | None = None
        self._listeners: list[Callable[[Halt], None]] = []

    @property
    def halt(self) -> Halt | None:
        """Why the run is to stop; None as long as it is not."""
        return self._halt

    def pause(self, halt: Halt | None = None) -> None:
        """Begin no more trials, calls or turns. Calls under way are finished and recorded; trials stay open, to be
        resumed. Of several calls of `pause` the first one's `halt` is reported as the reason.
        """
        with self._lock:
            if self._halt is not None:
                return
            self._halt = halt or StoppedByPerson(_("The run was stopped"), _("as asked for"))
            listeners, loop = list(self._listeners), self._loop
        for listener in listeners:
            if loop is None:
                listener(self._halt)
            else:
                loop.call_soon_threadsafe(listener, self._halt)

    def drain(self, halt: Halt | None = None) -> None:
        """`pause`, and after `grace` seconds `cancel` what is still under way."""
        self.pause(halt)
        with self._lock:
            if self._cut_at is None:
                self._cut_at = time.monotonic() + self._grace
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._arm)

    @property
    def grace(self) -> float:
        """How many seconds `drain` leaves to the calls under way."""
        return self._grace

    @property
    def seconds_left(self) -> float | None:
        """Seconds until `drain` cancels the calls under way; None if `drain` was not called."""
        return None if self._cut_at is None else max(0.0, self._cut_at - time.monotonic())

    def when_paused(self, listener: Callable[[Halt], None]) -> None:
        """Have `listener` called, on the run's event loop, when the run is to stop: to wake calls that wait."""
        with self._lock:
            self._listeners.append(listener)

    def check(self) -> None:
        """Raise the `Halt` for which the run is to stop, if there is one."""
        if self._halt is not None:
            raise self._halt

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    @property
    def records(self) -> bool:
        """Whether open trials are to end as `cancelled` rather than stay open."""
        return self._record

    def cancel(self, *, record: bool = False) -> None:
        """Begin no more trials and stop the open ones at once. They stay open, to be resumed; with `record` they end as
        `cancelled`.
        """
        with self._lock:
            if self._cancelled:
                return
            self._cancelled, self._record = True, record
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._cut)

    def resize(self, concurrency: int) -> None:
        """Have so many trials under way at the same time; those that are above that are played to their end."""
        with self._lock:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._resize, concurrency)

    def attach(
        self,
        stop: Callable[[], None] = lambda: None,
        resize: Callable[[int], None] = lambda _count: None,
    ) -> None:
        """Serve the run of the current event loop: `stop` is called on it when the run is cancelled, `resize` with another
        number of trials at the same time.
        """
        with self._lock:
            self._loop, self._stop, self._resize = asyncio.get_running_loop(), stop, resize
        if self._cut_at is not None:
            self._arm()

    def detach(self) -> None:
        with self._lock:
            self._loop = None
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    async def hold(self, work: Callable[[], Awaitable[Outcome]]) -> Outcome:
        """The result of `work`, which belongs to no trial; call `attach` first. Raises the `Halt` of a run that is to
        stop, and `StoppedByPerson` if the run is cancelled meanwhile, which cancels `work`.
        """
        self.check()
        task = asyncio.ensure_future(work())
        self._held.add(task)
        try:
            await asyncio.wait({task})
        finally:
            self._held.discard(task)
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        if task.cancelled():
            raise StoppedByPerson(_("Cut off when the run was stopped"))
        return task.result()

    def _arm(self) -> None:
        """Schedule `cancel` for the end of the grace, on the run's event loop."""
        if self._alarm is None and self._loop is not None and not self._cancelled:
            loop = asyncio.get_running_loop()
            self._alarm = loop.call_later(self.seconds_left or 0.0, self.cancel)

    def _cut(self) -> None:
        self._stop()
        for work in self._held:
            work.cancel()
