"""What quality control shows on stderr while probes are played."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from cuecard.cli.output import console, note
from cuecard.cli.progress import tally_line
from cuecard.core.i18n import _
from cuecard.core.run_events import RunBegan, RunEvent
from cuecard.core.text import one_line
from cuecard.lab.probes_plan import PROBE_LABEL
from cuecard.lab.tally import Tally

if TYPE_CHECKING:
    from rich.status import Status

    from cuecard.core.probes.results import ProbeName


class Watch:
    """A line that moves where stderr is a terminal; elsewhere a line for each probe that plays."""

    def __init__(self, currency: str) -> None:
        self._currency = currency
        self._tally = Tally()
        self._label = ""
        self._status: Status | None = None

    def __enter__(self) -> Watch:
        if console(stderr=True).is_terminal:
            self._status = console(stderr=True).status("…")
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

    def begins(self, probe: ProbeName) -> None:
        """The next probe's turn."""
        self._label, self._tally = _(PROBE_LABEL[probe]), Tally()
        self._show()

    def told(self, event: RunEvent) -> None:
        """Take in what the probe's run tells."""
        self._tally.told(event)
        if self._status:
            self._show()
        elif isinstance(event, RunBegan) and event.cells:
            note(_("{probe}: {n} to play").format(probe=self._label, n=event.cells))

    def _show(self) -> None:
        if self._status:
            counts = f"{self._tally.ended}/{self._tally.total}"
            line = f"{self._label} {counts} · {tally_line(self._tally, self._currency)}"
            self._status.update(one_line(line))
