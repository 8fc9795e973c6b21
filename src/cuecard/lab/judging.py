"""Judging trials of the workspace, and outputs that were produced elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cuecard.core.calls import FreshCalls
from cuecard.core.errors import CuecardError, NotAllowed
from cuecard.core.formats.predictions import parse_prediction
from cuecard.core.formats.responses import Response
from cuecard.core.i18n import _
from cuecard.core.parts import Judge, PlayerRef
from cuecard.core.prediction import Prediction
from cuecard.core.scoring.aggregate import AggregateMeasure, TrialScore, aggregate
from cuecard.core.scoring.measures import Measure
from cuecard.core.scoring.trial_score import score_prediction
from cuecard.core.tasks import FAMILIES, Family, Task
from cuecard.core.tasks.base import Frozen
from cuecard.core.trial import prediction_of
from cuecard.core.verdicts import Judgement
from cuecard.store.records import JudgementRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class JudgeFailure(Frozen):
    """A judge call that failed; the trial stays unjudged and can be judged again."""

    trial_id: int
    reason: str


class JudgedResponse(Frozen):
    """One output with its scores. `usable`: it held triples, a table or an answer."""

    task_id: str
    sample: int
    family: Family
    usable: bool
    reason: str
    measures: tuple[Measure, ...]
    judgement: Judgement

    @property
    def scores(self) -> dict[str, float | None]:
        return {measure.name: measure.value for measure in self.measures}


class FamilyAggregate(Frozen):
    """Means over the tasks of one family, as `core.scoring.aggregate` defines them."""

    family: Family
    tasks: int
    responses: int
    measures: tuple[AggregateMeasure, ...]


class JudgedResponses(Frozen):
    """`unknown`: ids of responses without a task. `missing`: tasks without a response; they are not
    in the means.
    """

    judge: PlayerRef
    results: tuple[JudgedResponse, ...]
    aggregates: tuple[FamilyAggregate, ...]
    unknown: tuple[str, ...]
    missing: tuple[str, ...]


def lexical_judge() -> Judge:
    """The embedded judge."""
    from cuecard.core.judges.lexical import LexicalJudge

    return LexicalJudge()


async def judge_responses(
    tasks: Sequence[Task], responses: Sequence[Response], judge: Judge | None = None
) -> JudgedResponses:
    """Judge and score outputs produced elsewhere, in the order in which they came; no workspace.

    A response without anything usable scores 0 like any other failure. Raises what the judge raises.
    """
    chosen = judge or lexical_judge()
    by_id = {task.id: task for task in tasks}
    results = [
        await _judged(by_id[response.task_id], response, chosen)
        for response in responses
        if response.task_id in by_id
    ]
    answered = {response.task_id for response in responses}
    return JudgedResponses(
        judge=chosen.ref,
        results=tuple(results),
        aggregates=tuple(
            _aggregate(family, found)
            for family in FAMILIES
            if (found := [result for result in results if result.family == family])
        ),
        unknown=tuple(sorted(answered - by_id.keys())),
        missing=tuple(task.id for task in tasks if task.id not in answered),
    )


async def _judged(task: Task, response: Response, judge: Judge) -> JudgedResponse:
    prediction = parse_prediction(task.family, response.text)
    judgement = await judge.judge(task, prediction, FreshCalls())
    return JudgedResponse(
        task_id=task.id,
        sample=response.sample,
        family=task.family,
        usable=prediction.kind != "unusable",
        reason=prediction.reason if prediction.kind == "unusable" else "",
        measures=score_prediction(task, prediction, judgement),
        judgement=judgement,
    )


def _aggregate(family: Family, results: Sequence[JudgedResponse]) -> FamilyAggregate:
    return FamilyAggregate(
        family=family,
        tasks=len({result.task_id for result in results}),
        responses=len(results),
        measures=aggregate(TrialScore(r.task_id, r.sample, r.measures) for r in results),
    )


async def judge_trial(
    workspace: Workspace, trial_id: int, judge: Judge | None = None
) -> JudgementRecord:
    """Judge an ended trial (again) and record the judgement. Raises `NotAllowed` for an open trial,
    and what the judge raises.
    """
    chosen = judge or lexical_judge()

    def load() -> tuple[Task, Prediction]:
        trial = workspace.runs.trial(trial_id)
        if trial.termination is None:
            raise NotAllowed(_("This trial has not ended"), _("Play it to its end first."))
        task = workspace.tasks.revision(trial.task_id, trial.revision).task
        return task, prediction_of(workspace.runs.events(trial_id))

    task, prediction = await asyncio.to_thread(load)
    judgement = await chosen.judge(task, prediction, FreshCalls())
    return await asyncio.to_thread(workspace.verdicts.add, trial_id, judgement)


async def judge_run(
    workspace: Workspace,
    run_id: int,
    judge: Judge | None = None,
    *,
    again: bool = False,
    on_judged: Callable[[int], None] | None = None,
) -> tuple[JudgeFailure, ...]:
    """Judge the run's ended trials that this judge has not judged, or all of them `again`.

    Returns what failed; a failure leaves its trial unjudged and stops no other.
    """
    chosen = judge or lexical_judge()

    def pending() -> list[int]:
        done = {
            record.trial_id
            for record in workspace.verdicts.of_run(run_id)
            if record.judgement.judge.name == chosen.ref.name
        }
        ended = [t.id for t in workspace.runs.trials(run_id) if t.termination is not None]
        return [trial_id for trial_id in ended if again or trial_id not in done]

    failures: list[JudgeFailure] = []
    for trial_id in await asyncio.to_thread(pending):
        failure = await try_judging(workspace, trial_id, chosen)
        if failure:
            failures.append(failure)
        elif on_judged:
            on_judged(trial_id)
    return tuple(failures)


async def try_judging(workspace: Workspace, trial_id: int, judge: Judge) -> JudgeFailure | None:
    """`judge_trial`, with a failure as data."""
    try:
        await judge_trial(workspace, trial_id, judge)
    except CuecardError as error:
        return JudgeFailure(trial_id=trial_id, reason=str(error))
    except Exception as error:  # noqa: BLE001 - the boundary of a judge call: a failure is data
        return JudgeFailure(trial_id=trial_id, reason=f"{type(error).__name__}: {error}")
    return None
