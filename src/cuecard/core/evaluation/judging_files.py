"""Judges and scores outputs produced elsewhere, which are in no workspace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuecard.core.engine.messages import PlayerRef
from cuecard.core.engine.step_context import Judge, KeyedCalls, RecordedCall
from cuecard.core.evaluation.judging import (
    OnCall,
    OnProgress,
    at_a_time,
    hash_of,
    judge_each,
    lexical_judge,
)
from cuecard.core.families.common import parse_prediction
from cuecard.core.scoring.aggregate import AggregateMeasure, TrialScore, aggregate
from cuecard.core.scoring.trial_score import score_prediction
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import FAMILIES, Family, Task
from cuecard.core.verdicts import Judgement, Measure

if TYPE_CHECKING:
    from cuecard.core.formats.base import Response


class JudgedResponse(Frozen):
    """One output with its scores. `usable`: it held triples, an answer, or a table whose columns map to the required
    ones; otherwise `reason` says why not.
    """

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


class ResponseFailure(Frozen):
    """An output that could not be judged; it is left out of the aggregates."""

    task_id: str
    sample: int
    reason: str
    halted: bool = False


class FamilyAggregate(Frozen):
    """The measures of one family, aggregated over its tasks by `core.scoring.aggregate`."""

    family: Family
    tasks: int
    responses: int
    measures: tuple[AggregateMeasure, ...]


class JudgedResponses(Frozen):
    """The result of `judge_responses`. `unknown`: task ids of responses that match no task. `missing`: tasks without a
    response. Neither they nor `failed` outputs enter the aggregates.
    """

    judge: PlayerRef
    results: tuple[JudgedResponse, ...]
    aggregates: tuple[FamilyAggregate, ...]
    unknown: tuple[str, ...]
    missing: tuple[str, ...]
    failed: tuple[ResponseFailure, ...] = ()


async def judge_responses(
    tasks: Sequence[Task],
    responses: Sequence[Response],
    judge: Judge | None = None,
    *,
    on_progress: OnProgress | None = None,
    on_call: OnCall | None = None,
) -> JudgedResponses:
    """Judge and score outputs produced elsewhere, in the order in which they came; no workspace, so
    nothing is recorded. Several at a time where a model judges.

    A response without anything usable scores 0 like any other failure.
    """
    chosen = judge or lexical_judge()
    by_id = {task.id: task for task in tasks}
    known = [response for response in responses if response.task_id in by_id]
    judged: dict[int, JudgedResponse] = {}

    async def perform(item: tuple[int, Response]) -> None:
        position, response = item
        judged[position] = await _judged(by_id[response.task_id], response, chosen, on_call)

    troubles = await judge_each(list(enumerate(known)), perform, at_a_time(chosen), on_progress)
    results = [judged[position] for position in sorted(judged)]
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
        failed=tuple(
            ResponseFailure(
                task_id=known[position].task_id,
                sample=known[position].sample,
                reason=trouble.reason,
                halted=trouble.halted,
            )
            for position, trouble in troubles.items()
        ),
    )


async def _judged(
    task: Task, response: Response, judge: Judge, on_call: OnCall | None
) -> JudgedResponse:
    async def told(call: RecordedCall) -> None:
        if on_call:
            on_call(call)

    prediction = parse_prediction(task.family, response.text)
    judged = await judge.judge(task, prediction, KeyedCalls({}, told))
    judgement = judged.model_copy(update={"trial_hash": hash_of(prediction)})
    unusable = prediction.reason if prediction.kind == "unusable" else ""
    if judgement.table is not None and not judgement.table.usable:
        unusable = unusable or judgement.table.reason
    return JudgedResponse(
        task_id=task.id,
        sample=response.sample,
        family=task.family,
        usable=not unusable,
        reason=unusable,
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
