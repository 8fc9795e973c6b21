"""A run while it is played: the hold of one process on it, the cells of its grid, its sinks, and a tally for screens."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from cuecard.core.archive import outlast
from cuecard.core.config import Config
from cuecard.core.engine.events import (
    CallAnswered,
    Event,
    Marked,
    RunBegan,
    RunEvent,
    Termination,
    TrialBegan,
    TrialEnded,
    TrialFinished,
    TrialLeftOpen,
    TurnPlayed,
)
from cuecard.core.engine.messages import NotesKept, Usage
from cuecard.core.engine.run import Cell, tell
from cuecard.core.engine.step_context import Judge
from cuecard.core.engine.trial import RecordedLog, TrialResult, TrialSetup
from cuecard.core.engine.trial_log import TrialLog
from cuecard.core.evaluation.judging import OnCall, Subject, is_unjudged, judge_trial
from cuecard.core.evaluation.plans import settings_of, setup_for
from cuecard.core.i18n import _
from cuecard.core.llm.hub import ModelHub
from cuecard.core.probes.results import EXAMINER
from cuecard.core.records import RunRecord, TrialRecord
from cuecard.core.tasks.models import Task
from cuecard.core.worker_archive import LAPSE, AlreadyPlayed, Claim, Lease
from cuecard.core.worlds.replay import EventTape, RecordedAnswers

if TYPE_CHECKING:
    from cuecard.core.archive import Archive


_LOG = logging.getLogger(__name__)

OnEvent = Callable[[Event], None]
OnStream = Callable[[int, str], None]


class TrialSink:
    """Stores events through the archive's sink, and calls `on_event` with each when it is safe.

    After an event could not be stored, no more are: a log must not continue after a gap, or beside another
    session's log. `append` then raises the first error again.
    """

    def __init__(
        self,
        workspace: Archive,
        trial_id: int,
        on_event: OnEvent | None = None,
        on_stream: OnStream | None = None,
        claim: Claim | None = None,
    ) -> None:
        self._store = workspace.sink(trial_id, claim)
        self._on_event = on_event
        self._on_stream = on_stream
        self._trouble: Exception | None = None

    @property
    def trouble(self) -> Exception | None:
        """The error after which nothing is stored any more; None without one."""
        return self._trouble

    async def append(self, event: Event) -> None:
        if self._trouble:
            raise self._trouble
        try:
            await self._store.append(event)
        except asyncio.CancelledError:
            tell(self._on_event, event)  # It is stored all the same.
            raise
        except Exception as error:
            self._trouble = error
            raise
        tell(self._on_event, event)

    def stream(self, turn: int, text: str) -> None:
        tell(self._on_stream, turn, text)


# Failures that have nothing to do with the dialogue: a retried trial goes on from there. After the others the
# same dialogue would lead to the same end, so it starts over.
_GOES_ON = (Termination.API_ERROR, Termination.INTERNAL_ERROR, Termination.CANCELLED)


@dataclass(frozen=True)
class _Held:
    """What the workspace holds for one trial."""

    task: Task
    past: list[Event]
    tape: RecordedAnswers | None
    notes: tuple[str, ...]
    source: RecordedLog | None


class Grid:
    """Makes the cells of one run. A trial's data are read when it starts and dropped when it is over, except notes for
    a lifelong memory. `on_call` is called with each call of a judge.
    """

    def __init__(
        self,
        workspace: Archive,
        run: RunRecord,
        config: Config,
        hub: ModelHub,
        judges: Sequence[Judge],
        on_call: OnCall | None = None,
    ) -> None:
        self._workspace = workspace
        self._run = run
        self._config = config
        self._hub = hub
        self._judges = judges
        self._on_call = on_call
        self._settings = settings_of(run)
        # Cells are prepared on several threads. Its modules import each other: two threads at once may find them half made.
        import_module("rapidfuzz.process")
        self._lock = threading.Lock()
        self._tasks: dict[tuple[str, int], Task] = {}
        self._replayed: dict[tuple[object, ...], int] | None = None
        self._tapes: dict[str, EventTape] = {}
        self._notes: dict[str, list[tuple[str, ...]]] = {}

    def cell(self, trial: TrialRecord) -> Cell:
        async def begin() -> tuple[TrialSetup, TrialLog]:
            return await self._begin(trial, None, retry=trial.termination is not None)

        async def after(result: TrialResult, events: tuple[Event, ...]) -> None:
            self._remember(trial, events)
            await self._judge(trial, result, events, self._judges, None)

        return Cell(str(trial.id), begin, after)

    def claimed(self, claim: Claim, check: Callable[[], None]) -> Cell:
        """The cell of a trial that a worker holds. What others did to it before is read when it begins."""
        known: list[TrialRecord] = []

        async def begin() -> tuple[TrialSetup, TrialLog]:
            trial = await outlast(self._workspace, self._workspace.runs.trial, claim.trial_id)
            known.append(trial)
            # Others may have played trials whose notes this one is to have.
            self._notes.pop(trial.agent.name, None)
            failed = trial.termination is not None and trial.termination.is_failure
            retry = failed and claim.purpose == "retry"
            setup, trial_log = await self._begin(trial, claim, retry=retry)
            if claim.poisons and (trial.termination is None or retry):
                died = _("{n} workers died while they played it").format(n=claim.lost)
                ended = TrialEnded(termination=Termination.INTERNAL_ERROR, detail=died)
                await trial_log.record(ended)
            return setup, trial_log

        async def after(result: TrialResult, events: tuple[Event, ...]) -> None:
            trial, judges = known[0], self._judges
            if trial.termination is not None:  # Another may have judged it, and died then.
                trial = await outlast(self._workspace, self._workspace.runs.trial, claim.trial_id)
                judged = await outlast(
                    self._workspace, self._workspace.verdicts.of_trial, claim.trial_id
                )
                newest = {one.judgement.judge.name: one for one in reversed(judged)}
                judges = [j for j in judges if is_unjudged(trial, newest.get(j.ref.name))]
            await self._judge(trial, result, events, judges, claim)

        return Cell(str(claim.trial_id), begin, after, check)

    async def _judge(
        self,
        trial: TrialRecord,
        result: TrialResult,
        events: tuple[Event, ...],
        judges: Sequence[Judge],
        claim: Claim | None,
    ) -> None:
        if trial.agent.kind == EXAMINER:
            return
        subject = Subject(self._task(trial), result.prediction, events)
        for judge in judges:
            await judge_trial(
                self._workspace,
                trial.id,
                judge,
                on_call=self._on_call,
                subject=subject,
                claim=claim,
            )

    async def _begin(
        self, trial: TrialRecord, claim: Claim | None, *, retry: bool
    ) -> tuple[TrialSetup, TrialLog]:
        held = await outlast(self._workspace, self._read, trial)
        # Players are made on the run's loop: clients of models belong to it.
        setup = setup_for(
            trial,
            held.task,
            self._run.limits,
            self._settings.player_names(trial.agent.name),
            self._config,
            self._hub,
            tape=held.tape,
            notes=held.notes,
        )
        sink = TrialSink(self._workspace, trial.id, claim=claim)
        trial_log = TrialLog(sink, held.past, source=held.source)
        if retry and trial.termination is not None:
            goes_on = trial.termination in _GOES_ON
            await trial_log.retry(keep=goes_on, reason=trial.termination.value)
        return setup, trial_log

    def _read(self, trial: TrialRecord) -> _Held:
        source = self._source(trial)
        return _Held(
            task=self._task(trial),
            # Only this run writes to the trial: one without events when it was listed has none now.
            past=self._workspace.runs.log(trial.id) if trial.events else [],
            tape=self._tape(trial),
            notes=source.notes if source else self._notes_for(trial),
            source=source,
        )

    def _task(self, trial: TrialRecord) -> Task:
        version = (trial.task_id, trial.revision)
        with self._lock:
            if version not in self._tasks:
                self._tasks[version] = self._workspace.tasks.revision(*version).task
            return self._tasks[version]

    def _tape(self, trial: TrialRecord) -> RecordedAnswers | None:
        """The tool answers that the run named by a replay world recorded for this task; None for other worlds."""
        world = self._config.world(self._settings.world)
        if world.kind != "replay" or self._settings.replay is not None:
            return None
        task_id = trial.task_id
        with self._lock:
            if task_id not in self._tapes:
                trials = [t for t in self._workspace.runs.trials(world.run) if t.task_id == task_id]
                logs = [self._workspace.runs.events(t.id) for t in trials]
                self._tapes[task_id] = EventTape(logs)
        return self._tapes[task_id].preferring(trial.agent.name, trial.sample)

    def _source(self, trial: TrialRecord) -> RecordedLog | None:
        """The recording of the same trial in the run that is replayed; None if no run is."""
        if self._settings.replay is None:
            return None
        with self._lock:
            if self._replayed is None:
                old_trials = self._workspace.runs.trials(self._settings.replay)
                self._replayed = {_cell_of(old): old.id for old in old_trials}
        old = self._replayed.get(_cell_of(trial))
        return RecordedLog(self._workspace.runs.events(old) if old is not None else ())

    def _notes_for(self, trial: TrialRecord) -> tuple[str, ...]:
        """The notes that the trial's agent kept in trials of this run that have ended, in the order of their ends."""
        if self._settings.probe is not None:
            return ()
        agent = self._config.agent(trial.agent.name)
        if getattr(agent, "memory", "none") != "lifelong":
            return ()
        name = trial.agent.name
        with self._lock:
            if name not in self._notes:
                ended = [
                    t
                    for t in self._workspace.runs.trials(self._run.id)
                    if t.agent.name == name and t.termination is not None
                ]
                ended.sort(key=lambda t: (t.ended_at or t.created_at, t.id))
                logs = (self._workspace.runs.outline(t.id).events for t in ended)
                self._notes[name] = [_kept(log) for log in logs]
        return tuple(note for notes in self._notes[name] for note in notes)

    def _remember(self, trial: TrialRecord, events: Sequence[Event]) -> None:
        if trial.agent.name in self._notes:
            self._notes[trial.agent.name].append(_kept(events))


