"""The one loop that plays many trials: so many at a time, cancellable, and not ended by the failure of one."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import ParamSpec, Protocol

from cuecard.core.engine.events import (
    AgentSpoke,
    CallAnswered,
    Event,
    Marked,
    ModelReplied,
    RunBegan,
    RunEvent,
    RunFinished,
    RunSummary,
    Termination,
    ToolAnswered,
    ToolUsed,
    TrialBegan,
    TrialEnded,
    TrialFinished,
    TrialLeftOpen,
    TurnPlayed,
)
from cuecard.core.engine.messages import CallsCut, CutCall
from cuecard.core.engine.run_control import RunControl
from cuecard.core.engine.trial import TrialResult, TrialSetup, play, prediction_of
from cuecard.core.engine.trial_log import TrialLog
from cuecard.core.errors import ClaimLost, Halt, error_text
from cuecard.core.i18n import _

_LOG = logging.getLogger(__name__)
Told = ParamSpec("Told")

Begin = Callable[[], Awaitable[tuple[TrialSetup | None, TrialLog]]]
After = Callable[[TrialResult, tuple[Event, ...]], Awaitable[None]]


@dataclass(frozen=True)
class Cell:
    """One trial of a grid. `begin` is called when the trial starts and makes its players and its log; a log that holds
    events already resumes the trial; one that has ended needs no players. `after` judges, scores or stores the result. `check` raises before a step if the
    trial is no longer this process's.
    """

    id: str
    begin: Begin
    after: After | None = None
    check: Callable[[], None] = lambda: None


class CellQueue(Protocol):
    """Hands out the cells of a grid, and takes them back."""

    @property
    def total(self) -> int:
        """How many cells there are, as far as is known."""
        ...

    async def take(self) -> Cell | None:
        """The next cell; None when there are no more, or the run is to stop."""
        ...

    async def give_back(self, cell: Cell, *, done: bool) -> None:
        """The cell's trial has ended (`done`), or was left open."""
        ...


