"""Stages of quality control that are being run inside this app."""

from __future__ import annotations

import threading
from collections.abc import Collection
from concurrent.futures import Future
from typing import TYPE_CHECKING

from cuecard.annotate.qc.stages import StageName
from cuecard.core.i18n import _, ngettext
from cuecard.core.probes.results import ProbeName, ProbeOutcome
from cuecard.core.run import RunControl
from cuecard.core.run_events import (
    CallAnswered,
    RunBegan,
    RunEvent,
    TrialBegan,
    TrialFinished,
    TrialLeftOpen,
)
from cuecard.lab.probes_plan import PROBE_LABEL

if TYPE_CHECKING:
    from cuecard.core.config import Config
    from cuecard.store.workspace import Workspace
    from cuecard.tui.engine import Engine


class LiveQc:
    """The stages of one task on the engine. Told of events there, asked from the screen."""

    def __init__(self) -> None:
        self.control = RunControl()
        self._future: Future[tuple[ProbeOutcome, ...]] | None = None
        self._lock = threading.Lock()
        self._probe: ProbeName | None = None
        self._total = self._ended = self._playing = self._calls = 0
        self._cost: float | None = None
        self._problem = ""
        self.begun = 0
        """How many probes have begun: with each, the one before is over."""

    def begin(
        self,
        engine: Engine,
        workspace: Workspace,
        task_id: str,
        stages: Collection[StageName],
        config: Config,
        by: str,
    ) -> None:
        from cuecard.annotate.qc.pipeline import run_stages

        self._future = engine.submit(
            run_stages(
                workspace,
                [task_id],
                stages,
                config=config,
                by=by,
                control=self.control,
                on_probe=self.begins,
                on_event=self.told,
            )
        )

    @property
    def going_on(self) -> bool:
        return self._future is not None and not self._future.done()

    def progress(self, currency: str) -> str:
        """What is being played now, in a line."""
        with self._lock:
            if self._probe is None:
                return _("Beginning…")
            parts = [
                _("Playing {probe}: {ended} of {total}").format(
                    probe=_(PROBE_LABEL[self._probe]), ended=self._ended, total=self._total
                )
            ]
            if self._playing:
                parts.append(_("{n} under way").format(n=self._playing))
            if self._calls:
                calls = ngettext("{n} call", "{n} calls", self._calls)
                parts.append(calls.format(n=self._calls))
            if self._cost is not None:
                parts.append(f"{self._cost:.4f} {currency}")
        return " · ".join(parts)

    def trouble(self) -> BaseException | None:
        """Why it ended before its end, once it has; None if it went well or somebody stopped it."""
        from cuecard.core.errors import Drained

        if self._future is None or not self._future.done() or self._future.cancelled():
            return None
        halt = self.control.halt
        return self._future.exception() or (None if isinstance(halt, Drained) else halt)

    def problem(self) -> str:
        """The first thing that went wrong in a trial; "" if nothing did."""
        with self._lock:
            return self._problem

    def begins(self, probe: ProbeName) -> None:
        """The next probe's turn; on the engine's thread, as `told` is."""
        with self._lock:
            self._probe = probe
            self.begun += 1
            self._total = self._ended = self._playing = 0

    def told(self, event: RunEvent) -> None:
        """Take in what a run tells."""
        with self._lock:
            match event:
                case RunBegan(cells=cells):
                    self._total += cells
                case TrialBegan():
                    self._playing += 1
                case TrialFinished(problem=problem):
                    self._playing = max(self._playing - 1, 0)
                    self._ended += 1
                    self._problem = self._problem or problem
                case TrialLeftOpen():
                    self._playing -= 1
                case CallAnswered(cost=cost):
                    self._calls += 1
                    if cost is not None:
                        self._cost = (self._cost or 0.0) + cost
                case _:
                    pass