def _cell_of(trial: TrialRecord) -> tuple[object, ...]:
    agent = trial.agent.model_dump_json()
    return trial.task_id, trial.revision, agent, trial.sample, trial.seed


def _kept(events: Sequence[Event]) -> tuple[str, ...]:
    marks = (event.body.mark for event in events if isinstance(event.body, Marked))
    return tuple(note for mark in marks if isinstance(mark, NotesKept) for note in mark.notes)


_LOOK = 1.0


@asynccontextmanager
async def playing(
    workspace: Archive, run_id: int, by: str, on_lost: Callable[[], None] | None = None
) -> AsyncGenerator[Lease]:
    """Hold the run for the block, so that no other process plays, judges or closes it. Raises what `take` raises."""
    lease = await take(workspace, run_id, by, on_lost)
    try:
        yield lease
    finally:
        await asyncio.to_thread(workspace.leases.release, lease)


async def take(
    workspace: Archive, run_id: int, by: str, on_lost: Callable[[], None] | None = None
) -> Lease:
    """See `Leases.take`. Where it is unclear whether the present holder is alive, waits until that is known."""
    until = time.monotonic() + LAPSE + _LOOK
    while True:
        taking = asyncio.ensure_future(
            asyncio.to_thread(workspace.leases.take, run_id, by, on_lost)
        )
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            taking.add_done_callback(lambda taken: _give_back(workspace, taken))
            raise
        except AlreadyPlayed as error:
            if error.certain or time.monotonic() > until:
                raise
            await asyncio.sleep(_LOOK)


