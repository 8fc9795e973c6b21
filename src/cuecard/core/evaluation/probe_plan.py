"""Plans a quality probe of tasks: the trials it needs, which of them are recorded already, and its budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cuecard.core.config import Config
from cuecard.core.engine.events import Limits, Termination
from cuecard.core.errors import ConfigError
from cuecard.core.evaluation.plans import (
    RunPlan,
    RunSettings,
    cell_for,
    player_configs,
    settings_of,
)
from cuecard.core.i18n import N_, _
from cuecard.core.llm.hub import ModelHub
from cuecard.core.players import DEFAULT_AGENT
from cuecard.core.probes.results import (
    ATTEMPTS,
    ProbeName,
    ProbeResult,
    ProbeSetting,
    models_of,
    not_applicable,
    samples_of,
    world_of,
)
from cuecard.core.records import RunRecord, TrialCell, TrialRecord
from cuecard.core.tasks.models import Task

if TYPE_CHECKING:
    from cuecard.core.archive import Archive

PROBE_LABEL: dict[ProbeName, str] = {
    "closed_book": N_("closed book"),
    "open_book": N_("open book without asking"),
    "ambiguity": N_("ambiguity"),
    "laws": N_("laws"),
    "with_facts": N_("with all facts"),
}
NO_ATTEMPT = (Termination.API_ERROR, Termination.INTERNAL_ERROR, Termination.CANCELLED)
"""Terminations that say nothing about the task, since the attempt was not completed."""

Cell = tuple[str, int, str, str, str, int]


@dataclass
class ProbePlan:
    """What a probe has to do. `cells`: trials to be played in a new run. `resume`: by run, trials that were left open or
    failed. `recorded`: runs that hold the others. `skipped`: by task, why some or all models play no trial.
    """

    probe: ProbeName
    settings: RunSettings
    revisions: dict[str, int] = field(default_factory=dict[str, int])
    cells: list[TrialCell] = field(default_factory=list[TrialCell])
    resume: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    recorded: list[int] = field(default_factory=list[int])
    skipped: dict[str, list[ProbeResult]] = field(
        default_factory=lambda: defaultdict[str, list[ProbeResult]](list)
    )

    @property
    def run(self) -> RunPlan:
        """The new run."""
        setting = self.settings.probe
        assert setting is not None
        limits = Limits(max_turns=1, max_tool_calls_per_turn=setting.search_calls)
        return RunPlan(
            tasks=tuple(dict.fromkeys(cell.task_id for cell in self.cells)),
            agents=tuple(dict.fromkeys(cell.agent.name for cell in self.cells)),
            name=_("probe: {name}").format(name=_(PROBE_LABEL[self.probe])),
            samples=max(cell.sample for cell in self.cells) + 1,
            limits=limits,
            settings=self.settings,
        )


def plan_probe(
    workspace: Archive,
    probe: ProbeName,
    task_ids: Sequence[str],
    *,
    config: Config,
    by: str,
    budget: float | None = None,
    again: bool = False,
) -> ProbePlan:
    """The plan for the newest revisions of these tasks. Blocks for the database.

    Trials that are recorded with the same revision, players and sample are not played again, unless `again`; those
    that `by` left open or that failed are resumed. Raises `NotFound`.
    """
    models = models_of(probe, config)
    baseline = not models and probe == "open_book"
    plan = ProbePlan(probe, _settings(probe, config, baseline=baseline, budget=budget))
    hub = ModelHub(config)
    tasks = list(dict.fromkeys(task_ids))
    for task_id in tasks:
        revision = workspace.tasks.revision(task_id)
        task, skipped = revision.task, plan.skipped[task_id]
        plan.revisions[task_id] = revision.number
        if reason := not_applicable(probe, task):
            skipped.append(ProbeResult(probe=probe, skipped=reason, why="not_applicable"))
            continue
        if not models:
            reason = _("no model is configured")
            skipped.append(ProbeResult(probe=probe, skipped=reason, why="no_model"))
        past = {} if again else _past(workspace, plan, task_id, revision.number)
        for name in models or ((DEFAULT_AGENT,) if baseline else ()):
            try:
                cell = _cell(plan, task, revision.number, name, config, hub)
            except ConfigError as error:
                reason = str(error)
                skipped.append(ProbeResult(probe=probe, model=name, skipped=reason, why="no_model"))
                continue
            samples = 1 if baseline else samples_of(probe, config.qc)
            for sample in range(samples):
                wanted = cell.model_copy(update={"sample": sample, "seed": sample})
                _place(plan, wanted, past.get(_key(wanted)), by)
    return plan


def _settings(
    probe: ProbeName, config: Config, *, baseline: bool, budget: float | None
) -> RunSettings:
    qc = config.qc
    world, judges = world_of(probe, config), (qc.judge,) if probe in ATTEMPTS else ()
    models = models_of(probe, config)
    return RunSettings(
        world=world,
        judges=judges,
        budget=budget,
        roster=player_configs(config, worlds=(world,), judges=judges, models=models),
        probe=ProbeSetting(
            name=probe, baseline=baseline, search_calls=qc.search_calls, right_at=qc.right_at
        ),
    )


def _cell(
    plan: ProbePlan, task: Task, revision: int, name: str, config: Config, hub: ModelHub
) -> TrialCell:
    return cell_for(task, revision, plan.settings.player_names(name), config, hub)


def _past(
    workspace: Archive, plan: ProbePlan, task_id: str, revision: int
) -> dict[Cell, tuple[RunRecord, TrialRecord]]:
    """The newest trials of this probe on the revision, by their cell (`_key`)."""
    found: dict[Cell, tuple[RunRecord, TrialRecord]] = {}
    runs: dict[int, RunRecord] = {}
    for trial in workspace.runs.trials_of(task_id, revision, "probe"):
        if trial.run_id not in runs:
            runs[trial.run_id] = workspace.runs.get(trial.run_id)
        run = runs[trial.run_id]
        if _same_probe(settings_of(run).probe, plan.settings.probe):
            found[_key(trial)] = (run, trial)
    return found


def _same_probe(one: ProbeSetting | None, other: ProbeSetting | None) -> bool:
    """Whether two settings play trials alike; the bar `right_at` only matters for reading the results."""
    if one is None or other is None:
        return False
    return one.model_copy(update={"right_at": other.right_at}) == other


def _place(
    plan: ProbePlan, wanted: TrialCell, past: tuple[RunRecord, TrialRecord] | None, by: str
) -> None:
    if past is None:
        plan.cells.append(wanted)
        return
    run, trial = past
    if trial.termination is not None and trial.termination not in NO_ATTEMPT:
        if run.id not in plan.recorded:
            plan.recorded.append(run.id)
    elif run.created_by == by:
        plan.resume.setdefault(run.id, []).append(trial.id)
    else:
        plan.cells.append(wanted)


def _key(cell: TrialCell | TrialRecord) -> Cell:
    return (
        cell.task_id,
        cell.revision,
        cell.agent.model_dump_json(),
        cell.user.model_dump_json(),
        cell.world.model_dump_json(),
        cell.sample,
    )
