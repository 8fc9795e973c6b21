"""Runs, quality control and exams in this app: started on the engine, watched from any screen."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cuecard.core.engine.events import (
    RunBegan,
    RunEvent,
    Termination,
    TrialBegan,
    TrialFinished,
    TrialLeftOpen,
    TurnPlayed,
)
from cuecard.core.engine.messages import Usage
from cuecard.core.engine.run_control import RunControl
from cuecard.core.errors import Halt, PausedByPerson, StoppedByPerson
from cuecard.core.evaluation.probe_plan import PROBE_LABEL
from cuecard.core.evaluation.run_trials import Tally, TrialProblem
from cuecard.core.evaluation.runs import budget_of
from cuecard.core.evaluation.sharing import Budget
from cuecard.core.i18n import _, plural
from cuecard.core.records import RunRecord, RunState

if TYPE_CHECKING:
    from cuecard.annotate.quality.decision_table import StageName
    from cuecard.core.config import Config
    from cuecard.core.engine.step_context import RecordedCall
    from cuecard.core.evaluation.exam import ExamPlan
    from cuecard.core.evaluation.judging import JudgeFailure, OnProgress
    from cuecard.core.evaluation.rescoring import RescorePlan
    from cuecard.core.evaluation.runs import RunOutcome
    from cuecard.core.probes.results import ProbeName
    from cuecard.store.workspace import Workspace
    from cuecard.tui.engine import Engine


@dataclass(frozen=True)
class EndedTrial:
    """How a trial ended while it was watched."""

    termination: Termination
    detail: str
    problem: str


@dataclass(frozen=True)
class Pace:
    """The progress of a run in this process. `total`: trials to play; `cost`: None if no call had a price;
    `seconds_left`: None before the first trial has ended; `troubles`: the last errors, newest last.
    """

    total: int
    ended: int
    failed: int
    problems: int
    turns_a_second: float
    calls: int
    usage: Usage
    cost: float | None
    seconds_left: float | None
    troubles: tuple[TrialProblem, ...]


class LiveWork:
    """Work on the engine. The engine's thread reports to it how far it is, screens read it."""

    def __init__(self) -> None:
        self.control = RunControl()
        self._future: Future[Any] | None = None

    @property
    def going_on(self) -> bool:
        return self._future is not None and not self._future.done()

    def trouble(self) -> BaseException | None:
        """The error that stopped it as a whole; None if there is none."""
        if self._future is None or not self._future.done() or self._future.cancelled():
            return None
        return self._future.exception()

    def stopped_by(self) -> BaseException | None:
        """What ended it before its end: an error, its model, its budget; None if nothing or a person did."""
        halt = None if self.going_on else self.control.halt
        return self.trouble() or (None if isinstance(halt, StoppedByPerson) else halt)


class LiveExam(LiveWork):
    """An exam that a judge sits. `done` of `total` inputs are judged; `cost`: None if no call had a price."""

    done = total = calls = 0
    cost: float | None = None

    def begin(
        self, engine: Engine, workspace: Workspace, plan: ExamPlan, config: Config, by: str
    ) -> None:
        """Have the judge judge what is left, within the budget of its run."""
        from cuecard.core.evaluation.exam import run_exam

        self.total = plan.left
        self._future = engine.submit(
            run_exam(
                workspace,
                plan,
                config=config,
                by=by,
                control=self.control,
                on_progress=self.moved,
                on_call=self.called,
            )
        )

    def moved(self, done: int, total: int) -> None:
        self.done, self.total = done, total

    def called(self, call: RecordedCall) -> None:
        self.calls += 1
        if call.reply.cost is not None:
            self.cost = (self.cost or 0.0) + call.reply.cost

    @property
    def failures(self) -> tuple[str, ...]:
        """Why inputs were not judged, each reason once, when it is over."""
        if self.going_on or self._future is None or self._future.cancelled() or self.trouble():
            return ()
        return tuple(dict.fromkeys(failure.reason for failure in self._future.result()[1]))