def _give_back(workspace: Archive, taken: asyncio.Future[Lease]) -> None:
    if not taken.cancelled() and taken.exception() is None:
        workspace.leases.release(taken.result())


_WINDOW = 30.0
_REASONS = 5


class TrialProblem(NamedTuple):
    """Why a trial failed, or what went wrong after it."""

    cell: str
    reason: str


class Tally:
    """Counts of a run under way, for screens. Events may come on one thread and values be read on another."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._turns: deque[float] = deque()
        self.total = self.ended = self.failed = self.problems = self.turns = self.calls = 0
        self.usage = Usage()
        self.cost: float | None = None
        self.by_cell: dict[str, int | None] = {}
        self.ends: Counter[str] = Counter()
        self.troubles: deque[TrialProblem] = deque(maxlen=_REASONS)

    def on_event(self, event: RunEvent) -> None:
        match event:
            case RunBegan(cells=cells):
                self.total = cells
                self._began = self._clock()
            case TrialBegan(cell=cell, resumed=resumed):
                # A resumed trial's turn is unknown until its next turn is over.
                self.by_cell[cell] = None if resumed else 1
            case TurnPlayed(cell=cell, turn=turn):
                self.by_cell[cell] = turn + 2
                self.turns += 1
                self._turns.append(self._clock())
            case CallAnswered(usage=usage, cost=cost):
                self.calls += 1
                self.usage = self.usage.plus(usage)
                if cost is not None:
                    self.cost = (self.cost or 0.0) + cost
            case TrialFinished(cell=cell, termination=end, detail=detail, problem=problem):
                self.by_cell.pop(cell, None)
                self.ended += 1
                self.failed += end.is_failure
                self.problems += bool(problem)
                self.ends[end.value] += 1
                if end.is_failure or problem:
                    self.troubles.append(TrialProblem(cell, problem or detail))
            case TrialLeftOpen(cell=cell):
                self.by_cell.pop(cell, None)
            case _:
                pass

    @property
    def turns_a_second(self) -> float:
        """Agent turns per second over the last half minute."""
        now = self._clock()
        while self._turns and now - self._turns[0] > _WINDOW:
            self._turns.popleft()
        span = min(now - self._began, _WINDOW)
        return len(self._turns) / span if span > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the run ends at the average pace so far; None before the first trial has ended."""
        if not self.ended or not self.total:
            return None
        return (self._clock() - self._began) / self.ended * (self.total - self.ended)
