"""How far judging has come and what it costs, on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.cli.call_progress import CallProgress
from cuecard.core.i18n import _

if TYPE_CHECKING:
    from cuecard.core.calls import RecordedCall


class Progress(CallProgress):
    """Of one judge after another."""

    def __init__(self, currency: str) -> None:
        super().__init__(currency, _("Judging…"))
        self._name = ""

    def begin(self, judge: str) -> None:
        """The next judge's turn."""
        self._name = judge
        self.moved(0, 0)

    def moved(self, done: int, total: int) -> None:
        """`done` of `total` are judged."""
        line = _("Judging with {judge}: {done} of {total}, {calls} calls")
        self.show(line.format(judge=self._name, done=done, total=total, calls=self.calls))

    def called(self, call: RecordedCall) -> None:
        """A call was made; calls that were only read back are not told."""
        self.count("judge", call.model, call.reply)
