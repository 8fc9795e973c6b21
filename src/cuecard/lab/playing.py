"""Holding a run while it is played, and what was left behind by who held one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from cuecard.store.leases import LAPSE, BeingPlayed, Lease

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

_LOOK = 1.0


@asynccontextmanager
async def playing(
    workspace: Workspace, run_id: int, by: str, on_lost: Callable[[], None] | None = None
) -> AsyncGenerator[Lease]:
    """Hold the run; nobody else plays, judges or closes it meanwhile. Raises what `take` raises."""
    lease = await take(workspace, run_id, by, on_lost)
    try:
        yield lease
    finally:
        await asyncio.to_thread(workspace.leases.release, lease)


async def take(
    workspace: Workspace, run_id: int, by: str, on_lost: Callable[[], None] | None = None
) -> Lease:
    """See `Leases.take`. A holder of whom nobody can tell whether they live is watched until that is known."""
    until = time.monotonic() + LAPSE + _LOOK
    while True:
        taking = asyncio.ensure_future(
            asyncio.to_thread(workspace.leases.take, run_id, by, on_lost)
        )
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            taking.add_done_callback(lambda taken: _give_back(workspace, taken))
            raise
        except BeingPlayed as error:
            if error.certain or time.monotonic() > until:
                raise
            await asyncio.sleep(_LOOK)


def _give_back(workspace: Workspace, taken: asyncio.Future[Lease]) -> None:
    if not taken.cancelled() and taken.exception() is None:
        workspace.leases.release(taken.result())
