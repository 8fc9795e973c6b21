"""The stages over tasks of the workspace: what is known now, and running those that play."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING

from cuecard.annotate.lint import lint
from cuecard.annotate.qc.deciding import decisions_for
from cuecard.annotate.qc.decision import propose
from cuecard.annotate.qc.expert import expert_check
from cuecard.annotate.qc.report import QcReport
from cuecard.annotate.qc.stages import STAGE, StageName
from cuecard.annotate.qc.weighing import Material, verdict_report, weigh
from cuecard.core.config import Config
from cuecard.core.probes.results import PROBES, ProbeName, ProbeOutcome, ProbeResult
from cuecard.core.probes.settings import models_of
from cuecard.core.run import RunControl
from cuecard.core.run_events import RunEvent
from cuecard.core.tasks.base import Frozen
from cuecard.lab.plans import check_prices
from cuecard.lab.probes import probe_results, run_probe
from cuecard.lab.probes_plan import plan_probe
from cuecard.lab.spending import Meter
from cuecard.store.records import EffortTotals

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class Planned(Frozen):
    """What running stages comes to: `trials` to play, attempts and examinations, and the `models` that
    are called for them. What is recorded already is not among them. `free`: no model is called.
    """

    trials: int
    models: tuple[str, ...]

    @property
    def free(self) -> bool:
        return not self.models


def probes_of(stages: Collection[StageName]) -> tuple[ProbeName, ...]:
    """The probes that these stages rest on, in their order."""
    wanted = {probe for stage in stages for probe in STAGE[stage].probes}
    return tuple(probe for probe in PROBES if probe in wanted)


def plan_stages(
    workspace: Workspace,
    task_ids: Sequence[str],
    stages: Collection[StageName],
    *,
    config: Config,
    by: str,
) -> Planned:
    """What running these stages would play. Raises `NotFound`."""
    trials = 0
    models: dict[str, None] = {}
    for probe in probes_of(stages):
        plan = plan_probe(workspace, probe, task_ids, config=config, by=by)
        count = len(plan.cells) + sum(map(len, plan.resume.values()))
        trials += count
        if count and not (plan.settings.probe and plan.settings.probe.baseline):
            models |= dict.fromkeys(models_of(probe, config))
    return Planned(trials=trials, models=tuple(models))


async def run_stages(
    workspace: Workspace,
    task_ids: Sequence[str],
    stages: Collection[StageName],
    *,
    config: Config,
    by: str,
    control: RunControl | None = None,
    budget: float | None = None,
    on_probe: Callable[[ProbeName], None] | None = None,
    on_event: Callable[[RunEvent], None] | None = None,
) -> tuple[ProbeOutcome, ...]:
    """Play what these stages need, one probe after the other; stages without a probe need nothing.

    `on_probe` is told which probe begins. When the players' calls have cost `budget` in all, or
    `control` says so, the rest stays open; running the stages again goes on with it. Raises `NotFound`,
    and `ConfigError`: also for a budget where a model has no price.
    """
    control = control or RunControl()
    if budget is not None:
        check_prices(
            {name for probe in probes_of(stages) for name in models_of(probe, config)}, config
        )
    meter = Meter(0.0, budget, control)

    def told(event: RunEvent) -> None:
        meter.told(event)
        if on_event:
            on_event(event)

    outcomes: list[ProbeOutcome] = []
    for probe in probes_of(stages):
        if control.cancelled or control.halt is not None:
            break
        if on_probe:
            on_probe(probe)
        outcomes.append(
            await run_probe(
                workspace,
                probe,
                task_ids,
                config=config,
                by=by,
                on_event=told,
                control=control,
            )
        )
    return tuple(outcomes)


def qc_report(
    workspace: Workspace,
    task_id: str,
    person: str,
    config: Config,
    *,
    revision: int | None = None,
    today: date | None = None,
) -> QcReport:
    """What is known of a revision (None: the newest), as `person` may see it. Blocks for the database.
    Raises `NotFound`.
    """
    found = workspace.tasks.revision(task_id, revision)
    probes = probe_results(workspace, task_id, found.number, right_at=config.qc.right_at)
    material = Material(
        task=found.task,
        findings=lint(found.task, today),
        probes=probes,
        run_dates=_dates(workspace, probes),
        effort=_effort(workspace, task_id),
        check=expert_check(workspace, task_id, found.number, config.qc),
        bars=config.qc,
        without_model=frozenset(probe for probe in PROBES if not models_of(probe, config)),
    )
    signals, reports = weigh(material)
    proposal = propose(signals)
    decisions = decisions_for(
        workspace.reviews.seen_log(person, task_id),
        workspace.reviews.standing(task_id),
        found.number,
        person,
        signals,
    )
    return QcReport(
        task_id=task_id,
        title=found.task.title,
        revision=found.number,
        stages=(*reports, verdict_report(proposal, decisions)),
        signals=signals,
        proposal=proposal,
        check=material.check,
        decisions=decisions,
    )


def _dates(workspace: Workspace, results: Sequence[ProbeResult]) -> dict[int, datetime]:
    ids = {result.run_id for result in results if result.run_id is not None}
    return {run_id: workspace.runs.get(run_id).created_at for run_id in ids}


def _effort(workspace: Workspace, task_id: str) -> EffortTotals | None:
    totals = workspace.effort.totals(task_id)
    return totals if totals != EffortTotals() else None
