"""Stage 7: one judged response that a person labels item by item, beside what the judge decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.annotate.agreement import Statistic, percent_agreement
from cuecard.annotate.labelling.comparison import MAJORITY, Material, Rater, columns_of, material_of
from cuecard.annotate.qc.report import ExpertCheck
from cuecard.core.config_review import QcConfig
from cuecard.core.i18n import _
from cuecard.core.probes.settings import EXAMINER
from cuecard.store.records import TrialRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


def expert_check(
    workspace: Workspace, task_id: str, revision: int, bars: QcConfig
) -> ExpertCheck | None:
    """The response that counts: the newest that is labelled throughout, else the newest with any label,
    else the newest that was judged. None where no response to the revision was judged.

    Attempts of probes come last: they were played without a user, or without tools. Examinations are
    no responses.
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
    records = workspace.verdicts.records(trial_id=trial.id)
    labels = workspace.verdicts.labels(trial_id=trial.id)
    found = material_of(records, labels)
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


def _judge(found: Material, wanted: str) -> str:
    """The judge of the configuration, else a model's, else whichever there is."""
    if wanted in found.judges:
        return wanted
    models = [name for name in found.judges if name not in found.baselines]
    return next(iter((*models, *found.judges)), "")


def _not_yet() -> Statistic:
    # Who is still labelling must not learn how the judge decided, and a part says little.
    return Statistic(name="percent", value=None, n=0, reason=_("Not every item is labelled yet."))


def _percent(found: Material, judge: str) -> Statistic:
    raters = (Rater(role="judge", name=judge), MAJORITY)
    percent = percent_agreement(columns_of(found, raters).ratings)
    if percent.value is None and found.cases:
        return Statistic(
            name="percent", value=None, n=0, reason=_("No item was decided by both of them.")
        )
    return percent
