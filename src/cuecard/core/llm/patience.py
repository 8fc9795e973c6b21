"""How long a call may take: without a further word, and in all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager


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
        self._silence = silence
        self._total = total
        self._spent = 0.0

    @property
    def used_up(self) -> bool:
        return self._spent >= self._total

    @asynccontextmanager
    async def attempt(self) -> AsyncGenerator[Callable[[], None]]:
        """Bound what is done within the block; it gets a function to be called with each further piece of
        the reply, however small. Raises `Overdue`.
        """
        clock = asyncio.get_running_loop().time
        began = clock()
        end = began + self._total - self._spent
        limit = asyncio.timeout_at(min(began + self._silence, end))

        def heard() -> None:
            if not limit.expired():
                limit.reschedule(min(clock() + self._silence, end))

        try:
            async with limit:
                yield heard
        except TimeoutError:
            if not limit.expired():
                raise
            in_all = limit.when() == end
            raise Overdue(self._total if in_all else self._silence, in_all=in_all) from None
        finally:
            self._spent += clock() - began
