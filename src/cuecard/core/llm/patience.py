"""How long a call may take: without a further word, and in all."""

from __future__ import annotations

import asyncio
from types import TracebackType


class Overdue(TimeoutError):
    """A request took too long: `seconds` passed without a further word of the reply, or, `in_all`, were
    all that the call had.
    """

    def __init__(self, seconds: float, *, in_all: bool) -> None:
        super().__init__(seconds)
        self.seconds = seconds
        self.in_all = in_all


class Patience:
    """What is left of one call's time, over all its attempts. Waiting for a turn or for the next attempt
    does not count. `silence`, `total`: seconds.
    """

    def __init__(self, silence: float, total: float) -> None:
        self.silence = silence
        self.total = total
        self.spent = 0.0

    @property
    def used_up(self) -> bool:
        return self.spent >= self.total

    def attempt(self) -> Attempt:
        """Bounds what is done within its block, which raises `Overdue`."""
        return Attempt(self)


class Attempt:
    """The block of one attempt (`with`). `heard` is to be called with each further piece of the reply,
    however small; it may be many thousand times a second. Otherwise as `asyncio.timeout`.
    """

    __slots__ = (
        "_alarm",
        "_asked",
        "_began",
        "_end",
        "_heard",
        "_loop",
        "_over",
        "_patience",
        "_task",
    )

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._loop = asyncio.get_running_loop()
        self._over: Overdue | None = None

    def heard(self) -> None:
        self._heard = self._loop.time()

    def __enter__(self) -> Attempt:
        task = asyncio.current_task()
        assert task is not None
        patience = self._patience
        # Whoever else cancels the task is told from the clock by how often it was asked to end.
        self._task, self._asked = task, task.cancelling()
        self._began = self._heard = self._loop.time()
        self._end = self._began + patience.total - patience.spent
        due = min(self._began + patience.silence, self._end)
        self._alarm = self._loop.call_at(due, self._look)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._alarm.cancel()
        self._patience.spent += self._loop.time() - self._began
        over = self._over
        if over is None or self._task.uncancel() > self._asked:
            return
        if kind is not None and issubclass(kind, asyncio.CancelledError):
            raise over from None

    def _look(self) -> None:
        """The time was up when the clock was set; since then something may have been heard."""
        patience = self._patience
        due = min(self._heard + patience.silence, self._end)
        if self._loop.time() < due:
            self._alarm = self._loop.call_at(due, self._look)
            return
        in_all = due == self._end
        self._over = Overdue(patience.total if in_all else patience.silence, in_all=in_all)
        self._task.cancel()
