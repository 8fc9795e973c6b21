"""Things that live as long as a run's models: processes and servers that many trials share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol, TypeVar, cast
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from cuecard.core.llm.hub import ModelHub


class Keepable(Protocol):
    @property
    def usable(self) -> bool: ...

    async def close(self) -> None: ...


Kept = TypeVar("Kept", bound=Keepable)


class _Pool:
    def __init__(self) -> None:
        self._kept: dict[object, Keepable] = {}
        self._locks: dict[object, asyncio.Lock] = {}

    async def get(self, key: object, make: Callable[[], Awaitable[Keepable]]) -> Keepable:
        async with self._locks.setdefault(key, asyncio.Lock()):
            found = self._kept.get(key)
            if found is not None and found.usable:
                return found
            if found is not None:
                del self._kept[key]
                await found.close()
            made = self._kept[key] = await make()
            return made

    async def close(self) -> None:
        while self._kept:
            await self._kept.popitem()[1].close()
        self._locks.clear()


_POOLS: WeakKeyDictionary[ModelHub, _Pool] = WeakKeyDictionary()


async def keep(hub: ModelHub, key: object, make: Callable[[], Awaitable[Kept]]) -> Kept:
    """The thing kept under `key`, made when it is first wanted or no longer usable; closed with the
    hub. `key` must be used for things of one type only.
    """
    pool = _POOLS.get(hub)
    if pool is None:
        pool = _POOLS[hub] = _Pool()
        hub.on_close(pool.close)
    return cast(Kept, await pool.get(key, make))
