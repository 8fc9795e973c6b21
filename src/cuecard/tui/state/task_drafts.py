"""When a draft is written: soon after the last key, and not much later while keys keep coming."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from enum import StrEnum

QUIET = 0.3
PATIENCE = 0.7


class DraftState(StrEnum):
    """Whether what was typed is on disk."""

    CLEAN = "clean"
    WAITING = "waiting"
    WRITTEN = "written"
    FAILED = "failed"


class DraftKeeper:
    """Calls `save` (one call at a time, never out of order) `QUIET` seconds after the last `touch`,
    but no later than `PATIENCE` seconds after the first one that is not yet saved.

    `noticed` hears every change of state, with the error where there was one.
    """

    def __init__(
        self,
        save: Callable[[], Awaitable[None]],
        noticed: Callable[[DraftState, BaseException | None], None],
        *,
        quiet: float = QUIET,
        patience: float = PATIENCE,
    ) -> None:
        self._save = save
        self._noticed = noticed
        self._quiet, self._patience = quiet, patience
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None
        self._dirty = False
        self._since = 0.0
        self.state = DraftState.CLEAN

    def touch(self) -> None:
        """Something changed. Call it on the running loop."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        if not self._dirty:
            self._dirty, self._since = True, now
        self._cancel_timer()
        due = min(now + self._quiet, self._since + self._patience)
        self._timer = loop.call_at(due, self._due)
        self._become(DraftState.WAITING)

    async def flush(self) -> None:
        """Write now what is not yet written, and wait for it. Raises what `save` raises."""
        self._cancel_timer()
        while self._dirty or self._running:
            await asyncio.shield(self._start())

    async def forget(self) -> None:
        """What is not yet written need not be written any more; waits for a write that runs."""
        self._cancel_timer()
        self._dirty = False
        if self._running:
            await asyncio.wait([self._start()])
        self._cancel_timer()
        self._dirty = False
        self._become(DraftState.CLEAN)

    @property
    def _running(self) -> bool:
        return self._writing is not None and not self._writing.done()

    def _due(self) -> None:
        self._timer = None
        if self._running:
            self._timer = asyncio.get_running_loop().call_later(self._quiet, self._due)
        elif self._dirty:
            self._start()

    def _start(self) -> asyncio.Task[None]:
        """The write that runs, or a new one; a waiter that is cancelled does not end it."""
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._write())
            # `noticed` has told of an error: nobody else need wait for the task.
            self._writing.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._writing

    async def _write(self) -> None:
        self._dirty = False
        try:
            await self._save()
        except BaseException as error:
            self._dirty = True
            self._become(DraftState.FAILED, error)
            raise
        self._become(DraftState.WAITING if self._dirty else DraftState.WRITTEN)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _become(self, state: DraftState, error: BaseException | None = None) -> None:
        if state is not self.state or error is not None:
            self.state = state
            self._noticed(state, error)