class LiveRescoring(LiveExam):
    """A run judged anew on corrected gold, as `plan` says. `judge`: which one is at work."""

    judge = ""

    def __init__(self, plan: RescorePlan) -> None:
        super().__init__()
        self.plan = plan

    def start(self, engine: Engine, workspace: Workspace, config: Config, by: str) -> None:
        self._future = engine.submit(self._work(workspace, config, by))

    async def _work(
        self, workspace: Workspace, config: Config, by: str
    ) -> tuple[RunRecord, tuple[JudgeFailure, ...]]:
        from cuecard.core.evaluation.rescoring import rescore_run
        from cuecard.core.evaluation.runs import judges_of
        from cuecard.core.evaluation.sharing import within_limits
        from cuecard.core.llm.hub import ModelHub

        def begins(judge: str) -> OnProgress:
            self.judge = judge
            return self.moved

        control = self.control
        async with ModelHub(config) as hub, within_limits(workspace, hub, control=control):
            outcome = await rescore_run(
                workspace,
                self.plan,
                judges_of(self.plan.judges, config, hub),
                by=by,
                on_progress=begins,
                on_call=self.called,
                control=control,
            )
        return outcome.run, outcome.failed

    @property
    def run(self) -> RunRecord | None:
        """The rescored run, once this is over and nothing stopped it."""
        if self.going_on or self._future is None or self._future.cancelled() or self.trouble():
            return None
        return self._future.result()[0]


class LiveQc(LiveWork):
    """The stages of one task on the engine. Told of events there, asked from the screen."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._probe: ProbeName | None = None
        self._tally = Tally()
        self._problem = ""

    def begin(
        self,
        engine: Engine,
        workspace: Workspace,
        task_id: str,
        stages: Collection[StageName],
        config: Config,
        by: str,
    ) -> None:
        from cuecard.annotate.quality.pipeline import run_stages

        self._future = engine.submit(
            run_stages(
                workspace,
                [task_id],
                stages,
                config=config,
                by=by,
                control=self.control,
                on_probe=self.begins,
                on_event=self.on_event,
            )
        )

    def progress(self, currency: str) -> str:
        """What is being played now, in a line."""
        with self._lock:
            if self._probe is None:
                return _("Beginning…")
            tally, probe = self._tally, _(PROBE_LABEL[self._probe])
            told = _("Playing {probe}: {ended} of {total}")
            parts = [told.format(probe=probe, ended=tally.ended, total=tally.total)]
            if tally.by_cell:
                parts.append(_("{n} under way").format(n=len(tally.by_cell)))
            if tally.calls:
                parts.append(plural("{n} call", "{n} calls", tally.calls))
            if tally.cost is not None:
                parts.append(f"{tally.cost:.4f} {currency}")
        return " · ".join(parts)

    def problem(self) -> str:
        """The first thing that went wrong in a trial; "" if nothing did."""
        with self._lock:
            return self._problem

    def begins(self, probe: ProbeName) -> None:
        """The next probe's turn; on the engine's thread, as `on_event` is."""
        with self._lock:
            self._probe = probe
            self._tally.total = self._tally.ended = 0

    def on_event(self, event: RunEvent) -> None:
        """Take in what a run tells."""
        with self._lock:
            before = self._tally.total
            self._tally.on_event(event)
            if isinstance(event, RunBegan):
                self._tally.total += before  # A probe may be several runs.
            elif isinstance(event, TrialFinished):
                self._problem = self._problem or event.problem


class LiveRun(LiveWork):
    """One run on the engine."""

    def __init__(self) -> None:
        super().__init__()
        self.budget = Budget()
        self._lock = threading.Lock()
        self._tally = Tally()
        self._turns: dict[int, int] = {}
        self._problems: dict[int, str] = {}
        self._ended: dict[int, EndedTrial] = {}

    def begin(
        self,
        engine: Engine,
        workspace: Workspace,
        run_id: int,
        config: Config,
        concurrency: int,
        failed: Collection[int] = (),
        by: str = "",
        on_end: Callable[[int], None] | None = None,
    ) -> None:
        """Play the open trials, or only the `failed` ones again, each from where it stopped or from its start."""
        from cuecard.core.evaluation.runs import resume_run

        async def play() -> RunOutcome:
            run = await asyncio.to_thread(workspace.runs.get, run_id)
            self.budget.change(budget_of(run))
            return await resume_run(
                workspace,
                run_id,
                config=config,
                concurrency=concurrency,
                on_event=self.on_event,
                control=self.control,
                budget=self.budget,
                rerun_failed=bool(failed),
                only=failed or None,
                by=by,
            )

        self._future = engine.submit(play())
        if on_end is not None:
            self._future.add_done_callback(lambda _future: on_end(run_id))

    def pause(self) -> None:
        """Stop after some seconds for calls under way; the run can be resumed."""
        self.control.drain(PausedByPerson(_("The run is paused"), _("as asked for")))

    def stop(self) -> None:
        """Stop after some seconds for calls under way, and mark the run as stopped; called again, stop at once."""
        if self.control.halt is None:
            self.control.drain()
        else:
            self.control.cancel()

    @property
    def stopping(self) -> bool:
        """It was asked to pause or stop, and finishes what is being done."""
        return self.going_on and (self.control.halt is not None or self.control.cancelled)

    def seen(self, run: RunRecord) -> RunRecord:
        """The run's record with its present state, which a record read earlier does not have."""
        return run.model_copy(update={"state": RunState.RUNNING}) if self.going_on else run

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

    @property
    def ended(self) -> dict[int, EndedTrial]:
        """How trials have ended in this process, by their id."""
        with self._lock:
            return dict(self._ended)

    @property
    def pace(self) -> Pace:
        with self._lock:
            tally = self._tally
            return Pace(
                total=tally.total,
                ended=tally.ended,
                failed=tally.failed,
                problems=tally.problems,
                turns_a_second=tally.turns_a_second,
                calls=tally.calls,
                usage=tally.usage,
                cost=tally.cost,
                seconds_left=tally.seconds_left,
                troubles=tuple(tally.troubles),
            )

    def halt(self) -> Halt | None:
        """Why the run stopped: its model, its budget, somebody elsewhere; None if it did not, or was asked to here."""
        halt = self.control.halt
        asked = isinstance(halt, StoppedByPerson) and not halt.ordered
        return None if self.going_on or asked else halt

    def unjudged(self) -> int:
        """How many trials could not be judged, once the run is over."""
        if self.going_on or self._future is None or self._future.cancelled() or self.trouble():
            return 0
        return len(self._future.result().unjudged)

    def on_event(self, event: RunEvent) -> None:
        """Take in what the run tells, on the engine's thread."""
        with self._lock:
            self._tally.on_event(event)
            match event:
                case TrialBegan(cell=cell):
                    self._turns[int(cell)] = 0
                    self._ended.pop(int(cell), None)
                case TurnPlayed(cell=cell, turn=turn):
                    self._turns[int(cell)] = turn + 1
                case TrialFinished(cell=cell, termination=end, detail=detail, problem=problem):
                    self._turns.pop(int(cell), None)
                    self._ended[int(cell)] = EndedTrial(end, detail, problem)
                    if problem:
                        self._problems[int(cell)] = problem
                case TrialLeftOpen(cell=cell):
                    self._turns.pop(int(cell), None)
                case _:
                    pass


