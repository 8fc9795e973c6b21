"""Keys that are typed while the focus is on its way wait for it: none is lost, none goes elsewhere."""

from __future__ import annotations

from collections import deque
from typing import Any, Protocol, runtime_checkable

from textual import events
from textual.app import App

PATIENCE = 1.0


@runtime_checkable
class Travels(Protocol):
    """A screen that moves the focus in steps. `awaits_focus`: it is to arrive in a moment."""

    @property
    def awaits_focus(self) -> bool: ...

    def stop_waiting(self) -> None:
        """It did not arrive: nothing waits for it any more."""
        ...


class HoldsKeys(App[str]):
    """Holds what is typed back for `PATIENCE` seconds at most, then it goes where the focus is."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._held: deque[events.Key] = deque()

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and not event.is_forwarded and self._holds(event):
            if not self._held:
                self.set_timer(PATIENCE, self._give_up)
            self._held.append(event)
            return
        await super().on_event(event)
        await self._let_go()

    def _holds(self, event: events.Key) -> bool:
        """Only what a field would take waits for one, and what was typed after it."""
        text = event.is_printable or event.key in ("enter", "tab", "backspace", "space")
        return bool(self._held) or (text and self._travelling is not None)

    @property
    def _travelling(self) -> Travels | None:
        screen = self.screen if self.screen_stack else None
        return screen if isinstance(screen, Travels) and screen.awaits_focus else None

    async def _let_go(self) -> None:
        while self._held and self._travelling is None:
            await super().on_event(self._held.popleft())

    async def _give_up(self) -> None:
        if self._held and (screen := self._travelling) is not None:
            screen.stop_waiting()
        await self._let_go()