class OwnCells:
    """The cells of a grid that this process plays alone, in their order."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.total = len(cells)
        self._next = iter(cells)

    async def take(self) -> Cell | None:
        return next(self._next, None)

    async def give_back(self, cell: Cell, *, done: bool) -> None:
        """Nobody else waits for it."""


async def run_grid(
    cells: Sequence[Cell] | CellQueue,
    *,
    concurrency: int,
    on_event: Callable[[RunEvent], None],
    control: RunControl | None = None,
) -> RunSummary:
    """Play all cells, or those that a queue hands out, at most `concurrency` at a time, in their order.

    The failure of a cell is reported in its `TrialFinished` and ends nothing else. A trial that has already ended is
    not played again, but the cell's `after` runs. When the caller's own task is cancelled, open trials stay open and
    the cancellation passes on. Raises `ValueError` for a concurrency below 1.
    """
    if concurrency < 1:
        raise ValueError("concurrency must be at least 1")
    queue = OwnCells(cells) if isinstance(cells, Sequence) else cells
    return await _Run(queue, concurrency, on_event, control or RunControl()).perform()


@dataclass
class _Progress:
    """What is known of a cell when it is left. `cut`: the calls that were under way; `lost`: to whom, if it was taken over."""

    trial_log: TrialLog | None = None
    result: TrialResult | None = None
    cut: tuple[CutCall, ...] = ()
    lost: str = ""


class _Run:
    def __init__(
        self,
        queue: CellQueue,
        concurrency: int,
        on_event: Callable[[RunEvent], None],
        control: RunControl,
    ) -> None:
        self._queue = queue
        self._concurrency = concurrency
        self._on_event = on_event
        self._control = control
        self._playing: dict[asyncio.Task[TrialFinished | None], _Progress] = {}
        self._workers: set[asyncio.Task[None]] = set()
        self._ended: Counter[Termination] = Counter()
        self._problems = 0
        self._left_open = 0

    async def perform(self) -> RunSummary:
        total = self._queue.total
        self._tell(RunBegan(total, self._concurrency))
        self._control.attach(self._stop, self._resize)
        self._resize(min(self._concurrency, total))
        try:
            while self._workers:
                done, _ = await asyncio.wait(self._workers, return_when=asyncio.FIRST_COMPLETED)
                self._workers -= done
                for worker in done:
                    worker.result()
        finally:
            self._control.detach()
            for worker in self._workers:
                worker.cancel()
            await asyncio.gather(*self._workers, return_exceptions=True)
        summary = RunSummary(
            cells=total,
            terminations=dict(self._ended),
            problems=self._problems,
            left_open=self._left_open,
            not_begun=max(0, total - self._ended.total() - self._left_open),
            cancelled=self._control.cancelled or self._control.halt is not None,
            halt=self._control.halt,
        )
        self._tell(RunFinished(summary))
        return summary

    def _resize(self, concurrency: int) -> None:
        self._concurrency = concurrency
        while len(self._workers) < concurrency:
            self._workers.add(asyncio.create_task(self._work()))

    def _spare(self) -> bool:
        """Whether there are more workers than trials to be under way: then the caller is to end."""
        if len(self._workers) <= self._concurrency:
            return False
        self._workers -= {asyncio.current_task()}
        return True

    def _stop(self) -> None:
        for task, progress in self._playing.items():
            if progress.trial_log is not None:
                progress.cut = progress.trial_log.under_way
            task.cancel()

    async def _work(self) -> None:
        while (
            not self._stopped
            and not self._spare()
            and (cell := await self._queue.take()) is not None
        ):
            done = False
            try:
                done = not self._stopped and await self._work_on(cell)
            finally:
                await self._queue.give_back(cell, done=done)

    @property
    def _stopped(self) -> bool:
        return self._control.cancelled or self._control.halt is not None

    async def _work_on(self, cell: Cell) -> bool:
        """Whether the trial has ended."""
        progress = _Progress()
        task = asyncio.create_task(self._play(cell, progress))
        self._playing[task] = progress
        try:
            await asyncio.wait({task})
        finally:
            del self._playing[task]
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        if task.cancelled():
            return await self._cancelled(cell, progress)
        if (finished := task.result()) is None:
            return self._leave_open(cell, why=progress.lost)
        return self._finished(finished)

    async def _play(self, cell: Cell, progress: _Progress) -> TrialFinished | None:
        """How the trial ended; None if it was left open because the run is to stop."""
        try:
            setup, trial_log = await cell.begin()
            progress.trial_log = trial_log
            self._tell(TrialBegan(cell.id, resumed=bool(trial_log.events)))
            trial_log.attach(lambda: self._check(cell), self._watcher(cell))
            progress.result = _recorded_result(trial_log)
            if progress.result is None:
                assert setup is not None
                progress.result = await play(setup, trial_log)
        except ClaimLost as lost:
            progress.lost = error_text(lost)
            return None
        except Halt as halt:
            self._control.pause(halt)
            return None
        except Exception as error:  # noqa: BLE001 - one trial's failure is data, not the run's end
            reason = error_text(error)
            return TrialFinished(cell.id, Termination.INTERNAL_ERROR, reason, problem=reason)
        result, problem = progress.result, ""
        if cell.after:
            try:
                await cell.after(result, tuple(trial_log.events))
            except ClaimLost as lost:
                progress.lost = error_text(lost)
                return None
            except Halt as halt:
                self._control.pause(halt)
                problem = str(halt)
            except Exception as error:  # noqa: BLE001 - the trial itself went well
                problem = error_text(error)
        return TrialFinished(cell.id, result.termination, result.detail, problem)

    def _check(self, cell: Cell) -> None:
        self._control.check()
        cell.check()

    async def _cancelled(self, cell: Cell, progress: _Progress) -> bool:
        if not self._control.cancelled:
            reason = _("a player cancelled the trial from inside")
            return self._finished(
                TrialFinished(cell.id, Termination.INTERNAL_ERROR, reason, reason)
            )
        if progress.result:
            problem = _("cancelled before its outcome was dealt with")
            end = progress.result
            return self._finished(TrialFinished(cell.id, end.termination, end.detail, problem))
        if progress.trial_log and self._control.records:
            return await self._record_cancelled(cell, progress.trial_log)
        if progress.trial_log:
            await self._record_cut(progress.trial_log, progress.cut)
            self._leave_open(cell, progress.cut)
        return False

    def _leave_open(self, cell: Cell, cut: tuple[CutCall, ...] = (), why: str = "") -> bool:
        self._left_open += 1
        why = why or error_text(self._control.halt) if self._control.halt else why
        self._tell(TrialLeftOpen(cell.id, tuple(call.what for call in cut), why))
        return False

    async def _record_cut(self, trial_log: TrialLog, cut: tuple[CutCall, ...]) -> None:
        """Record which calls were given up: nothing else says that they may have cost something."""
        if not cut:
            return
        events = trial_log.events
        turn = sum(isinstance(event.body, AgentSpoke) for event in events)
        before = [e.body.mark.kind for e in events if isinstance(e.body, Marked)]
        step = before.count("calls_cut")
        mark = CallsCut(calls=cut)
        try:
            await trial_log.record(Marked(part="run", turn=turn, step=step, mark=mark))
        except Exception:  # noqa: BLE001 - the trial stays open all the same
            _LOG.exception("calls that were cut off could not be recorded")

    async def _record_cancelled(self, cell: Cell, trial_log: TrialLog) -> bool:
        problem = ""
        try:
            await trial_log.record(TrialEnded(termination=Termination.CANCELLED))
        except Exception as error:  # noqa: BLE001 - the other trials still have to be recorded
            problem = error_text(error)
        return self._finished(TrialFinished(cell.id, Termination.CANCELLED, problem=problem))

    def _finished(self, event: TrialFinished) -> bool:
        self._ended[event.termination] += 1
        self._problems += bool(event.problem)
        self._tell(event)
        return True

    def _watcher(self, cell: Cell) -> Callable[[Event], None]:
        def watch(event: Event) -> None:
            match event.body:
                case AgentSpoke(turn=turn):
                    self._tell(TurnPlayed(cell.id, turn))
                case ModelReplied(model=model, reply=reply) as body:
                    self._tell(CallAnswered(cell.id, body.payer, model, reply.usage, reply.cost))
                case ToolAnswered(call=call):
                    self._tell(ToolUsed(cell.id, call.name))
                case _:
                    pass

        return watch

    def _tell(self, event: RunEvent) -> None:
        tell(self._on_event, event)


def tell(listener: Callable[Told, None] | None, *args: Told.args, **kwargs: Told.kwargs) -> None:
    """Call the listener, if any. Its exceptions are logged, not raised: a screen that went away must not cost the night's
    run.
    """
    if listener is None:
        return
    try:
        listener(*args, **kwargs)
    except Exception:  # noqa: BLE001 - the boundary to whoever looks on
        _LOG.exception("a listener failed")


def _recorded_result(trial_log: TrialLog) -> TrialResult | None:
    """The result of a trial that has already ended."""
    for event in reversed(trial_log.events):
        if isinstance(event.body, TrialEnded):
            prediction = prediction_of(trial_log.events)
            return TrialResult(event.body.termination, prediction, event.body.detail)
    return None
