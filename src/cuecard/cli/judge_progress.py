"""How far judging has come and what it costs, on stderr."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from cuecard.cli.output import console, note
from cuecard.core.i18n import _
from cuecard.core.text import one_line

if TYPE_CHECKING:
    from rich.status import Status

    from cuecard.core.calls import RecordedCall
    from cuecard.store.records import UsageRecord


class Progress:
    """A line that moves while the block runs, where stderr is a terminal; `report` for its end."""

    def __init__(self, currency: str) -> None:
        self._currency = currency
        self._calls: list[UsageRecord] = []
        self._status: Status | None = None
        self._name = ""

    def __enter__(self) -> Progress:
        self._status = console(stderr=True).status(_("Judging…"))
        self._status.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._status:
            self._status.stop()

    def begin(self, judge: str) -> None:
        """The next judge's turn."""
        self._name = judge
        self.moved(0, 0)

    def moved(self, done: int, total: int) -> None:
        """`done` of `total` are judged."""
        if self._status:
            line = _("Judging with {judge}: {done} of {total}, {calls} calls")
            text = line.format(judge=self._name, done=done, total=total, calls=len(self._calls))
            self._status.update(one_line(text))

    def called(self, call: RecordedCall) -> None:
        """A call was made; calls that were only read back are not told."""
        from cuecard.store.records import UsageRecord

        reply = call.reply
        self._calls.append(
            UsageRecord(
                trial_id=0,
                payer="judge",
                model=call.model,
                calls=1,
                usage=reply.usage,
                cost=reply.cost,
                priced=int(reply.cost is not None),
            )
        )

    def report(self) -> None:
        """What the calls came to, where there were any."""
        from cuecard.cli.run_report import spent_line

        line = spent_line(self._calls, self._currency)
        if line:
            note(line)
