"""How far work with a model has come and what its calls cost, on stderr."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from cuecard.cli.output import console, note
from cuecard.core.text import one_line

if TYPE_CHECKING:
    from rich.status import Status

    from cuecard.core.parts import ModelReply
    from cuecard.store.records import UsageRecord


class CallProgress:
    """A line that moves while the block runs, where stderr is a terminal; `report` for its end."""

    def __init__(self, currency: str, line: str) -> None:
        self._currency = currency
        self._line = line
        self._calls: list[UsageRecord] = []
        self._status: Status | None = None

    def __enter__(self) -> Self:
        self._status = console(stderr=True).status(self._line)
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

    @property
    def calls(self) -> int:
        """How many were made."""
        return len(self._calls)

    def show(self, line: str) -> None:
        if self._status:
            self._status.update(one_line(line))

    def count(self, payer: str, model: str, reply: ModelReply) -> None:
        """Take in a call that was made."""
        from cuecard.store.records import UsageRecord

        self._calls.append(
            UsageRecord(
                trial_id=0,
                payer=payer,
                model=model,
                calls=1,
                usage=reply.usage,
                cost=reply.cost,
                priced=int(reply.cost is not None),
            )
        )

    def report(self) -> None:
        """What the calls came to, where there were any."""
        from cuecard.cli.run_report import spent_line

        if line := spent_line(self._calls, self._currency):
            note(line)
