"""Workers: processes, on any number of machines, that play the offered trials of runs together; and who follows them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

from pydantic import JsonValue

from cuecard.core.agents.programs import check_commands
from cuecard.core.archive import WORKER_LAPSE, BeingPlayed, Claim, Purpose, TrialQueue, outlast
from cuecard.core.config import Config
from cuecard.core.engine.events import CallAnswered, Event, RunBegan, RunEvent, TrialFinished
from cuecard.core.engine.run import Cell, RunControl, RunSummary, run_grid
from cuecard.core.engine.step_context import Judge, RecordedCall
from cuecard.core.engine.trial import TrialResult
from cuecard.core.engine.trial_log import TrialLog
from cuecard.core.errors import (
    ClaimLost,
    CuecardError,
    DatabaseAway,
    Drained,
    Halt,
    Held,
    NotAllowed,
    NotKept,
    told,
)
from cuecard.core.evaluation.judging import OnCall, is_due, judge_trial, to_judge
from cuecard.core.evaluation.plans import (
    Judging,
    PlayerConfigs,
    check_prices,
    memory_of,
    player_configs,
    settings_of,
)
from cuecard.core.evaluation.rescoring import RescorePlan, Rescoring, rescored_from
from cuecard.core.evaluation.run_trials import Grid, TrialSink, playing, tell
from cuecard.core.evaluation.runs import conclude, judges_of, keep_prompts, spent_on
from cuecard.core.evaluation.sharing import Meter, shared
from cuecard.core.i18n import _
from cuecard.core.llm.hub import ModelHub
from cuecard.core.records import RunRecord, RunState, TrialRecord

if TYPE_CHECKING:
    from cuecard.core.archive import Archive

_LOG = logging.getLogger(__name__)
_STAY = (RunState.PAUSED, RunState.DONE, RunState.CANCELLED)
_BEAT = 2.0
_LOOK = 0.5

OnWork = Callable[[int, RunEvent], None]
"""Called with the id of a run and what this worker did in it."""


async def offer_run(workspace: Archive, run_id: int, *, by: str, purpose: Purpose = "play") -> int:
    """Offer the run's open trials to workers (failed ones too to `retry`, ended ones to `judge`); how many were not
    offered yet. Trials of an agent whose memory goes from one to the next are played by one worker, in their order.
    Raises `BeingPlayed`, and `CuecardError` where workers cannot be.
    """
    run = await asyncio.to_thread(workspace.runs.get, run_id)
    if (judging := settings_of(run).judging) is not None:
        if run.finished == run.trials:
            return await _offer_judging(workspace, run_id, judging, by)
        await asyncio.to_thread(_set_judging, workspace, run_id, None)
    configs = settings_of(run).roster
    lanes: dict[str, list[int]] = {}
    for trial in await asyncio.to_thread(workspace.runs.trials, run_id):
        end = trial.termination
        wanted = end is None or (purpose == "retry" and end.is_failure)
        if wanted if purpose != "judge" else end is not None:
            name = trial.agent.name
            ordered = purpose != "judge" and memory_of(configs, name) == "lifelong"
            lanes.setdefault(name if ordered else f"/{trial.id}", []).append(trial.id)
    async with workspace.workers.queue(by) as queue:
        return await queue.offer(run_id, list(lanes.values()), purpose)


def differences(run: RunRecord, config: Config) -> list[str]:
    """What of the run's players this configuration has otherwise than the one that the run was entered with: keys and
    addresses may differ.
    """
    settings = settings_of(run)
    if (judging := settings.judging) is not None:
        return list(_differing(judging.roster, player_configs(config, judges=judging.judges)))
    agents = [name.removeprefix("agents/") for name in settings.roster if name[:7] == "agents/"]
    ours = player_configs(
        config,
        agents=agents,
        users=(settings.user,),
        worlds=(settings.world,),
        judges=settings.judges,
    )
    return list(_differing(settings.roster, ours)) if settings.roster else []


def _differing(theirs: PlayerConfigs, ours: PlayerConfigs) -> Iterator[str]:
    for name in sorted(theirs.keys() | ours.keys()):
        if name not in ours:
            yield _("{player} is not in the configuration of this worker").format(player=name)
        elif name not in theirs:
            yield _("{player} is not part of the run").format(player=name)
        else:
            for key in sorted(theirs[name].keys() | ours[name].keys()):
                then, now = theirs[name].get(key), ours[name].get(key)
                if then != now:
                    said = _("{player}: {field} is {now} here and {then} in the run")
                    yield said.format(player=name, field=key, now=_short(now), then=_short(then))


def _short(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)[:80]


def hash_of_players(config: Config) -> str:
    """A short hash of how every player of a configuration is configured, without keys and addresses."""
    sections = ("agents", "users", "worlds", "judges")
    found = player_configs(config, **{name: getattr(config, name) for name in sections})
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:12]


async def offer_judging(
    workspace: Archive,
    run_id: int,
    judges: Sequence[str],
    config: Config,
    *,
    by: str,
    again: bool = False,
) -> int:
    """Offer the run's ended trials that these judges have not fully judged to workers, or all of them `again`; how many
    these are. Begun before with the same judges, it goes on. Raises `BeingPlayed`, `ConfigError`, and `NotAllowed` while
    workers play the run or judge it otherwise.
    """
    roster = player_configs(config, judges=judges)

    def wanted() -> Judging:
        run = workspace.runs.get(run_id)
        settings = settings_of(run)
        if settings.budget is not None:
            names = {getattr(config.judge(name), "model", "") for name in judges}
            check_prices(names, config)
        before = settings.judging
        if before and (before.judges, before.roster) == (tuple(judges), roster):
            return before
        if run_id in workspace.workers.offered():
            hint = _("`cuecard runs cancel {id}` stops them.").format(id=run_id)
            raise NotAllowed(_("Workers do something else with this run"), run.name, hint)
        heads = workspace.verdicts.heads(run_id) if again else ()
        newest = max((head.id for head in heads), default=0) if again else None
        state = run.state if run.state in _STAY else RunState.DONE
        if before:
            state = before.state
        return Judging(
            judges=tuple(judges), roster=roster, after=newest, state=state, reason=run.reason
        )

    judging = await asyncio.to_thread(wanted)
    return await _offer_judging(workspace, run_id, judging, by)


async def _offer_judging(workspace: Archive, run_id: int, judging: Judging, by: str) -> int:
    def enter() -> list[int]:
        due = set[int]()
        for judge in judging.judges:
            due.update(to_judge(workspace, run_id, judge, judging.after))
        _set_judging(workspace, run_id, judging if due else None)
        return sorted(due)

    trials = await asyncio.to_thread(enter)
    if not trials:
        return 0
    async with workspace.workers.queue(by) as queue:
        return await queue.offer(run_id, [[trial] for trial in trials], "judge")


def _set_judging(workspace: Archive, run_id: int, judging: Judging | None) -> None:
    settings = settings_of(workspace.runs.get(run_id))
    if settings.judging != judging:
        changed = settings.model_copy(update={"judging": judging})
        workspace.runs.set_plan(run_id, changed.model_dump(mode="json"))


async def _end_judging(workspace: Archive, run_id: int, by: str) -> None:
    """Leave the run as it was before: once, whoever tries. Raises `BeingPlayed`."""

    def end() -> None:
        run = workspace.runs.get(run_id)
        settings = settings_of(run)
        if (judging := settings.judging) is None or workspace.workers.offered().get(run_id):
            return
        state = judging.state
        if settings.rescored:
            left = [name for name in judging.judges if to_judge(workspace, run_id, name)]
            state = RunState.CANCELLED if left else RunState.DONE
        _set_judging(workspace, run_id, None)
        workspace.runs.set_state(run_id, state, judging.reason)

    async with playing(workspace, run_id, by):
        await asyncio.to_thread(end)


class _Judged:
    """The cells of a run whose trials are judged, not played."""

    def __init__(
        self,
        workspace: Archive,
        run: RunRecord,
        judging: Judging,
        judges: Sequence[Judge],
        on_call: OnCall,
    ) -> None:
        self._workspace, self._run, self._on_call = workspace, run, on_call
        self._judging, self._judges = judging, judges
        self._rescored = settings_of(run).rescored
        self._pairs: tuple[RescorePlan, dict[int, TrialRecord]] | None = None

    def claimed(self, claim: Claim, check: Callable[[], None]) -> Cell:
        async def begin() -> tuple[None, TrialLog]:
            past = await outlast(self._workspace, self._workspace.runs.outline, claim.trial_id)
            return None, TrialLog(
                TrialSink(self._workspace, claim.trial_id, claim=claim), past.events
            )

        async def after(_result: TrialResult, _events: tuple[Event, ...]) -> None:
            if claim.poisons:
                died = _("{n} workers died while they judged it").format(n=claim.lost)
                raise CuecardError(_("This trial is left unjudged"), died)
            for judge in self._judges:
                check()
                await self._judge(judge, claim)

        return Cell(str(claim.trial_id), begin, after, check)

    async def _judge(self, judge: Judge, claim: Claim) -> None:
        workspace, after = self._workspace, self._judging.after
        if self._rescored:
            plan, olds = await self._plan()
            new = await outlast(workspace, workspace.runs.trial, claim.trial_id)
            anew = settings_of(self._run).anew
            work = Rescoring(workspace, plan, judge, anew, self._on_call, claim)
            await work.judge((olds[new.id], new))
            return

        def due() -> bool:
            found = workspace.verdicts.of_trial(claim.trial_id)
            newest = next((r for r in found if r.judgement.judge.name == judge.ref.name), None)
            return is_due(workspace.runs.trial(claim.trial_id), newest, after)

        # Another may have judged it, and died then.
        if await outlast(workspace, due):
            again = after is not None
            await judge_trial(
                workspace, claim.trial_id, judge, again=again, on_call=self._on_call, claim=claim
            )

    async def _plan(self) -> tuple[RescorePlan, dict[int, TrialRecord]]:
        self._pairs = self._pairs or await asyncio.to_thread(
            rescored_from, self._workspace, self._run
        )
        return self._pairs


class _Handed:
    """The cells of one run as they are handed out to a worker."""

    def __init__(
        self, worker: Worker, run_id: int, grid: Grid | _Judged, control: RunControl
    ) -> None:
        self.total = worker.concurrency
        self.over = False
        self.judges = isinstance(grid, _Judged)
        self._worker = worker
        self._run_id = run_id
        self._grid = grid
        self._control = control
        self._ready: deque[Claim] = deque()
        self._claims: dict[str, Claim] = {}
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
                        await self._worker.news()
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
        """Give back what nobody began."""
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
        except (BeingPlayed, DatabaseAway):
            return False
        finally:
            self._worker.free += most - len(taken)
        # A trial that this worker lost and did not yet leave is handed back at once.
        for claim in taken:
            if (claim.purpose == "judge") != self.judges:
                self._worker.drain(self._run_id)  # It is begun anew, for what is offered now.
            elif str(claim.trial_id) not in self._claims:
                self._ready.append(claim)
                continue
            self._worker.free += 1
            await self._worker.give_back(claim, done=False)
        return bool(self._ready)

    def _check(self, cell: str) -> None:
        if cell in self._lost:
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
    the ids of those it takes part in, all if there are none. `refused`: why it takes nothing of a run, by id. `lapse`:
    seconds without a beat after which it takes over what another holds.
    """

    workspace: Archive
    config: Config
    by: str
    concurrency: int
    runs: Collection[int] = ()
    on_event: OnWork | None = None
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
            beating = asyncio.create_task(self._beat_on(ended))
            try:
                while not control.cancelled and control.halt is None:
                    if not await self._look() and until_done:
                        break
                    await self.news()
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
        except DatabaseAway:
            self._owed[claim] = done

    async def news(self) -> None:
        """Wait until something may have changed, for half a second at most."""
        await self.queue.wait(_LOOK)

    def _stop(self, control: RunControl) -> None:
        for run_id in self._playing:
            self.drain(run_id)
            if control.cancelled:
                self._playing[run_id].control.cancel()

    def drain(self, run_id: int) -> None:
        """Stop playing the run here; others may go on with it."""
        self._own.append(Drained(_("The run was stopped"), _("as asked for")))
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
        if (said := told(error)) != self._warned:
            self._warned = said
            _LOG.warning("%s: %s", what, said)

    async def _begin(self, run_id: int) -> None:
        run = await asyncio.to_thread(self.workspace.runs.get, run_id)
        settings = settings_of(run)
        judging = settings.judging
        try:
            differing = differences(run, self.config)
            if judging is None and settings.probe is None and settings.replay is None:
                agents = [n.removeprefix("agents/") for n in settings.roster if n[:7] == "agents/"]
                check_commands(agents, self.config)
        except CuecardError as error:
            differing = [str(error)]
        if differing:
            self.refused[run_id] = "; ".join(differing)
            return
        orders = await asyncio.to_thread(self.workspace.orders.of, run_id)
        # How many trials at the same time holds for who comes later, too.
        wanted = [order.value for order in orders if order.kind == "concurrency"]
        after = max((order.id for order in orders), default=0)
        control, hub = RunControl(self._grace), ModelHub(self.config)
        names = judging.judges if judging else settings.judges
        judges = judges_of(names, self.config, hub)
        spent = await asyncio.to_thread(spent_on, self.workspace, run_id)
        control.when_paused(hub.stop)
        meter = Meter(spent, settings.budget, control)

        def judged(call: RecordedCall) -> None:
            self.calls += 1
            meter.judged(call)

        def heard(event: RunEvent) -> None:
            self.calls += isinstance(event, CallAnswered)
            meter.told(event)
            tell(self.on_event, run_id, event)

        await asyncio.to_thread(keep_prompts, self.workspace, self.config)
        grid: Grid | _Judged = Grid(self.workspace, run, self.config, hub, judges, judged)
        if judging is not None:
            grid = _Judged(self.workspace, run, judging, judges, judged)
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
                        await _end_judging(self.workspace, run_id, self.by)
                    else:
                        await conclude(self.workspace, run_id, judges, meter, self.by)
            except BeingPlayed:
                pass  # Somebody else concludes it, or plays it alone.
            except CuecardError as error:
                self._warn(f"run {run_id}", error)
            finally:
                await hub.close()

        played.task = asyncio.create_task(play())
        self._playing[run_id] = played

    async def _leave(self, run_id: int, summary: RunSummary) -> None:
        """Pause the run for all, if it cannot go on for a reason that is not this worker's."""
        halt = summary.halt
        set_state = self.workspace.runs.set_state
        if isinstance(halt, NotKept | DatabaseAway):
            await asyncio.sleep(_BEAT)
        elif isinstance(halt, Held) or (halt is not None and not isinstance(halt, Drained)):
            await outlast(self.workspace, set_state, run_id, RunState.PAUSED, str(halt))
        elif halt is not None and halt not in self._own:
            await outlast(self.workspace, set_state, run_id, RunState.CANCELLED)

    async def _beat_on(self, ended: asyncio.Event) -> None:
        last = False
        while not last:
            last = ended.is_set()
            await self._beat()
            with suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), _BEAT)

    async def _beat(self) -> None:
        note = "\n".join(f"{run}: {why}" for run, why in self.refused.items())
        try:
            for claim, done in list(self._owed.items()):
                await self.queue.give_back(claim, done=done)
                del self._owed[claim]
            for claim in await self.queue.beat(self.calls, note):
                if (played := self._playing.get(claim.run_id)) is not None:
                    played.handed.lose(claim)
        except Exception as error:  # noqa: BLE001 - the boundary of a worker: the next may come through
            self._warn("a beat could not be written", error)


