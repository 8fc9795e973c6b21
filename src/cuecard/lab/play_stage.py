"""Plays one trial from its journal, as often as somebody stops it."""

from __future__ import annotations

import asyncio

from cuecard.core.journal import Journal
from cuecard.core.trial import TrialResult, TrialSetup, close_players, play


class Stage:
    """The playing of a trial that can be halted and begun again; it knows nothing of who does that."""

    def __init__(self, setup: TrialSetup, journal: Journal) -> None:
        self._setup = setup
        self._journal = journal
        self._go = asyncio.Event()
        self._playing: asyncio.Task[TrialResult] | None = None
        self._halted: asyncio.Task[TrialResult] | None = None

    def begin(self) -> None:
        """Play on from what is recorded."""
        self._go.set()

    async def halt(self) -> bool:
        """Stop playing; returns when nothing is recorded any more. False: it had come to its end before,
        well or badly.
        """
        self._go.clear()
        playing = self._halted = self._playing
        if playing is None:
            return True
        playing.cancel()
        await asyncio.wait({playing})
        return playing.cancelled()

    async def play(self) -> TrialResult:
        """Return when the trial has ended, and raise what `core.trial.play` raises."""
        try:
            while True:
                await self._go.wait()
                self._playing = asyncio.create_task(
                    play(self._setup, self._journal, leave_open=True)
                )
                await asyncio.wait({self._playing})
                if self._playing is not self._halted or not self._playing.cancelled():
                    return self._playing.result()
        except asyncio.CancelledError:
            if self._playing is not None and not self._playing.done():
                # Told once: a second time would disturb how it comes to its end.
                if not self._playing.cancelling():
                    self._playing.cancel()
                await asyncio.wait({self._playing})
            raise
        finally:
            await close_players(self._setup)
