"""The one loop that plays many trials: bounded, cancellable, and never ended by a single failure."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from cuecard.core.errors import CuecardError
from cuecard.core.events import Event, Termination, TrialEnded
from cuecard.core.i18n import _
from cuecard.core.journal import Journal
from cuecard.core.parts import Desk, Dialogue, PlayerRef, User, UserReply
from cuecard.core.run_events import (
    RunBegan,
    RunEvent,
    RunFinished,
    RunSummary,
    TrialBegan,
    TrialFinished,
    TrialLeftOpen,
    TurnPlayed,
)
from cuecard.core.trial import TrialResult, TrialSetup, play, prediction_of

__all__ = [
    "Cell",
    "RunBegan",
    "RunControl",
    "RunEvent",
    "RunFinished",
    "RunSummary",
    "TrialBegan",
    "TrialFinished",
    "TrialLeftOpen",
    "TurnPlayed",
    "run_grid",
]

_LOG = logging.getLogger(__name__)

Begin = Callable[[], Awaitable[tuple[TrialSetup, Journal]]]
After = Callable[[TrialResult, tuple[Event, ...]], Awaitable[None]]


@dataclass(frozen=True)
class Cell:
    """One trial of a grid. `begin` makes its players and its journal when its time has come; a
    journal with a past resumes the trial. `after` judges, scores or stores what came out.
    """

    id: str
    begin: Begin
    after: After | None = None


class RunControl:
    """Lets anyone, on any thread, stop a run. One control serves one run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: Callable[[], None] = lambda: None
        self._cancelled = False
        self._record = False

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    @property
    def records(self) -> bool:
        """Whether open trials are to end as `cancelled` rather than stay open."""
        return self._record

    def cancel(self, *, record: bool = False) -> None:
        """Begin no more trials and stop the open ones where they stand. They stay open, to be
        resumed; with `record` they end as `cancelled`.
        """
        with self._lock:
            if self._cancelled:
                return
            self._cancelled, self._record = True, record
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._stop)

    def attach(self, stop: Callable[[], None]) -> None:
        """Have `stop` called, on the running loop, when the run is cancelled."""
        with self._lock:
            self._loop, self._stop = asyncio.get_running_loop(), stop

    def detach(self) -> None:
        with self._lock:
            self._loop = None


async def run_grid(
    cells: Sequence[Cell],
    *,
    concurrency: int,
    on_event: Callable[[RunEvent], None],
    control: RunControl | None = None,
) -> RunSummary:
    """Play all cells, at most `concurrency` at a time, in their order.

    Whatever fails in a cell is told in its `TrialFinished` and ends nothing else. A cell whose journal
    already holds its end is not played again, but its `after` runs. When the caller's own task is
    cancelled, open trials stay open and the cancellation passes on.
    """
    if concurrency < 1:
        raise ValueError("concurrency must be at least 1")
    return await _Run(cells, concurrency, on_event, control or RunControl()).perform()


@dataclass
class _Course:
    """How far one cell has come: what is known of it when it is cancelled."""

    journal: Journal | None = None
    result: TrialResult | None = None


