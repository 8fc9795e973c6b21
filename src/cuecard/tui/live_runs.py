"""Runs that are being played inside this app: started on the engine, watched from any screen."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING

from cuecard.core.errors import Drained, Halt
from cuecard.core.run import RunControl
from cuecard.core.run_events import (
    RunEvent,
    TrialBegan,
    TrialFinished,
    TrialLeftOpen,
    TurnPlayed,
)

if TYPE_CHECKING:
    from cuecard.core.config import Config
    from cuecard.lab.runs import RunOutcome
    from cuecard.store.workspace import Workspace
    from cuecard.tui.engine import Engine
    from cuecard.tui.state.qc_live import LiveQc


class LiveRun:
    """One run on the engine. Told of events there, asked from the screen."""

    def __init__(self) -> None:
        self.control = RunControl()
        self._future: Future[RunOutcome] | None = None
        self._lock = threading.Lock()
        self._turns: dict[int, int] = {}
        self._problems: dict[int, str] = {}

    def begin(
        self, engine: Engine, workspace: Workspace, run_id: int, config: Config, concurrency: int
    ) -> None:
        from cuecard.lab.runs import resume_run

        self._future = engine.submit(
            resume_run(
                workspace,
                run_id,
                config=config,
                concurrency=concurrency,
                on_event=self.told,
                control=self.control,
            )
        )

    @property
    def going_on(self) -> bool:
        return self._future is not None and not self._future.done()

    @property
    def playing(self) -> dict[int, int]:
        """Agent turns played so far in this process, by the id of each trial that is on now."""
        with self._lock:
            return dict(self._turns)

    @property
    def problems(self) -> dict[int, str]:
        """Why a trial could not begin or be judged, by its id."""
        with self._lock:
            return dict(self._problems)

    def trouble(self) -> BaseException | None:
        """Why the run as a whole stopped, once it has; None if it went well or goes on."""
        if self._future is None or not self._future.done() or self._future.cancelled():
            return None
        return self._future.exception()

    def halt(self) -> Halt | None:
        """Why the run paused by itself, once it has: its model, its budget. Not when somebody asked."""
        if self.going_on or isinstance(self.control.halt, Drained):
            return None
        return self.control.halt

    def unjudged(self) -> int:
        """How many trials could not be judged, once the run is over."""
        if self.going_on or self._future is None or self._future.cancelled() or self.trouble():
            return 0
        return len(self._future.result().unjudged)

    def told(self, event: RunEvent) -> None:
        """Take in what the run tells, on the engine's thread."""
        with self._lock:
            match event:
                case TrialBegan(cell=cell):
                    self._turns[int(cell)] = 0
                case TurnPlayed(cell=cell, turn=turn):
                    self._turns[int(cell)] = turn + 1
                case TrialFinished(cell=cell, problem=problem):
                    self._turns.pop(int(cell), None)
                    if problem:
                        self._problems[int(cell)] = problem
                case TrialLeftOpen(cell=cell):
                    self._turns.pop(int(cell), None)
                case _:
                    pass


class LiveRuns:
    """By run id. A run that is over stays here until it is played again. `qc`: stages of quality control,
    by task id.
    """

    def __init__(self) -> None:
        self._runs: dict[int, LiveRun] = {}
        self.qc: dict[str, LiveQc] = {}

    def get(self, run_id: int) -> LiveRun | None:
        return self._runs.get(run_id)

    def going_on(self, run_id: int) -> bool:
        live = self._runs.get(run_id)
        return live is not None and live.going_on

    def play(
        self,
        engine: Engine,
        workspace: Workspace,
        run_id: int,
        config: Config,
        concurrency: int,
    ) -> LiveRun:
        """Play the run's open trials; if it is going on here already, nothing happens."""
        live = self._runs.get(run_id)
        if live is not None and live.going_on:
            return live
        live = self._runs[run_id] = LiveRun()
        live.begin(engine, workspace, run_id, config, concurrency)
        return live
