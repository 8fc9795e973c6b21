"""Quality probes as runs: recorded, resumable and paid for like any other."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuecard.core.config import Config
from cuecard.core.judges.registry import build_judge
from cuecard.core.llm.hub import ModelHub
from cuecard.core.probes.results import ProbeName, ProbeOutcome, ProbeResult
from cuecard.core.probes.settings import models_of
from cuecard.core.run import RunControl
from cuecard.core.run_events import RunEvent, TrialFinished
from cuecard.lab.judging import judge_run
from cuecard.lab.plans import check_prices, enter_run
from cuecard.lab.probes_plan import ProbePlan, plan_probe
from cuecard.lab.probes_results import probe_results
from cuecard.lab.runs import OnRunEvent, RunOutcome, resume_run
from cuecard.store.records import RunState

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

__all__ = ["probe_results", "run_probe"]


async def run_probe(
    workspace: Workspace,
    probe: ProbeName,
    task_ids: Sequence[str],
    *,
    config: Config,
    by: str,
    on_event: OnRunEvent | None = None,
    control: RunControl | None = None,
    concurrency: int = 4,
    budget: float | None = None,
    again: bool = False,
) -> ProbeOutcome:
    """Probe the newest revisions of these tasks, as a run of the kind `probe`.

    What is recorded of the same revision and players is not played again, unless `again`. What `by` left
    open (killed, paused) or what failed in a call is gone on with from its last event. The results of a
    task are all of this probe's on its revision, then why some model did not try, if any.

    A model that cannot be called (no key) is skipped with the reason; without any model only open_book
    has something to play, by the embedded agent: a baseline. Raises `NotFound`, and `ConfigError` for a
    judge or world that cannot be made, or a budget without prices.
    """
    control = control or RunControl()
    plan = await asyncio.to_thread(
        plan_probe,
        workspace,
        probe,
        task_ids,
        config=config,
        by=by,
        budget=budget,
        again=again,
    )
    _check(plan, config, budget)
    played: list[RunOutcome] = []
    problems: dict[str, None] = {}

    def told(event: RunEvent) -> None:
        if isinstance(event, TrialFinished) and event.problem:
            problems[event.problem] = None
        if on_event:
            on_event(event)

    async def play(run_id: int, only: Sequence[int] | None) -> None:
        played.append(
            await resume_run(
                workspace,
                run_id,
                config=config,
                concurrency=concurrency,
                on_event=told,
                control=control,
                rerun_failed=only is not None,
                budget=budget,
                only=only,
                by=by,
            )
        )

    left = await asyncio.to_thread(_not_concluded, workspace, plan.recorded)
    for run_id, trials in (plan.resume | {run_id: [] for run_id in left}).items():
        if _goes_on(control):
            await play(run_id, trials)
    if plan.cells and _goes_on(control):
        entered = await asyncio.to_thread(enter_run, workspace, plan.run, plan.cells, by)
        await play(entered.id, None)
    if plan.recorded and _goes_on(control):
        await _judge_recorded(workspace, plan, config, control)
    failures = [failure for outcome in played for failure in outcome.unjudged]
    runs = [*plan.recorded, *(outcome.run.id for outcome in played)]
    return ProbeOutcome(
        probe=probe,
        run_id=runs[-1] if runs else None,
        results=await asyncio.to_thread(_results, workspace, plan),
        left_open=sum(outcome.run.trials - outcome.run.finished for outcome in played),
        halt=next((str(outcome.halt) for outcome in played if outcome.halt), ""),
        problems=tuple(dict.fromkeys([*problems, *(failure.reason for failure in failures)])),
    )


def _goes_on(control: RunControl) -> bool:
    return control.halt is None and not control.cancelled


def _check(plan: ProbePlan, config: Config, budget: float | None) -> None:
    """Raises `ConfigError`, before anything is entered, for what no trial could do without."""
    settings = plan.settings
    hub = ModelHub(config)
    for judge in settings.judges:
        build_judge(judge, config, hub)
    if budget is not None:
        players = [config.world(settings.world), *map(config.judge, settings.judges)]
        names = {getattr(player, "model", "") for player in players}
        names |= {getattr(getattr(player, "visit", None), "model", "") for player in players}
        check_prices({*names, *models_of(plan.probe, config)}, config)


def _not_concluded(workspace: Workspace, run_ids: Sequence[int]) -> list[int]:
    """Of these runs those that ended, but were killed before they were judged."""
    runs = [workspace.runs.get(run_id) for run_id in run_ids]
    left = [r for r in runs if r.state is not RunState.DONE and r.finished == r.trials]
    return [run.id for run in left]


async def _judge_recorded(
    workspace: Workspace, plan: ProbePlan, config: Config, control: RunControl
) -> None:
    """What was recorded earlier, by the judge of today: where it has judged to the end, nothing happens."""
    hub = ModelHub(config)
    control.when_paused(hub.stop)
    try:
        for name in plan.settings.judges:
            for run_id in plan.recorded:
                judge = build_judge(name, config, hub)
                await judge_run(workspace, run_id, judge, control=control)
    finally:
        await hub.close()


def _results(workspace: Workspace, plan: ProbePlan) -> dict[str, tuple[ProbeResult, ...]]:
    bar = plan.settings.probe.right_at if plan.settings.probe else None
    found: dict[str, tuple[ProbeResult, ...]] = {}
    for task_id, skipped in plan.skipped.items():
        revision = plan.revisions[task_id]
        results = probe_results(workspace, task_id, revision, right_at=bar)
        # Why a probe does not apply is among the results already.
        told = (each for each in skipped if each.why != "not_applicable")
        found[task_id] = (*(r for r in results if r.probe == plan.probe), *told)
    return found
