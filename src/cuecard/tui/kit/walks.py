"""Screens that walk through a session by keys. Keys are worked off in the order they were pressed, so that none is lost at any
speed.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from cuecard.core.errors import DatabaseAway
from cuecard.tui.app import CuecardScreen, guarded

SessionT = TypeVar("SessionT")
StepT = TypeVar("StepT")


class WalkScreen(CuecardScreen[None], Generic[SessionT, StepT]):
    """Say how the session is opened (`begin`), what a key makes of it (`step_of`), and how that is shown (`show`). `press` a
    function of the session, or the name of what is asked above the item (`aside`), which waits its turn like any other key.
    """

    def __init__(self) -> None:
        super().__init__()
        self.session: SessionT | None = None
        self.step: StepT | None = None
        """What is shown now; None while the first item is looked for."""
        self._pressed: asyncio.Queue[Callable[[SessionT], Any] | str] = asyncio.Queue()
        self._turn = threading.Lock()
        self._busy = False

    async def begin(self) -> SessionT | None:
        """Open the session; None to leave."""
        raise NotImplementedError

    def step_of(self, session: SessionT, work: Callable[[SessionT], Any]) -> StepT:
        """Do what a key asks, and say what the session looks like then. Runs in a thread."""
        raise NotImplementedError

    def show(self, step: StepT) -> None:
        raise NotImplementedError

    async def aside(self, session: SessionT, what: str) -> None:
        """Open something above the item, and wait until it is closed."""

    @property
    def pending(self) -> bool:
        """Whether what is shown is older than what was pressed."""
        return self._busy or not self._pressed.empty()

    def press(self, work: Callable[[SessionT], Any] | str) -> None:
        self._pressed.put_nowait(work)

    async def work_off(self, session: SessionT, work: Callable[[SessionT], Any]) -> StepT:
        """One key at a time. Once begun it is finished, also when the screen closes meanwhile."""

        def in_turn() -> StepT:
            with self._turn:
                return self.step_of(session, work)

        return await asyncio.shield(asyncio.to_thread(in_turn))

    def on_mount(self) -> None:
        self.walk()

    async def on_unmount(self) -> None:
        # Whoever leaves in a hurry has decided what they pressed the keys for.
        while self.session is not None and not self._pressed.empty():
            work = self._pressed.get_nowait()
            if callable(work):
                with suppress(DatabaseAway):
                    await self.work_off(self.session, work)

    @guarded("walk")
    async def walk(self) -> None:
        """Open the session, then work off keys one after the other until the screen closes."""
        session = await self.begin()
        if session is None:
            self.dismiss()
            return
        self.session = session
        work: Callable[[SessionT], Any] | str = _nothing
        while True:
            self._busy = True
            try:
                if callable(work):
                    step = await self.work_off(session, work)
                    self._busy = False
                    self.show(step)
                else:
                    await self.aside(session, work)
            except DatabaseAway as error:
                # What comes next cannot be read, and nobody decides on what they do not see.
                self.report(error)
                await self.services.back(self._pressed)
                work = _nothing
                continue
            except Exception as error:  # noqa: BLE001 - one failed key must not end the walk
                self.report(error)
            self._busy = False
            self.refresh_bindings()
            with self.cue_app.resting(self._pressed.empty):
                work = await self._pressed.get()

    def action_leave(self) -> None:
        self.dismiss()


def _nothing(_session: object) -> None:
    """Look at the item as it stands."""
