"""Runs: a grid of trials in the workspace, played, judged, and resumed where they stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.core.agents.external import check_commands
from cuecard.core.config import EMBEDDED, Config
from cuecard.core.errors import CuecardError, Drained, Halt, Held
from cuecard.core.i18n import _
from cuecard.core.llm.hub import ModelHub
from cuecard.core.parts import Judge
from cuecard.core.run import RunControl, RunEvent, RunSummary, run_grid
from cuecard.lab.cells import Grid
from cuecard.lab.judging import JudgeFailure, judge_run
from cuecard.lab.plans import RunPlan, RunSettings, create_run, settings_of
from cuecard.lab.playing import playing, take
from cuecard.lab.scores import LEXICAL
from cuecard.lab.spending import Budget, Meter, spent_on
from cuecard.store.leases import BeingPlayed, Lease
from cuecard.store.records import RunRecord, RunState

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

__all__ = [
    "OnRunEvent",
    "RunOutcome",
    "RunPlan",
    "RunSettings",
    "create_run",
    "left_behind",
    "resume_run",
    "settle_runs",
    "start_run",
]

OnRunEvent = Callable[[RunEvent], None]


@dataclass(frozen=True)
class RunOutcome:
    """A run after it was played: its record, what `run_grid` counted, and trials left unjudged."""

    run: RunRecord
    summary: RunSummary
    unjudged: tuple[JudgeFailure, ...]

    @property
    def halt(self) -> Halt | None:
        """Why it stopped before its end, if it did not go wrong in a trial only."""
        return self.summary.halt


async def start_run(
    workspace: Workspace,
    plan: RunPlan,
    *,
    by: str,
    config: Config = EMBEDDED,
    judge: Judge | None = None,
    on_event: OnRunEvent | None = None,
    control: RunControl | None = None,
) -> RunOutcome:
    """`create_run`, then `resume_run`: play the whole grid."""
    run = await asyncio.to_thread(create_run, workspace, plan, by=by, config=config)
    return await resume_run(
        workspace,
        run.id,
        config=config,
        concurrency=plan.concurrency,
        judge=judge,
        on_event=on_event,
        control=control,
        by=by,
    )


async def resume_run(
    workspace: Workspace,
    run_id: int,
    *,
    config: Config = EMBEDDED,
    concurrency: int = 4,
    judge: Judge | None = None,
    on_event: OnRunEvent | None = None,
    control: RunControl | None = None,
    rerun_failed: bool = False,
    budget: Budget | float | None = None,
    only: Collection[int] | None = None,
    by: str = "",
) -> RunOutcome:
    """Play the run's open trials, each from its last event, and judge what is not judged.

    Each trial is judged when it ends, by all judges of the run or by `judge` alone. `rerun_failed`:
    also the trials that ended in a failure, those of a failed call from where they stopped.
    `budget` takes the place of the run's; a `Budget` can be changed meanwhile. `only`: of these trials. Cells in `on_event` are trial ids as text.

    Cancelled or drained through `control`, the run becomes `cancelled` and its open trials stay to be
    resumed; stopped by another `Halt` (`Held`, a model that keeps failing, the budget) it becomes `paused`;
    killed, it is `interrupted`. Meanwhile it is held for `by`; should it be taken over because this process seemed
    gone, playing stops and the run is left to whoever has it. Raises `NotFound`, `ConfigError`, `BeingPlayed`, and
    `CuecardError` for a play session: that needs its person.
    """
    run = await asyncio.to_thread(workspace.runs.get, run_id)
    if run.kind == "play":
        raise CuecardError(_("This is a play session"), run.name, _("Go on playing it in the app."))
    if settings_of(run).rescored and run.finished < run.trials:
        raise CuecardError(
            _("Rescoring was interrupted here"),
            run.name,
            _("`cuecard rescore` of the run that it came from goes on with it."),
        )
    control = control or RunControl()
    hub = ModelHub(config)
    taken_over = Held(_("The run is played elsewhere now"), _("this process seemed to be gone"))
    lease = await take(workspace, run_id, by, lambda: control.pause(taken_over))
    try:
        settings = settings_of(run)
        judges = [judge] if judge else _judges(settings, config, hub)
        spent = await asyncio.to_thread(spent_on, workspace, run_id)
        control.when_paused(hub.stop)
        meter = Meter(spent, budget or settings.budget, control)
        grid = Grid(workspace, run, config, hub, judges, meter.judged)
        trials = await asyncio.to_thread(workspace.runs.trials, run_id)
        cells = [
            grid.cell(trial)
            for trial in trials
            if only is None or trial.id in only
            if trial.termination is None or (rerun_failed and trial.termination.is_failure)
        ]
        if settings.probe is None and settings.replay is None:
            played = {t.agent.name for t in trials if t.termination is None or rerun_failed}
            check_commands(played, config)
        await asyncio.to_thread(_keep_prompts, workspace, config)
        await asyncio.to_thread(workspace.runs.set_state, run_id, RunState.RUNNING)

        def told(event: RunEvent) -> None:
            meter.told(event)
            if on_event:
                on_event(event)

        summary = await run_grid(cells, concurrency=concurrency, on_event=told, control=control)
        return await _finish(workspace, lease, summary, judges, meter, control)
    finally:
        await asyncio.to_thread(workspace.leases.release, lease)
        await hub.close()


async def _finish(
    workspace: Workspace,
    lease: Lease,
    summary: RunSummary,
    judges: Sequence[Judge],
    meter: Meter,
    control: RunControl,
) -> RunOutcome:
    run_id = lease.run_id
    run = await asyncio.to_thread(workspace.runs.get, run_id)
    if lease.lost:
        return RunOutcome(run=run, summary=summary, unjudged=())
    unjudged: list[JudgeFailure] = []
    # Cancelled after the last trial had ended, there is nothing to resume, so it is judged now.
    if summary.halt is None and (not summary.cancelled or run.finished == run.trials):
        for judge in judges:
            unjudged += await judge_run(
                workspace, run_id, judge, on_call=meter.judged, control=control
            )
    await asyncio.to_thread(_conclude, workspace, run_id, summary.halt)
    await asyncio.to_thread(workspace.leases.release, lease)
    run = await asyncio.to_thread(workspace.runs.get, run_id)
    return RunOutcome(run=run, summary=summary, unjudged=tuple(unjudged))


async def settle_runs(workspace: Workspace, *, by: str = "", config: Config = EMBEDDED) -> int:
    """Judge and close what killed processes left behind: runs and sessions all of whose trials have ended and that
    provably nobody plays. Returns how many there were.

    They are judged by the judges that they were begun with. Rules judge for everybody; what a model is to judge costs
    something, so of that only `by`'s own sessions are concluded. Other runs are when somebody goes on with them.
    Raises `ConfigError` for a judge that cannot be made.
    """
    settled = 0
    for run in await asyncio.to_thread(left_behind, workspace, by):
        hub = ModelHub(config)
        try:
            async with playing(workspace, run.id, by):
                for judge in _judges(settings_of(run), config, hub):
                    await judge_run(workspace, run.id, judge)
                await asyncio.to_thread(_conclude, workspace, run.id, None)
                settled += 1
        except BeingPlayed:
            continue
        finally:
            await hub.close()
    return settled


def left_behind(workspace: Workspace, by: str) -> list[RunRecord]:
    """What `settle_runs` would conclude."""
    return [
        run
        for run in workspace.runs.all(unfinished=True)
        if run.trials and run.finished == run.trials and run.state is not RunState.RUNNING
        if _may_settle(run, by)
    ]


def _may_settle(run: RunRecord, by: str) -> bool:
    settings = settings_of(run)
    own = run.kind == "play" and run.created_by == by
    # Rescoring judges in its own way, and goes on with that.
    return not settings.rescored and (own or set(settings.judges) <= {LEXICAL})


def _conclude(workspace: Workspace, run_id: int, halt: Halt | None) -> None:
    run = workspace.runs.get(run_id)
    if run.finished == run.trials:
        workspace.runs.set_state(run_id, RunState.DONE)
    elif isinstance(halt, Held) or (halt is not None and not isinstance(halt, Drained)):
        workspace.runs.set_state(run_id, RunState.PAUSED, str(halt))
    else:
        workspace.runs.set_state(run_id, RunState.CANCELLED)


def _judges(settings: RunSettings, config: Config, hub: ModelHub) -> list[Judge]:
    from cuecard.core.judges.registry import build_judge

    return [build_judge(name, config, hub) for name in settings.judges]


def _keep_prompts(workspace: Workspace, config: Config) -> None:
    """Have the texts behind the prompt hashes of this run's calls in the workspace."""
    from cuecard.core.prompts import all_prompts

    for prompt in all_prompts(config):
        workspace.prompts.keep(prompt.hash, prompt.text)
