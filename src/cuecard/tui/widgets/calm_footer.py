"""A footer that waits until keys have stopped to change."""

from __future__ import annotations

from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Footer

SETTLED = 0.06
"""Seconds without a change after which it is drawn."""


class CalmFooter(Footer):
    """Textual's makes its keys anew at every change of focus or of what can be done, a dozen times while a screen
    opens, and each time costs as much as a page of a table. This one does so once, when nothing changes any more,
    and not at all where it would say the same.
    """

    def __init__(self) -> None:
        super().__init__(show_command_palette=False)
        self._waiting: Timer | None = None
        self._said: object = None

    def bindings_changed(self, screen: Screen[object]) -> None:
        self._bindings_ready = True
        if not self.is_attached or screen is not self.screen:
            return
        if self._waiting is None:
            self._waiting = self.set_timer(SETTLED, self._draw)
        else:
            self._waiting.reset()

    async def _draw(self) -> None:
        self._waiting = None
        if not self.is_attached or not self.screen.is_current:
            return
        said = [
            (active.binding.key, active.binding.description, active.enabled)
            for active in self.screen.active_bindings.values()
            if active.binding.show
        ]
        if said != self._said:
            self._said = said
            await self.recompose()
