"""Workers: processes, on any number of machines, that play and judge the offered trials of runs together."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

from cuecard.core.archive import outlast
from cuecard.core.config import Config
from cuecard.core.engine.events import CallAnswered, RunEvent, RunSummary
from cuecard.core.engine.players import check_commands
from cuecard.core.engine.run import Cell, run_grid
from cuecard.core.engine.run_control import RunControl
from cuecard.core.engine.step_context import RecordedCall
from cuecard.core.errors import (
    ClaimLost,
    CuecardError,
    DatabaseAway,
    Halt,
    NotKept,
    PausedByPerson,
    StoppedByPerson,
    error_text,
)
from cuecard.core.evaluation.ended_work import EndedCells, end_work, stop_work
from cuecard.core.evaluation.offering import differences, hash_of_players
from cuecard.core.evaluation.plans import Judging, settings_of
from cuecard.core.evaluation.run_trials import Grid, tell
from cuecard.core.evaluation.runs import conclude, judges_of, keep_prompts, spent_on
from cuecard.core.evaluation.sharing import Meter, shared
from cuecard.core.i18n import _, headed
from cuecard.core.llm.hub import ModelHub
from cuecard.core.records import RunRecord, RunState
from cuecard.core.worker_archive import WORKER_LAPSE, AlreadyPlayed, Claim, TrialQueue

if TYPE_CHECKING:
    from cuecard.core.archive import Archive

_LOG = logging.getLogger(__name__)
_BEAT = 2.0
_LOOK = 0.5

OnWork = Callable[[int, RunEvent], None]
"""Called with the id of a run and what this worker did in it."""


class _Handed:
    """The cells of one run as they are handed out to a worker."""

    def __init__(
        self, worker: Worker, run_id: int, grid: Grid | EndedCells, control: RunControl
    ) -> None:
        self.total = worker.concurrency
        self.over = False
        self.judges = isinstance(grid, EndedCells)
        self._worker = worker
        self._run_id = run_id
        self._grid = grid
        self._control = control
        self._ready: deque[Claim] = deque()
        self._claims: dict[str, Claim] = {}
        self._order = (self.judges, grid.judging if isinstance(grid, EndedCells) else None)
        self._lost: set[str] = set()
        self._waiting = 0
        self._asking = asyncio.Lock()

    async def take(self) -> Cell | None:
        self._waiting += 1
        try:
            # One asks for all who wait.
            async with self._asking:
                while not self._ready:
                    if self.over or self._control.cancelled or self._control.halt is not None:
                        return None
                    if not await self._ask():
                        await self._worker.queue.wait(_LOOK)
                claim = self._ready.popleft()
        finally:
            self._waiting -= 1
        cell = str(claim.trial_id)
        self._claims[cell] = claim
        return self._grid.claimed(claim, lambda: self._check(cell))

    async def give_back(self, cell: Cell, *, done: bool) -> None:
        claim = self._claims.pop(cell.id)
        self._lost.discard(cell.id)
        self._worker.free += 1
        await self._worker.give_back(claim, done=done)

    def lose(self, claim: Claim) -> None:
        """Have the trial stopped before its next step: somebody took it over."""
        if self._claims.get(str(claim.trial_id)) == claim:
            self._lost.add(str(claim.trial_id))

    async def close(self) -> None:
        """Give back what nobody began, and what nobody could give back."""
        self._ready.extend(self._claims.values())
        self._claims.clear()
        while self._ready:
            self._worker.free += 1
            await self._worker.give_back(self._ready.popleft(), done=False)

    async def _ask(self) -> bool:
        most = min(self._waiting, self._worker.free)
        if most < 1:
            return False
        self._worker.free -= most
        taken: list[Claim] = []
        try:
            taken = await self._worker.queue.take(self._run_id, most)
        except (AlreadyPlayed, DatabaseAway):
            return False
        finally:
            self._worker.free += most - len(taken)
        try:
            now = await self._worker.asked_of(self._run_id) if taken and self.judges else None
        except CuecardError:
            self._ready.extend(taken)
            raise
        # A trial that this worker lost and did not yet leave is handed back at once.
        for claim in taken:
            if (claim.purpose == "judge", now) != self._order:
                self._worker.drain(self._run_id)  # It is begun anew, for what is offered now.
            elif str(claim.trial_id) not in self._claims:
                self._ready.append(claim)
                continue
            self._worker.free += 1
            await self._worker.give_back(claim, done=False)
        return bool(self._ready)

    def _check(self, cell: str) -> None:
        # With ended trials anybody goes on from what is kept, at any moment.
        if cell in self._lost or (self.judges and self._control.halt is not None):
            raise ClaimLost(_("Another worker plays this trial now"))


@dataclass
class _Played:
    """A run that this worker plays."""

    control: RunControl
    handed: _Handed
    task: asyncio.Task[None] | None = None


@dataclass
class Worker:
    """Takes offered trials of runs, at most `concurrency` at a time, plays and judges them, and hands them back. `runs`:
    the ids of those it takes part in, all if there are none. `refused`: why it takes nothing of a run, by id, as `on_refusal`
    is told at once. `lapse`: seconds without a beat after which it takes over what another holds.
    """

    workspace: Archive
    config: Config
    by: str
    concurrency: int
    runs: Collection[int] = ()
    on_event: OnWork | None = None
    on_refusal: Callable[[int, str], None] | None = None
    lapse: float = WORKER_LAPSE
    refused: dict[int, str] = field(default_factory=dict[int, str])
    calls: int = 0
    queue: TrialQueue = field(init=False)
    free: int = field(init=False)
    _grace: float = field(init=False)
    _own: list[Halt] = field(default_factory=list[Halt])
    _playing: dict[int, _Played] = field(default_factory=dict[int, _Played])
    _owed: dict[Claim, bool] = field(default_factory=dict[Claim, bool])
    _warned: str = ""

    async def work(self, control: RunControl, *, until_done: bool = False) -> None:
        """Work until `control` stops this worker, or (with `until_done`) until nothing is left that it may do. Raises
        `CuecardError` where workers cannot be.
        """
        self.free, self._grace = self.concurrency, control.grace
        hashed = hash_of_players(self.config)
        opened = self.workspace.workers.queue(
            self.by, self.concurrency, players=hashed, lapse=self.lapse
        )
        async with opened as self.queue:
            control.when_paused(lambda _halt: self._stop(control))
            control.attach(lambda: self._stop(control))
            ended = asyncio.Event()
            beating = asyncio.create_task(self._heartbeat(ended))
            try:
                while not control.cancelled and control.halt is None:
                    if not await self._look() and until_done:
                        break
                    await asyncio.sleep(_LOOK)
                self._stop(control)
            finally:
                tasks = [played.task for played in self._playing.values() if played.task]
                await asyncio.gather(*tasks, return_exceptions=True)
                control.detach()
                ended.set()
                await beating

    def judges(self, run_id: int) -> bool:
        """Whether it now judges ended trials of the run, and plays none."""
        playing = self._playing.get(run_id)
        return playing is not None and playing.handed.judges

    async def give_back(self, claim: Claim, *, done: bool) -> None:
        """Let go of a trial; with the next beat, if the database is away at present."""
        try:
            await self.queue.give_back(claim, done=done)
        except CuecardError as error:
            if not isinstance(error, DatabaseAway):
                self._warn(f"trial {claim.trial_id} is given back later", error)
            self._owed[claim] = done

    async def asked_of(self, run_id: int) -> Judging | None:
        """What workers are to do with ended trials of the run."""
        run = await outlast(self.workspace, self.workspace.runs.get, run_id)
        return settings_of(run).judging

    def _stop(self, control: RunControl) -> None:
        for run_id in self._playing:
            self.drain(run_id)
            if control.cancelled:
                self._playing[run_id].control.cancel()

    def drain(self, run_id: int) -> None:
        """Stop playing the run here; others may go on with it."""
        self._own.append(StoppedByPerson(_("The run was stopped"), _("as asked for")))
        self._playing[run_id].control.drain(self._own[-1])

    async def _look(self) -> bool:
        """Begin with what is offered, and leave what is over; whether there is anything to do."""
        try:
            return await self._look_at(await asyncio.to_thread(self.workspace.workers.offered))
        except CuecardError as error:
            self._warn("the workspace cannot be read", error)
            return True

    async def _look_at(self, offered: Mapping[int, int]) -> bool:
        wanted = {run for run in offered if not self.runs or run in self.runs}
        for run_id, played in list(self._playing.items()):
            played.handed.over = not offered.get(run_id)
            if run_id not in offered and played.control.halt is None:
                self.drain(run_id)
            if played.task is not None and played.task.done():
                del self._playing[run_id]
        for run_id in sorted(wanted - self._playing.keys() - self.refused.keys()):
            await self._begin(run_id)
        return bool(self._playing) or bool(wanted - self.refused.keys())

    def _warn(self, what: str, error: Exception) -> None:
        """Log a trouble, but not again and again while it lasts."""
        if (said := error_text(error)) != self._warned:
            self._warned = said
            _LOG.warning("%s: %s", what, said)

    def _obstacle(self, run: RunRecord) -> str:
        """Why this worker may take nothing of the run; "" if it may."""
        settings = settings_of(run)
        judging = settings.judging
        try:
            if differing := differences(run, self.config):
                return _("; ").join(differing)
            self.config.judge_models(judging.judges if judging else settings.judges)
            if judging is None and settings.probe is None and settings.replay is None:
                agents = [n.removeprefix("agents/") for n in settings.roster if n[:7] == "agents/"]
                check_commands(agents, self.config)
        except CuecardError as error:
            return str(error)
        return ""

    async def _begin(self, run_id: int) -> None:
        run = await asyncio.to_thread(self.workspace.runs.get, run_id)
        if why := self._obstacle(run):
            self.refused[run_id] = why
            if self.on_refusal:
                self.on_refusal(run_id, why)
            return
        settings = settings_of(run)
        judging = settings.judging
        orders = await asyncio.to_thread(self.workspace.orders.of, run_id)
        # How many trials at the same time holds for who comes later, too.
        wanted = [order.value for order in orders if order.kind == "concurrency"]
        after = max((order.id for order in orders), default=0)
        control, hub = RunControl(self._grace), ModelHub(self.config)
        judges = judges_of(judging.judges if judging else settings.judges, self.config, hub)
        spent = await asyncio.to_thread(spent_on, self.workspace, run_id)
        control.when_paused(hub.stop)
        # A run's budget is not for shadows.
        budget = None if judging and judging.shadows else settings.budget
        meter = Meter(spent, budget, control)

        def judged(call: RecordedCall) -> None:
            self.calls += 1
            meter.judged(call)

        def shadowed() -> None:
            self.calls += 1

        def heard(event: RunEvent) -> None:
            self.calls += isinstance(event, CallAnswered)
            meter.on_event(event)
            tell(self.on_event, run_id, event)

        await asyncio.to_thread(keep_prompts, self.workspace, self.config)
        grid: Grid | EndedCells = Grid(self.workspace, run, self.config, hub, judges, judged)
        if judging is not None:
            grid = EndedCells(
                self.workspace, run, judging, judges, self.config, hub, judged, shadowed
            )
        played = _Played(control, _Handed(self, run_id, grid, control))

        async def play() -> None:
            try:
                async with shared(
                    self.workspace,
                    uuid4().hex,
                    run_id,
                    hub,
                    control,
                    meter,
                    after=after,
                    most=self.concurrency,
                    trials=int(wanted[-1] or 0) if wanted else 0,
                ):
                    summary = await run_grid(
                        played.handed, concurrency=self.concurrency, on_event=heard, control=control
                    )
                    await played.handed.close()
                    await self._leave(run_id, summary)
                    if summary.halt is not None or summary.cancelled:
                        pass
                    elif judging is not None:
                        await end_work(self.workspace, run_id, self.by)
                    else:
                        await conclude(self.workspace, run_id, judges, meter, self.by)
            except AlreadyPlayed:
                pass  # Somebody else concludes it, or plays it alone.
            except Exception as error:  # noqa: BLE001 - the boundary of a run: the worker goes on, and begins it anew
                self._warn(f"run {run_id}", error)
            finally:
                # What this worker keeps beating for, nobody else would take.
                await played.handed.close()
                await hub.close()

        played.task = asyncio.create_task(play())
        self._playing[run_id] = played

    async def _leave(self, run_id: int, summary: RunSummary) -> None:
        """Pause the run for all, if it cannot go on for a reason that is not this worker's."""
        halt = summary.halt
        set_state = self.workspace.runs.set_state
        if isinstance(halt, NotKept | DatabaseAway):
            await asyncio.sleep(_BEAT)
        elif isinstance(halt, PausedByPerson) or (
            halt is not None and not isinstance(halt, StoppedByPerson)
        ):
            reason = headed(halt.title, halt.message)
            await outlast(self.workspace, set_state, run_id, RunState.PAUSED, reason)
        elif halt is not None and halt not in self._own and self.judges(run_id):
            await outlast(self.workspace, stop_work, self.workspace, run_id)
        elif halt is not None and halt not in self._own:
            await outlast(self.workspace, set_state, run_id, RunState.CANCELLED)

    async def _heartbeat(self, ended: asyncio.Event) -> None:
        last = False
        while not last:
            last = ended.is_set()
            await self._beat()
            with suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), _BEAT)

    async def _beat(self) -> None:
        note = "\n".join(headed(run, why) for run, why in self.refused.items())
        try:
            for claim, done in list(self._owed.items()):
                await self.queue.give_back(claim, done=done)
                del self._owed[claim]
            for claim in await self.queue.beat(self.calls, note):
                if (played := self._playing.get(claim.run_id)) is not None:
                    played.handed.lose(claim)
        except Exception as error:  # noqa: BLE001 - the boundary of a worker: the next may come through
            self._warn("a beat could not be written", error)