class _Run:
    def __init__(
        self,
        cells: Sequence[Cell],
        concurrency: int,
        on_event: Callable[[RunEvent], None],
        control: RunControl,
    ) -> None:
        self._cells = cells
        self._queue = iter(cells)
        self._concurrency = concurrency
        self._on_event = on_event
        self._control = control
        self._playing: set[asyncio.Task[TrialFinished]] = set()
        self._ended: Counter[Termination] = Counter()
        self._problems = 0
        self._left_open = 0

    async def perform(self) -> RunSummary:
        self._tell(RunBegan(len(self._cells), self._concurrency))
        self._control.attach(self._stop)
        count = min(self._concurrency, len(self._cells))
        workers = [asyncio.create_task(self._work()) for _ in range(count)]
        try:
            await asyncio.gather(*workers)
        finally:
            self._control.detach()
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        summary = RunSummary(
            cells=len(self._cells),
            terminations=dict(self._ended),
            problems=self._problems,
            left_open=self._left_open,
            not_begun=len(self._cells) - self._ended.total() - self._left_open,
            cancelled=self._control.cancelled,
        )
        self._tell(RunFinished(summary))
        return summary

    def _stop(self) -> None:
        for task in self._playing:
            task.cancel()

    async def _work(self) -> None:
        for cell in self._queue:
            if self._control.cancelled:
                return
            course = _Course()
            task = asyncio.create_task(self._play(cell, course))
            self._playing.add(task)
            try:
                await asyncio.wait({task})
            finally:
                self._playing.discard(task)
                if not task.done():
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
            if task.cancelled():
                await self._cancelled(cell, course)
            else:
                self._finished(task.result())

    async def _play(self, cell: Cell, course: _Course) -> TrialFinished:
        try:
            setup, journal = await cell.begin()
            course.journal = journal
            self._tell(TrialBegan(cell.id, resumed=bool(journal.events)))
            course.result = _recorded_result(journal) or await play(
                self._watched(cell, setup), journal
            )
        except Exception as error:  # noqa: BLE001 - one trial's failure is data, not the run's end
            reason = _reason(error)
            return TrialFinished(cell.id, Termination.INTERNAL_ERROR, reason, problem=reason)
        result, problem = course.result, ""
        if cell.after:
            try:
                await cell.after(result, journal.events)
            except Exception as error:  # noqa: BLE001 - the trial itself went well
                problem = _reason(error)
        return TrialFinished(cell.id, result.termination, result.detail, problem)

    async def _cancelled(self, cell: Cell, course: _Course) -> None:
        if not self._control.cancelled:
            reason = _("a player cancelled the trial from inside")
            self._finished(TrialFinished(cell.id, Termination.INTERNAL_ERROR, reason, reason))
        elif course.result:
            problem = _("cancelled before its outcome was dealt with")
            end = course.result
            self._finished(TrialFinished(cell.id, end.termination, end.detail, problem))
        elif course.journal and self._control.records:
            await self._record_cancelled(cell, course.journal)
        elif course.journal:
            self._left_open += 1
            self._tell(TrialLeftOpen(cell.id))

    async def _record_cancelled(self, cell: Cell, journal: Journal) -> None:
        problem = ""
        try:
            await journal.record(TrialEnded(termination=Termination.CANCELLED))
        except Exception as error:  # noqa: BLE001 - the other trials still have to be recorded
            problem = _reason(error)
        self._finished(TrialFinished(cell.id, Termination.CANCELLED, problem=problem))

    def _finished(self, event: TrialFinished) -> None:
        self._ended[event.termination] += 1
        self._problems += bool(event.problem)
        self._tell(event)

    def _watched(self, cell: Cell, setup: TrialSetup) -> TrialSetup:
        def told(turn: int) -> None:
            self._tell(TurnPlayed(cell.id, turn))

        return replace(setup, user=_WatchedUser(setup.user, told))

    def _tell(self, event: RunEvent) -> None:
        try:
            self._on_event(event)
        except Exception:  # noqa: BLE001 - a screen that went away must not cost the night's run
            _LOG.exception("a listener of the run failed")


@dataclass(frozen=True)
class _WatchedUser:
    """The user part, which speaks after each of the agent's turns: the place to see them go by."""

    user: User
    told: Callable[[int], None]

    @property
    def ref(self) -> PlayerRef:
        return self.user.ref

    async def open(self, desk: Desk) -> UserReply:
        return await self.user.open(desk)

    async def reply(self, dialogue: Dialogue, desk: Desk) -> UserReply:
        self.told(dialogue.turn)
        return await self.user.reply(dialogue, desk)


def _recorded_result(journal: Journal) -> TrialResult | None:
    """The result of a trial that has already ended."""
    for event in reversed(journal.events):
        if isinstance(event.body, TrialEnded):
            prediction = prediction_of(journal.events)
            return TrialResult(event.body.termination, prediction, event.body.detail)
    return None


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, CuecardError) else f"{type(error).__name__}: {error}"
