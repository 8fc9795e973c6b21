from __future__ import annotations

import asyncio

import pytest

from cuecard.tui.present.drafts import DraftKeeper, DraftState


class Disk:
    """Remembers what was written, and can be slow or full."""

    def __init__(self) -> None:
        self.text = ""
        self.written: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.full = False
        self.busy = 0
        self.begun = asyncio.Event()
        self.seen: list[DraftState] = []
        self.changed = asyncio.Event()

    async def save(self) -> None:
        text = self.text
        self.busy += 1
        self.begun.set()
        assert self.busy == 1
        await self.gate.wait()
        self.busy -= 1
        if self.full:
            raise OSError("no space")
        self.written.append(text)

    def noticed(self, state: DraftState, error: BaseException | None) -> None:
        self.seen.append(state)
        self.changed.set()

    async def until(self, state: DraftState) -> None:
        while self.seen[-1:] != [state]:
            self.changed.clear()
            await self.changed.wait()

    def keeper(self, **times: float) -> DraftKeeper:
        return DraftKeeper(self.save, self.noticed, **times)


async def test_it_writes_once_after_the_last_key() -> None:
    disk = Disk()
    keeper = disk.keeper(quiet=0.02, patience=30)
    for text in ("a", "ab", "abc"):
        disk.text = text
        keeper.touch()
    await disk.until(DraftState.WRITTEN)
    assert disk.written == ["abc"]


async def test_it_does_not_wait_for_the_end_of_long_typing() -> None:
    disk = Disk()
    keeper = disk.keeper(quiet=30, patience=0.02)
    keeper.touch()
    await disk.until(DraftState.WRITTEN)
    assert disk.written == [""]


async def test_flush_writes_at_once_and_what_came_meanwhile_too() -> None:
    disk = Disk()
    keeper = disk.keeper(quiet=30, patience=30)
    disk.text = "a"
    keeper.touch()
    disk.gate.clear()
    flushing = asyncio.create_task(keeper.flush())
    await disk.begun.wait()
    disk.text = "ab"
    keeper.touch()
    disk.gate.set()
    await flushing
    assert disk.written == ["a", "ab"]
    assert keeper.state is DraftState.WRITTEN
    await keeper.flush()
    assert disk.written == ["a", "ab"]


async def test_a_waiter_that_is_cancelled_does_not_end_the_write() -> None:
    disk = Disk()
    keeper = disk.keeper(quiet=30, patience=30)
    keeper.touch()
    disk.gate.clear()
    flushing = asyncio.create_task(keeper.flush())
    await disk.begun.wait()
    flushing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await flushing
    disk.gate.set()
    await disk.until(DraftState.WRITTEN)
    assert disk.written == [""]


async def test_a_full_disk_is_told_and_the_next_key_tries_again() -> None:
    disk = Disk()
    disk.full = True
    keeper = disk.keeper(quiet=0.01, patience=1)
    keeper.touch()
    await disk.until(DraftState.FAILED)
    with pytest.raises(OSError):
        await keeper.flush()
    disk.full = False
    keeper.touch()
    await disk.until(DraftState.WRITTEN)
    assert disk.written == [""]


async def test_what_is_forgotten_is_not_written() -> None:
    disk = Disk()
    keeper = disk.keeper(quiet=30, patience=30)
    keeper.touch()
    await keeper.forget()
    await keeper.flush()
    assert disk.written == []
    assert keeper.state is DraftState.CLEAN
