"""How far the asking of shadows has come and what it costs, on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.cli.call_progress import CallProgress
from cuecard.core.i18n import _, ngettext

if TYPE_CHECKING:
    from cuecard.core.parts import ModelReply, PlayerRef


class Progress(CallProgress):
    def __init__(self, currency: str) -> None:
        super().__init__(currency, _("Asking…"))

    def moved(self, done: int, total: int) -> None:
        """`done` of `total` turns were asked about."""
        line = ngettext(
            "Asking: {done} of {total} turns, {calls} call",
            "Asking: {done} of {total} turns, {calls} calls",
            self.calls,
        )
        self.show(line.format(done=done, total=total, calls=self.calls))

    def called(self, player: PlayerRef, reply: ModelReply) -> None:
        """A call was made."""
        self.count("user", player.model, reply)