class LiveRuns:
    """By run id. A run that is over stays here until it is played again. `qc`: stages of quality control,
    by task id; `exams`: of judges, by the ids of their runs; `rescorings`: by the id of the run that is rescored.
    """

    def __init__(self) -> None:
        self._runs: dict[int, LiveRun] = {}
        self.on_end: Callable[[int], None] | None = None
        """Told on another thread which run is over, however it ended."""
        self.qc: dict[str, LiveQc] = {}
        self.exams: dict[int, LiveExam] = {}
        self.rescorings: dict[int, LiveRescoring] = {}

    def get(self, run_id: int) -> LiveRun | None:
        return self._runs.get(run_id)

    def seen(self, run: RunRecord) -> RunRecord:
        """See `LiveRun.seen`."""
        live = self._runs.get(run.id)
        return live.seen(run) if live else run

    def going_on(self, run_id: int) -> bool:
        live = self._runs.get(run_id)
        return live is not None and live.going_on

    @property
    def any_going_on(self) -> bool:
        every = (*self._runs.values(), *self.exams.values(), *self.rescorings.values())
        return any(live.going_on for live in every)

    def play(
        self,
        engine: Engine,
        workspace: Workspace,
        run_id: int,
        config: Config,
        concurrency: int,
        failed: Collection[int] = (),
        by: str = "",
    ) -> LiveRun:
        """Have `by` play the run's open trials, or only the `failed` ones again; if it is going on here already,
        nothing happens.
        """
        live = self._runs.get(run_id)
        if live is not None and live.going_on:
            return live
        live = self._runs[run_id] = LiveRun()
        live.begin(engine, workspace, run_id, config, concurrency, failed, by, self.on_end)
        return live
