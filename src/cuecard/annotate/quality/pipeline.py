"""Quality control of tasks: running the stages that play, the expert's labels, and a person's decision."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, cast

from cuecard.annotate.agreement.coefficients import percent_coefficient
from cuecard.annotate.labelling.comparison_inputs import ComparisonInputs, inputs_of
from cuecard.annotate.labelling.comparison_model import MAJORITY, Rater, columns_of
from cuecard.annotate.lint.rules import lint
from cuecard.annotate.quality.decision_table import STAGE, Signals, StageName, propose
from cuecard.annotate.quality.report import (
    ExpertCheck,
    PersonDecision,
    QcInputs,
    QcReport,
    verdict_report,
    weigh,
)
from cuecard.core.config import Config
from cuecard.core.config_schema import QcConfig
from cuecard.core.contributions import Contribution, QcDecided, QcVerdict
from cuecard.core.engine.events import RunEvent
from cuecard.core.engine.run_control import RunControl
from cuecard.core.errors import Conflict, NotAllowed
from cuecard.core.evaluation.plans import check_prices
from cuecard.core.evaluation.probe_plan import plan_probe
from cuecard.core.evaluation.probes import probe_results, run_probe
from cuecard.core.evaluation.sharing import Meter
from cuecard.core.i18n import _
from cuecard.core.probes.results import (
    EXAMINER,
    PROBES,
    ProbeName,
    ProbeOutcome,
    ProbeResult,
    models_of,
)
from cuecard.core.records import EffortTotals, TrialRecord
from cuecard.core.review import Standing, TaskLog, standing_of
from cuecard.core.tables.table import Statistic
from cuecard.core.tasks.base import Frozen

if TYPE_CHECKING:
    from pydantic import JsonValue

    from cuecard.store.workspace import Workspace


def expert_check(
    workspace: Workspace, task_id: str, revision: int, bars: QcConfig
) -> ExpertCheck | None:
    """The labelled response that counts: the newest fully labelled one, else the newest with any label, else the newest
    judged one. None if no response to the revision was judged.

    Attempts of probes are considered last, because they were played without a user or tools; examinations are no
    responses.
    """
    ids = workspace.verdicts.judged_trials(task_id, revision)
    found: ExpertCheck | None = None
    for trial in _probes_last(workspace, ids):
        check = _check(workspace, trial, bars)
        if check.items and check.complete:
            return check
        if check.items and (found is None or (check.labelled and not found.labelled)):
            found = check
    return found


def _probes_last(workspace: Workspace, ids: list[int]) -> list[TrialRecord]:
    trials = [workspace.runs.trial(trial_id) for trial_id in ids]
    trials = [trial for trial in trials if trial.agent.kind != EXAMINER]
    kinds = {run_id: workspace.runs.get(run_id).kind for run_id in {t.run_id for t in trials}}
    return sorted(trials, key=lambda trial: (kinds[trial.run_id] == "probe", -trial.id))


def _check(workspace: Workspace, trial: TrialRecord, bars: QcConfig) -> ExpertCheck:
    workspace.roles.check_whole([trial.run_id])
    records = workspace.verdicts.records(trial_id=trial.id)
    labels = workspace.verdicts.labels(trial_id=trial.id)
    found = inputs_of(records, labels)
    judge = _judge(found, bars.judge)
    items = {record.item.key for record in records if record.judge.name == judge}
    keys = {record.verdict_id: record.item.key for record in records}
    labelled = len(items & {keys[label.verdict_id] for label in labels})
    return ExpertCheck(
        run_id=trial.run_id,
        run_name=workspace.runs.get(trial.run_id).name,
        trial_id=trial.id,
        agent=trial.agent.name,
        judge=judge,
        baseline=judge in found.baselines,
        people=found.people,
        items=len(items),
        labelled=labelled,
        agreement=_percent(found, judge) if labelled >= len(items) else _not_yet(),
    )


def _judge(found: ComparisonInputs, wanted: str) -> str:
    """The configuration's judge, else one that is a model, else any."""
    if wanted in found.judges:
        return wanted
    models = [name for name in found.judges if name not in found.baselines]
    return next(iter((*models, *found.judges)), "")


def _not_yet() -> Statistic:
    # Who is still labelling must not learn how the judge decided, and a part says little.
    return Statistic(name="percent", value=None, n=0, reason=_("Not every item is labelled yet."))


def _percent(found: ComparisonInputs, judge: str) -> Statistic:
    raters = (Rater(role="judge", name=judge), MAJORITY)
    percent = percent_coefficient(columns_of(found, raters).ratings).statistic
    if percent.value is None and found.cases:
        return Statistic(
            name="percent", value=None, n=0, reason=_("No item was decided by both of them.")
        )
    return percent


