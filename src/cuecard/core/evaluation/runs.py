"""Runs: plays and judges a grid of trials of the workspace, resumes it, and pauses it when its budget is spent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.core.archive import outlast
from cuecard.core.config import EMBEDDED, Config
from cuecard.core.engine.events import RunEvent as EngineEvent
from cuecard.core.engine.events import RunSummary
from cuecard.core.engine.players import check_commands
from cuecard.core.engine.run import run_grid
from cuecard.core.engine.run_control import RunControl
from cuecard.core.engine.step_context import Judge
from cuecard.core.errors import CuecardError, DatabaseAway, Halt, PausedByPerson, StoppedByPerson
from cuecard.core.evaluation.judging import JudgeFailure, judge_run
from cuecard.core.evaluation.plans import RunPlan, check_prices, create_run, models_in, settings_of
from cuecard.core.evaluation.run_trials import Grid, playing, take
from cuecard.core.evaluation.sharing import Budget, Meter, shared
from cuecard.core.i18n import _, headed
from cuecard.core.llm.hub import ModelHub
from cuecard.core.players import all_embedded
from cuecard.core.records import RunRecord, RunState
from cuecard.core.worker_archive import AlreadyPlayed, Lease

if TYPE_CHECKING:
    from cuecard.core.archive import Archive


def budget_of(run: RunRecord) -> float | None:
    """The run's budget, as it was created with or changed since; None: without limit."""
    return settings_of(run).budget


def change_budget(workspace: Archive, run_id: int, amount: float | None, config: Config) -> None:
    """Store another budget with the run, which holds when it is resumed. Raises `NotFound`, `ConfigError` if a model
    that the run calls has no price, and `ValueError` unless the amount is above 0.
    """
    if amount is not None and amount <= 0:
        raise ValueError("a budget is above 0")
    run = workspace.runs.get(run_id)
    settings = settings_of(run).model_copy(update={"budget": amount})
    if amount is not None:
        agents = {trial.agent.name for trial in workspace.runs.trials(run_id)}
        check_prices(models_in(sorted(agents), settings, config), config)
    workspace.runs.set_plan(run_id, settings.model_dump(mode="json"))


def spent_on(workspace: Archive, run_id: int) -> float:
    """What the run's calls have cost so far; calls of models without a price count as 0."""
    return sum(used.cost or 0.0 for used in workspace.runs.usage(run_id))


OnRunEvent = Callable[[EngineEvent], None]


@dataclass(frozen=True)
class RunOutcome:
    """A run after it was played: its record, what `run_grid` counted, and trials left unjudged."""

    run: RunRecord
    summary: RunSummary
    unjudged: tuple[JudgeFailure, ...]

    @property
    def halt(self) -> Halt | None:
        """Why the run stopped before its end; None if it did not."""
        return self.summary.halt


