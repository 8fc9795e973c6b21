"""How far the asking of shadows has come and what it costs, on stderr."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from cuecard.cli.output import console, note
from cuecard.core.i18n import _, ngettext
from cuecard.core.text import one_line

if TYPE_CHECKING:
    from rich.status import Status

    from cuecard.core.parts import ModelReply, PlayerRef
    from cuecard.store.records import UsageRecord


class Progress:
    """A line that moves while the block runs, where stderr is a terminal; `report` for its end."""

    def __init__(self, currency: str) -> None:
        self._currency = currency
        self._calls: list[UsageRecord] = []
        self._status: Status | None = None

    def __enter__(self) -> Progress:
        if console(stderr=True).is_terminal:
            self._status = console(stderr=True).status(_("Asking…"))
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

    def moved(self, done: int, total: int) -> None:
        """`done` of `total` turns were asked about."""
        if self._status:
            calls = len(self._calls)
            line = ngettext(
                "Asking: {done} of {total} turns, {calls} call",
                "Asking: {done} of {total} turns, {calls} calls",
                calls,
            )
            self._status.update(one_line(line.format(done=done, total=total, calls=calls)))

    def called(self, player: PlayerRef, reply: ModelReply) -> None:
        """A call was made."""
        from cuecard.store.records import UsageRecord

        used = UsageRecord(
            trial_id=0,
            payer="user",
            model=player.model,
            calls=1,
            usage=reply.usage,
            cost=reply.cost,
            priced=int(reply.cost is not None),
        )
        self._calls.append(used)

    def report(self) -> None:
        """What the calls came to, where there were any."""
        from cuecard.cli.run_report import spent_line

        if line := spent_line(self._calls, self._currency):
            note(line)