def decide(
    workspace: Workspace, report: QcReport, by: str, verdict: QcVerdict, reason: str = ""
) -> Contribution:
    """Save a person's decision on the proposal in `report`. Archiving a task that is to be removed is a separate step
    (`annotate.review.workflow.retire`).

    Raises `NotAllowed` for another verdict than the proposed one without a reason, `Conflict` if the revision is not
    the newest any more.
    """
    if verdict != report.proposal.verdict and not reason.strip():
        raise NotAllowed(
            _("Say why"), _("The decision table proposes another verdict: give a reason.")
        )

    def guard(log: TaskLog) -> None:
        head = standing_of(log).head
        if head != report.revision:
            raise Conflict(
                _("There is a newer revision"),
                _("Revision {old} was replaced by revision {new} meanwhile.").format(
                    old=report.revision, new=head
                ),
                _("Look at that one."),
            )

    body = QcDecided(
        verdict=verdict,
        proposed=report.proposal.verdict,
        signals=cast("dict[str, JsonValue]", report.signals.model_dump(mode="json")),
        rules=report.proposal.rules,
        reason=reason.strip(),
    )
    return workspace.reviews.act(report.task_id, by, body, revision=report.revision, guard=guard)


def decisions_for(
    log: TaskLog, standing: Standing, revision: int, person: str, signals: Signals
) -> tuple[PersonDecision, ...]:
    """Decisions on the revision, the newest first, as `person` may read them. While there are reviews that `person`
    must not see, others' reasons and names are left out: a reason may quote reviews, and the decider may be a reviewer.
    """
    hides = _has_hidden_reviews(standing, log, person)
    now = signals.model_dump(mode="json")
    found: list[PersonDecision] = []
    for entry in sorted(log.contributions, key=lambda entry: entry.order, reverse=True):
        if entry.revision != revision or not isinstance(entry.body, QcDecided):
            continue
        hidden = hides and entry.by != person
        found.append(
            PersonDecision(
                verdict=entry.body.verdict,
                proposed=entry.body.proposed,
                by="" if hidden else entry.by,
                at=entry.at,
                rules=entry.body.rules,
                reason="" if hidden else entry.body.reason,
                hidden=hidden,
                outdated=entry.body.signals != now,
            )
        )
    return tuple(found)


def _has_hidden_reviews(standing: Standing, log: TaskLog, person: str) -> bool:
    """Whether a revision of the task has a review that `person` must not know of yet."""
    wrote = any(person in node.authors for node in log.revisions)
    for revision in standing.revisions:
        of_others = set(revision.reviewers) - {person}
        party = revision.seen == "party" and (wrote or person in revision.reviewers)
        if of_others and revision.seen != "all" and not party:
            return True
    return False


class Planned(Frozen):
    """What running stages would take: `trials` to play, without recorded ones, and the `models` that are called.
    `free`: no model is called.
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
    """What running these stages would take. Raises `NotFound`."""
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
    workers: bool = False,
) -> tuple[ProbeOutcome, ...]:
    """Play the probes of these stages, or have `workers` play them, one after the other.

    `on_probe` is called as each begins. When the calls have cost `budget` (in the configuration's currency), or
    `control` stops, the rest stays open, and running again continues. Raises `NotFound`, and `ConfigError`, also for a
    budget with a model without price.
    """
    control = control or RunControl()
    if budget is not None:
        check_prices(
            {name for probe in probes_of(stages) for name in models_of(probe, config)}, config
        )
    meter = Meter(0.0, budget, control)

    def relay(event: RunEvent) -> None:
        meter.on_event(event)
        if on_event:
            on_event(event)

    outcomes: list[ProbeOutcome] = []
    for probe in probes_of(stages):
        if control.cancelled or control.halt is not None:
            break
        if on_probe:
            on_probe(probe)
        outcome = await run_probe(
            workspace,
            probe,
            task_ids,
            config=config,
            by=by,
            on_event=relay,
            control=control,
            budget=budget - meter.spent if workers and budget is not None else None,
            workers=workers,
        )
        meter.add(outcome.spent)
        outcomes.append(outcome)
    return tuple(outcomes)


def qc_report(workspace: Workspace, task_id: str, person: str, config: Config) -> QcReport:
    """What is known about the newest revision, as `person` may see it. Blocks on the database. Raises
    `NotFound`.
    """
    found = workspace.tasks.revision(task_id)
    probes = probe_results(workspace, task_id, found.number, right_at=config.qc.right_at)
    inputs = QcInputs(
        task=found.task,
        findings=lint(found.task),
        probes=probes,
        run_dates=_dates(workspace, probes),
        effort=_effort(workspace, task_id),
        check=expert_check(workspace, task_id, found.number, config.qc),
        bars=config.qc,
        without_model=frozenset(probe for probe in PROBES if not models_of(probe, config)),
    )
    signals, reports = weigh(inputs)
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
        check=inputs.check,
        decisions=decisions,
    )


def _dates(workspace: Workspace, results: Sequence[ProbeResult]) -> dict[int, datetime]:
    ids = {result.run_id for result in results if result.run_id is not None}
    return {run_id: workspace.runs.get(run_id).created_at for run_id in ids}


def _effort(workspace: Workspace, task_id: str) -> EffortTotals | None:
    totals = workspace.effort.totals(task_id)
    return totals if totals != EffortTotals() else None