async def start_run(
    workspace: Archive,
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
    workspace: Archive,
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

    Each trial is judged when it ends, by all judges of the run or by `judge` alone. `rerun_failed`: play trials that
    failed too; those that failed in a call go on where they stopped, others start over. `budget` replaces the run's; a
    `Budget` can be changed meanwhile. `only`: the ids of the trials to play. Cells in `on_event` are trial ids as text.

    If it is cancelled or drained through `control`, the run becomes `cancelled` and its open trials can be resumed; if
    another `Halt` stops it (`PausedByPerson`, a model that keeps failing, the budget) it becomes `paused`; if the process is
    killed, `interrupted`. Meanwhile it is held for `by`. Should another process take it over because this one seemed
    gone, this one stops. Raises `NotFound`, `ConfigError`, `AlreadyPlayed`, and `CuecardError` for a play session, which
    cannot go on without its person.
    """
    run = await asyncio.to_thread(workspace.runs.get, run_id)
    if run.kind == "play":
        raise CuecardError(_("This is a play session"), run.name, _("Go on playing it in the app."))
    if (exam := settings_of(run).exam) is not None:
        hint = _("`cuecard exam {judge}` goes on with it.").format(judge=exam.judge.name)
        raise CuecardError(_("This is the exam of a judge"), run.name, hint)
    if settings_of(run).rescored and run.state is not RunState.DONE:
        raise CuecardError(
            _("Rescoring was interrupted here"),
            run.name,
            _("`cuecard rescore` of the run that it came from goes on with it."),
            in_app=_("<run.rescore> on the run that it came from goes on with it."),
        )
    control = control or RunControl()
    hub = ModelHub(config)
    taken_over = PausedByPerson(
        _("The run is played elsewhere now"), _("this process seemed to be gone")
    )
    after = await asyncio.to_thread(workspace.orders.last)
    lease = await take(workspace, run_id, by, lambda: control.pause(taken_over))
    try:
        settings = settings_of(run)
        judges = [judge] if judge else judges_of(settings.judges, config, hub)
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
        await asyncio.to_thread(keep_prompts, workspace, config)
        await asyncio.to_thread(workspace.runs.set_state, run_id, RunState.RUNNING)

        def relay(event: EngineEvent) -> None:
            meter.on_event(event)
            if on_event:
                on_event(event)

        async with shared(workspace, lease.owner, run_id, hub, control, meter, after=after):
            summary = await run_grid(
                cells, concurrency=concurrency, on_event=relay, control=control
            )
            return await _finish(workspace, lease, summary, judges, meter, control)
    finally:
        await asyncio.to_thread(workspace.leases.release, lease)
        await hub.close()


async def _finish(
    workspace: Archive,
    lease: Lease,
    summary: RunSummary,
    judges: Sequence[Judge],
    meter: Meter,
    control: RunControl,
) -> RunOutcome:
    if isinstance(summary.halt, DatabaseAway):
        raise summary.halt  # it was waited for long enough
    run_id = lease.run_id
    run = await outlast(workspace, workspace.runs.get, run_id)
    if lease.lost:
        return RunOutcome(run=run, summary=summary, unjudged=())
    unjudged: list[JudgeFailure] = []
    # If it was cancelled after its last trial had ended, there is nothing to resume, so it is judged now.
    if summary.halt is None and (not summary.cancelled or run.finished == run.trials):
        for judge in judges:
            unjudged += await judge_run(
                workspace, run_id, judge, on_call=meter.judged, control=control
            )
    await outlast(workspace, _conclude, workspace, run_id, summary.halt)
    await asyncio.to_thread(workspace.leases.release, lease)
    run = await outlast(workspace, workspace.runs.get, run_id)
    return RunOutcome(run=run, summary=summary, unjudged=tuple(unjudged))


async def conclude(
    workspace: Archive, run_id: int, judges: Sequence[Judge], meter: Meter | None, by: str
) -> bool:
    """Judge what is unjudged of a run that workers played, and close it: once, whoever tries. Returns whether this did.
    Raises `AlreadyPlayed`.
    """
    async with playing(workspace, run_id, by):
        unfinished = await asyncio.to_thread(workspace.runs.all, unfinished=True)
        if not any(run.id == run_id for run in unfinished):
            return False
        for judge in judges:
            on_call = meter.judged if meter else None
            await judge_run(workspace, run_id, judge, on_call=on_call)
        await asyncio.to_thread(_conclude, workspace, run_id, None)
    return True


async def settle_runs(workspace: Archive, *, by: str = "", config: Config = EMBEDDED) -> int:
    """Judge and close runs and sessions that killed processes left behind: all their trials have ended, and it is
    certain that no process plays them. Returns how many there were.

    They are judged by their own judges. Judging by rules is done for everybody; judging by a model costs something, so
    it is done only for sessions of `by`. Other runs are judged when they are resumed. Raises `ConfigError` for a judge
    that cannot be made.
    """
    settled = 0
    for run in await asyncio.to_thread(left_behind, workspace, by):
        hub = ModelHub(config)
        try:
            async with playing(workspace, run.id, by):
                for judge in judges_of(settings_of(run).judges, config, hub):
                    await judge_run(workspace, run.id, judge)
                await asyncio.to_thread(_conclude, workspace, run.id, None)
                settled += 1
        except AlreadyPlayed:
            continue
        finally:
            await hub.close()
    return settled


def left_behind(workspace: Archive, by: str) -> list[RunRecord]:
    """The runs that `settle_runs` would judge and close."""
    return [
        run
        for run in workspace.runs.all(unfinished=True)
        if run.trials and run.finished == run.trials and run.state is not RunState.RUNNING
        if _may_settle(run, by)
    ]


def _may_settle(run: RunRecord, by: str) -> bool:
    settings = settings_of(run)
    own = run.kind == "play" and run.created_by == by
    # A rescored run carries verdicts over; only `rescore_run` can go on with it, and `run_exam` with an exam. Workers judge as they were asked.
    return not (settings.rescored or settings.judging or settings.exam) and (
        own or all_embedded("judge", settings.judges)
    )


def _conclude(workspace: Archive, run_id: int, halt: Halt | None) -> None:
    run = workspace.runs.get(run_id)
    if run.finished == run.trials:
        workspace.runs.set_state(run_id, RunState.DONE)
    elif isinstance(halt, PausedByPerson) or (
        halt is not None and not isinstance(halt, StoppedByPerson)
    ):
        workspace.runs.set_state(run_id, RunState.PAUSED, headed(halt.title, halt.message))
    else:
        workspace.runs.set_state(run_id, RunState.CANCELLED)


def judges_of(names: Sequence[str], config: Config, hub: ModelHub) -> list[Judge]:
    """These judges of the configuration. Raises `ConfigError`."""
    from cuecard.core.engine.players import build_judge

    return [build_judge(name, config, hub) for name in names]


def keep_prompts(workspace: Archive, config: Config) -> None:
    """Store the texts of the prompts, whose hashes are recorded with this run's calls."""
    from cuecard.core.config import all_prompts

    for prompt in all_prompts(config):
        workspace.prompts.keep(prompt.hash, prompt.text)
