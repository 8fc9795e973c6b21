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
from cuecard.lab.scores import LEXICAL
from cuecard.lab.spending import Budget, Meter, spent_on
from cuecard.store.records import RunRecord, RunState

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

__all__ = [
    "OnRunEvent",
    "RunOutcome",
    "RunPlan",
    "RunSettings",
    "create_run",
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
) -> RunOutcome:
    """Play the run's open trials, each from its last event, and judge what is not judged.

    Each trial is judged when it ends, by all judges of the run or by `judge` alone. `rerun_failed`:
    also the trials that ended in a failure, those of a failed call from where they stopped.
    `budget` takes the place of the run's; a `Budget` can be changed meanwhile. `only`: of these trials. Cells in `on_event` are trial ids as text.

    Cancelled or drained through `control`, the run becomes `cancelled` and its open trials stay to be
    resumed; stopped by another `Halt` (`Held`, a model that keeps failing, the budget) it becomes `paused`;
    killed, it stays `running`. Raises `NotFound`, `ConfigError`, and `CuecardError` for a play session:
    that needs its person.
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
        return await _finish(workspace, run_id, summary, judges, meter, control)
    finally:
        await hub.close()


async def _finish(
    workspace: Workspace,
    run_id: int,
    summary: RunSummary,
    judges: Sequence[Judge],
    meter: Meter,
    control: RunControl,
) -> RunOutcome:
    run = await asyncio.to_thread(workspace.runs.get, run_id)
    unjudged: list[JudgeFailure] = []
    # Cancelled after the last trial had ended, there is nothing to resume, so it is judged now.
    if summary.halt is None and (not summary.cancelled or run.finished == run.trials):
        for judge in judges:
            unjudged += await judge_run(
                workspace, run_id, judge, on_call=meter.judged, control=control
            )
    run = await asyncio.to_thread(_conclude, workspace, run_id, summary.halt)
    await settle_runs(workspace)
    return RunOutcome(run=run, summary=summary, unjudged=tuple(unjudged))


async def settle_runs(workspace: Workspace, judge: Judge | None = None) -> None:
    """Judge (lexically, unless `judge` is given) and close what a killed process left behind: runs and
    sessions all of whose trials have ended. Open trials are not touched, nor are probes that a model
    judges: their verdicts must be its own, and are made when the probe is gone on with.
    """

    def left_behind() -> list[int]:
        running = [run for run in workspace.runs.all() if run.state is RunState.RUNNING]
        ended = [run for run in running if run.trials and run.finished == run.trials]
        return [run.id for run in ended if run.kind != "probe" or _judged_by_rule(run)]

    for run_id in await asyncio.to_thread(left_behind):
        await judge_run(workspace, run_id, judge)
        await asyncio.to_thread(_conclude, workspace, run_id, None)


def _judged_by_rule(run: RunRecord) -> bool:
    return set(settings_of(run).judges) <= {LEXICAL}


def _conclude(workspace: Workspace, run_id: int, halt: Halt | None) -> RunRecord:
    run = workspace.runs.get(run_id)
    if run.finished == run.trials:
        workspace.runs.set_state(run_id, RunState.DONE)
    elif isinstance(halt, Held) or (halt is not None and not isinstance(halt, Drained)):
        workspace.runs.set_state(run_id, RunState.PAUSED, str(halt))
    else:
        workspace.runs.set_state(run_id, RunState.CANCELLED)
    return workspace.runs.get(run_id)


def _judges(settings: RunSettings, config: Config, hub: ModelHub) -> list[Judge]:
    from cuecard.core.judges.registry import build_judge

    return [build_judge(name, config, hub) for name in settings.judges]


def _keep_prompts(workspace: Workspace, config: Config) -> None:
    """Have the texts behind the prompt hashes of this run's calls in the workspace."""
    from cuecard.core.prompts import all_prompts

    for prompt in all_prompts(config):
        workspace.prompts.keep(prompt.hash, prompt.text)