async def follow_run(
    workspace: Archive,
    run_id: int,
    *,
    config: Config,
    by: str,
    control: RunControl,
    on_event: Callable[[RunEvent], None] | None = None,
    on_left: Callable[[int], None] | None = None,
) -> Halt | None:
    """Tell how the workers get on with a run until it is over, and conclude it if none of them does. Returns why it is
    paused, if it is. `control` stops only this looking on. `on_left` is told how many trials are left to do.
    """
    judging = settings_of(await outlast(workspace, workspace.runs.get, run_id)).judging
    seen: set[int] = set()
    version = ""
    trials = await outlast(workspace, workspace.runs.trials, run_id)
    tell(on_event, RunBegan(sum(t.termination is None for t in trials), 0))
    seen.update(trial.id for trial in trials if trial.termination is not None)
    while control.halt is None and not control.cancelled:
        now = await outlast(workspace, workspace.version)
        if now != version:
            version = now
            for trial in await outlast(workspace, workspace.runs.trials, run_id):
                if trial.termination is not None and trial.id not in seen:
                    seen.add(trial.id)
                    event = TrialFinished(str(trial.id), trial.termination, trial.detail)
                    tell(on_event, event)
        left = (await outlast(workspace, workspace.workers.offered)).get(run_id)
        run = await outlast(workspace, workspace.runs.get, run_id)
        tell(on_left, left or 0)
        if judging is not None and settings_of(run).judging is None:
            return None
        if left is None and run.state is not RunState.RUNNING:
            return _halt_of(run)
        if left == 0 and run.state is not RunState.RUNNING:
            hub = ModelHub(config)
            try:
                if judging is not None:
                    await _end_judging(workspace, run_id, by)
                    continue
                judges = judges_of(settings_of(run).judges, config, hub)
                await conclude(workspace, run_id, judges, None, by)
            except BeingPlayed:
                pass
            finally:
                await hub.close()
        await asyncio.sleep(_LOOK)
    return None


def _halt_of(run: RunRecord) -> Halt | None:
    return Halt(_("The run is paused"), run.reason) if run.state is RunState.PAUSED else None
