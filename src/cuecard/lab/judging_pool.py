"""Many judgings, a few at a time: one that fails ends no other, and a halt ends all that are left."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from cuecard.core.errors import Halt, told
from cuecard.core.parts import Judge
from cuecard.core.run import RunControl

Item = TypeVar("Item")
OnProgress = Callable[[int, int], None]
"""How many are done, failed ones included, of how many."""

_AT_A_TIME = 8


class Trouble(NamedTuple):
    """Why one was not judged. `halted`: not for a reason of its own, but because judging had to stop."""

    reason: str
    halted: bool = False


def at_a_time(judge: Judge) -> int:
    """How many trials are judged at once: one by an embedded judge, which waits for nobody."""
    return 1 if judge.ref.baseline else _AT_A_TIME


def trouble_of(error: Exception) -> Trouble:
    return Trouble(told(error), isinstance(error, Halt))


async def judge_each(
    items: Sequence[Item],
    judge: Callable[[Item], Awaitable[object]],
    limit: int,
    on_progress: OnProgress | None = None,
    control: RunControl | None = None,
) -> dict[int, Trouble]:
    """Have `judge` called with each item, `limit` at a time, in their order. Returns what was not judged,
    by position. After a `Halt` what is under way is finished and nothing more is begun; `control` stops it
    like any run.
    """
    waiting = iter(enumerate(items))
    troubles: dict[int, Trouble] = {}
    halts: list[Trouble] = []
    done = 0

    async def work() -> None:
        nonlocal done
        for position, item in waiting:
            if halts:
                troubles[position] = halts[0]
                continue
            try:
                await (judge(item) if control is None else control.hold(partial(judge, item)))
            except Exception as error:  # noqa: BLE001 - the boundary of a judge call: a failure is data
                troubles[position] = trouble_of(error)
                if troubles[position].halted:
                    halts.append(troubles[position])
            done += 1
            if on_progress:
                on_progress(done, len(items))

    if control is not None:
        control.attach()
    try:
        await asyncio.gather(*(work() for _worker in range(min(limit, len(items)))))
    finally:
        if control is not None:
            control.detach()
    return dict(sorted(troubles.items()))
