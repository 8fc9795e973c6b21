"""What the recorded trials of probes say about a revision."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cuecard.core.i18n import _
from cuecard.core.prediction import AnswerPrediction
from cuecard.core.probes.applying import not_applicable
from cuecard.core.probes.examinations import read_examination
from cuecard.core.probes.examiner import UNUSABLE
from cuecard.core.probes.findings import finding_of
from cuecard.core.probes.laws import conflicts
from cuecard.core.probes.results import ATTEMPTS, PROBES, ProbeName, ProbeResult
from cuecard.core.probes.scoring import handed_in, score_of_attempt
from cuecard.core.probes.settings import ProbeSetting
from cuecard.core.tasks import FactWorld, Task
from cuecard.core.text import one_line
from cuecard.lab.judging import load_prediction
from cuecard.lab.plans import settings_of
from cuecard.lab.probes_plan import NO_ATTEMPT
from cuecard.store.records import TrialRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

_REASON = 300


def probe_results(
    workspace: Workspace, task_id: str, revision: int, *, right_at: float | None = None
) -> tuple[ProbeResult, ...]:
    """What all probes of a revision have brought so far, in the order of `PROBES`: of each model and
    sample the newest trial, what rules say, and why a probe does not apply. A probe that applies and was
    never run is not among them. `right_at`: the bar, in place of the one each run was made with.

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
        for result in (*_by_rule(probe, task), *_in_order(by_probe[probe]))
    )


def _newest(
    workspace: Workspace, task_id: str, revision: int
) -> list[tuple[ProbeSetting, TrialRecord]]:
    """By probe, model and sample. A sample beyond those of the newest run is still an attempt."""
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


def _costs(workspace: Workspace, trial_ids: list[int]) -> dict[int, float]:
    costs: dict[int, float] = {}
    for used in workspace.runs.usage_of(trial_ids):
        if used.cost is not None:
            costs[used.trial_id] = costs.get(used.trial_id, 0.0) + used.cost
    return costs


def _by_rule(probe: ProbeName, task: Task) -> Iterator[ProbeResult]:
    if reason := not_applicable(probe, task):
        yield ProbeResult(probe=probe, skipped=reason, why="not_applicable")
    elif probe == "laws" and isinstance(task.gold, FactWorld):
        found = conflicts(task.gold)
        yield ProbeResult(probe=probe, right=not found, findings=found)


def _in_order(results: list[ProbeResult]) -> list[ProbeResult]:
    return sorted(results, key=lambda r: (r.baseline, r.model, r.sample))


def _result(
    workspace: Workspace, task: Task, setting: ProbeSetting, trial: TrialRecord, bar: float
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
    workspace: Workspace, task: Task, trial: TrialRecord, bar: float
) -> dict[str, object]:
    prediction = load_prediction(workspace, trial.id)
    told = (handed_in(prediction),)
    judged = workspace.verdicts.of_trial(trial.id)
    if not judged:
        reason = _("not judged yet")
        return {"findings": told, "skipped": reason, "why": "unjudged"}
    measure = score_of_attempt(task, prediction, judged[0].judgement)
    if measure.value is None:
        return {"findings": told, "skipped": measure.reason, "why": "unjudged"}
    return {"findings": told, "score": measure.value, "right": measure.value >= bar}


def _of_examination(
    workspace: Workspace, task: Task, trial: TrialRecord, bar: float
) -> dict[str, object]:
    prediction = load_prediction(workspace, trial.id)
    text = prediction.answer if isinstance(prediction, AnswerPrediction) else ""
    examination = read_examination(text)
    finding = finding_of(examination, task, bar) if examination else None
    if finding is None or finding.right is None:
        return {
            "findings": finding.told if finding else (),
            "skipped": _(UNUSABLE),
            "why": "unusable",
        }
    return {"findings": finding.told, "score": finding.score, "right": finding.right}
