"""Runs quality probes (recorded, resumable and budgeted like any run) and gathers what they say about a revision."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cuecard.core.archive import outlast
from cuecard.core.config import Config
from cuecard.core.engine.events import RunEvent, RunSummary, TrialFinished
from cuecard.core.engine.players import build_judge
from cuecard.core.engine.run_control import RunControl
from cuecard.core.evaluation.ended_work import offer_judging
from cuecard.core.evaluation.judging import judge_run, load_prediction
from cuecard.core.evaluation.offering import follow_run, offer_run
from cuecard.core.evaluation.plans import check_prices, enter_run, settings_of
from cuecard.core.evaluation.probe_plan import NO_ATTEMPT, ProbePlan, plan_probe
from cuecard.core.evaluation.runs import OnRunEvent, RunOutcome, change_budget, resume_run, spent_on
from cuecard.core.evaluation.sharing import within_limits
from cuecard.core.families.registry import facts_of
from cuecard.core.i18n import _
from cuecard.core.llm.hub import ModelHub
from cuecard.core.predictions import answer_of
from cuecard.core.probes.examiner import UNUSABLE
from cuecard.core.probes.findings import conflicts, finding_of, score_of_attempt
from cuecard.core.probes.results import (
    ATTEMPTS,
    PROBES,
    ProbeName,
    ProbeOutcome,
    ProbeResult,
    ProbeSetting,
    models_of,
    not_applicable,
    read_examination,
)
from cuecard.core.records import RunState, TrialRecord
from cuecard.core.tasks.models import Task
from cuecard.core.text import one_line

if TYPE_CHECKING:
    from cuecard.core.archive import Archive


_REASON = 300
_LEAST = 1e-6
_REPORTED = 160


def probe_results(
    workspace: Archive, task_id: str, revision: int, *, right_at: float | None = None
) -> tuple[ProbeResult, ...]:
    """The results of all probes of a revision, in the order of `PROBES`: the newest trial of each model and sample, what
    rules say, and why a probe does not apply. A probe that applies and was never run has no result. `right_at`: the
    score from which an attempt counts as right, instead of the one that each run was made with.

    Blocks for the database. Raises `NotFound`.
    """
    task = workspace.tasks.revision(task_id, revision).task
    trials = _newest(workspace, task_id, revision)
    costs = _costs(workspace, [trial.id for _setting, trial in trials])
    by_probe: dict[ProbeName, list[ProbeResult]] = defaultdict(list)
    for setting, trial in trials:
        bar = setting.right_at if right_at is None else right_at
        result = _result(workspace, task, setting, trial, bar)
        by_probe[setting.name].append(result.model_copy(update={"cost": costs.get(trial.id)}))
    return tuple(
        result
        for probe in PROBES
        for result in (
            *_by_rule(probe, task),
            *sorted(by_probe[probe], key=lambda r: (r.baseline, r.model, r.sample)),
        )
    )


def _newest(
    workspace: Archive, task_id: str, revision: int
) -> list[tuple[ProbeSetting, TrialRecord]]:
    """The newest trial by probe, model and sample, also of samples that the newest run did not play."""
    settings: dict[int, ProbeSetting | None] = {}
    found: dict[tuple[str, str, bool, int], tuple[ProbeSetting, TrialRecord]] = {}
    for trial in workspace.runs.trials_of(task_id, revision, "probe"):
        if trial.run_id not in settings:
            settings[trial.run_id] = settings_of(workspace.runs.get(trial.run_id)).probe
        setting = settings[trial.run_id]
        if setting is not None:
            key = (setting.name, trial.agent.name, setting.baseline, trial.sample)
            found[key] = (setting, trial)
    return list(found.values())


def _costs(workspace: Archive, trial_ids: list[int]) -> dict[int, float]:
    costs: dict[int, float] = {}
    for used in workspace.runs.usage_of(trial_ids):
        if used.cost is not None:
            costs[used.trial_id] = costs.get(used.trial_id, 0.0) + used.cost
    return costs


def _by_rule(probe: ProbeName, task: Task) -> Iterator[ProbeResult]:
    if reason := not_applicable(probe, task):
        yield ProbeResult(probe=probe, skipped=reason, why="not_applicable")
    elif probe == "laws":
        found = conflicts(facts_of(task))
        yield ProbeResult(probe=probe, right=not found, findings=found)


def _result(
    workspace: Archive, task: Task, setting: ProbeSetting, trial: TrialRecord, bar: float
) -> ProbeResult:
    searches = setting.name == "open_book"
    result = ProbeResult(
        probe=setting.name,
        run_id=trial.run_id,
        trial_id=trial.id,
        model=trial.agent.name,
        baseline=trial.agent.baseline or (searches and trial.world.baseline),
        sample=trial.sample,
    )
    if trial.termination is None:
        changes = {"skipped": _("not played to its end yet"), "why": "open"}
    elif trial.termination in NO_ATTEMPT:
        reason = one_line(trial.detail, _REASON) or trial.termination.value
        changes = {"skipped": reason, "why": "failed"}
    elif setting.name in ATTEMPTS:
        changes = _of_attempt(workspace, task, trial, bar)
    else:
        changes = _of_examination(workspace, task, trial, bar)
    return result.model_copy(update=changes)


def _of_attempt(
    workspace: Archive, task: Task, trial: TrialRecord, bar: float
) -> dict[str, object]:
    prediction = load_prediction(workspace, trial.id)
    told = (prediction.reported(_REPORTED),)
    judged = workspace.verdicts.of_trial(trial.id)
    if not judged:
        reason = _("not judged yet")
        return {"findings": told, "skipped": reason, "why": "unjudged"}
    measure = score_of_attempt(task, prediction, judged[0].judgement)
    if measure.value is None:
        return {"findings": told, "skipped": measure.reason, "why": "unjudged"}
    return {"findings": told, "score": measure.value, "right": measure.value >= bar}


def _of_examination(
    workspace: Archive, task: Task, trial: TrialRecord, bar: float
) -> dict[str, object]:
    prediction = load_prediction(workspace, trial.id)
    examination = read_examination(answer_of(prediction) or "")
    finding = finding_of(examination, task, bar) if examination else None
    if finding is None or finding.right is None:
        return {
            "findings": finding.told if finding else (),
            "skipped": _(UNUSABLE),
            "why": "unusable",
        }
    return {"findings": finding.told, "score": finding.score, "right": finding.right}


async def run_probe(
    workspace: Archive,
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
    workers: bool = False,
) -> ProbeOutcome:
    """Probe the newest revisions of these tasks, as a run of the kind `probe`.

    Trials recorded with the same revision and players are not played again, unless `again`. Those that `by` left open
    (killed, paused) or that failed in a call go on from their last event. The results of a task are all of this
    probe's results on its revision, followed by the reasons why some models did not try.

    `workers`: they play it, and `concurrency` is theirs; `budget` is what they may spend on it now.

    A model that cannot be called (no key) is skipped with the reason. Without any model only `open_book` can be
    played, by the offline agent, as a baseline. Raises `NotFound`, and `ConfigError` for a judge or world that cannot be
    made, or for a budget where a model has no price.
    """
    control = control or RunControl()
    plan = await asyncio.to_thread(
        plan_probe, workspace, probe, task_ids, config=config, by=by, budget=budget, again=again
    )
    _check(plan, config, budget)
    played: list[RunOutcome] = []
    problems: dict[str, None] = {}

    def relay(event: RunEvent) -> None:
        if isinstance(event, TrialFinished) and event.problem:
            problems[event.problem] = None
        if on_event:
            on_event(event)

    spent = 0.0

    async def play_by_workers(run_id: int, only: Sequence[int] | None) -> None:
        nonlocal spent
        before = await outlast(workspace, spent_on, workspace, run_id)
        if budget is not None:
            left = max(before + budget - spent, _LEAST)
            await outlast(workspace, change_budget, workspace, run_id, left, config)
        purpose = "play" if only is None else "retry"
        await offer_run(workspace, run_id, by=by, purpose=purpose, only=only)
        halt = await follow_run(
            workspace, run_id, config=config, by=by, control=control, on_event=relay
        )
        spent += await outlast(workspace, spent_on, workspace, run_id) - before
        if halt is not None:
            control.pause(halt)
        run = await outlast(workspace, workspace.runs.get, run_id)
        summary = RunSummary(run.trials, halt=control.halt)
        played.append(RunOutcome(run=run, summary=summary, unjudged=()))

    async def play(run_id: int, only: Sequence[int] | None) -> None:
        if workers and only != []:
            await play_by_workers(run_id, only)
            return
        played.append(
            await resume_run(
                workspace,
                run_id,
                config=config,
                concurrency=concurrency,
                on_event=relay,
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
        await _judge_recorded(workspace, plan, config, control, by if workers else None)
    failures = [failure for outcome in played for failure in outcome.unjudged]
    runs = [*plan.recorded, *(outcome.run.id for outcome in played)]
    return ProbeOutcome(
        probe=probe,
        run_id=runs[-1] if runs else None,
        results=await asyncio.to_thread(_results, workspace, plan),
        left_open=sum(outcome.run.trials - outcome.run.finished for outcome in played),
        halt=next((str(outcome.halt) for outcome in played if outcome.halt), ""),
        problems=tuple(dict.fromkeys([*problems, *(failure.reason for failure in failures)])),
        spent=spent,
    )


def _goes_on(control: RunControl) -> bool:
    return control.halt is None and not control.cancelled


def _check(plan: ProbePlan, config: Config, budget: float | None) -> None:
    """Raises `ConfigError`, before any run is created, for a player or price that all trials would need."""
    settings = plan.settings
    hub = ModelHub(config)
    for judge in settings.judges:
        build_judge(judge, config, hub)
    if budget is not None:
        world = config.world(settings.world)
        names = config.judge_models(settings.judges) | {getattr(world, "model", "")}
        names.add(getattr(getattr(world, "visit", None), "model", ""))
        check_prices({*names, *models_of(plan.probe, config)}, config)


def _not_concluded(workspace: Archive, run_ids: Sequence[int]) -> list[int]:
    """Those of these runs whose trials have all ended, but which were killed before they were judged."""
    runs = [workspace.runs.get(run_id) for run_id in run_ids]
    left = [r for r in runs if r.state is not RunState.DONE and r.finished == r.trials]
    return [run.id for run in left]


async def _judge_recorded(
    workspace: Archive, plan: ProbePlan, config: Config, control: RunControl, offers: str | None
) -> None:
    """What was recorded earlier, by the judge of today: where it has judged to the end, nothing happens. `offers`: who has
    workers judge.
    """
    if offers is not None:
        for run_id in plan.recorded if plan.settings.judges else ():
            judges = plan.settings.judges
            if await offer_judging(workspace, run_id, judges, config, by=offers):
                await follow_run(workspace, run_id, config=config, by=offers, control=control)
        return
    async with ModelHub(config) as hub, within_limits(workspace, hub, control=control):
        for name in plan.settings.judges:
            for run_id in plan.recorded:
                judge = build_judge(name, config, hub)
                await judge_run(workspace, run_id, judge, control=control)


def _results(workspace: Archive, plan: ProbePlan) -> dict[str, tuple[ProbeResult, ...]]:
    bar = plan.settings.probe.right_at if plan.settings.probe else None
    found: dict[str, tuple[ProbeResult, ...]] = {}
    for task_id, skipped in plan.skipped.items():
        revision = plan.revisions[task_id]
        results = probe_results(workspace, task_id, revision, right_at=bar)
        # The results already say why a probe does not apply.
        told = (each for each in skipped if each.why != "not_applicable")
        found[task_id] = (*(r for r in results if r.probe == plan.probe), *told)
    return found
