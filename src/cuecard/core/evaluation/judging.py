"""Judging trials of the workspace, or outputs that were produced elsewhere, a few at a time. Judging adds, it never replaces."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from cuecard.core.engine.events import Concluded, Event
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.engine.run import RunControl
from cuecard.core.engine.step_context import (
    CallContext,
    FreshCalls,
    Judge,
    KeyedCalls,
    RecordedCall,
)
from cuecard.core.engine.trial import prediction_of
from cuecard.core.errors import Halt, NotAllowed, told
from cuecard.core.evaluation.scores import kept_figures
from cuecard.core.formats.predictions import parse_prediction
from cuecard.core.i18n import _, current_language
from cuecard.core.label_records import JudgementRecord
from cuecard.core.probes.results import EXAMINER
from cuecard.core.records import TrialRecord
from cuecard.core.scoring.aggregate import AggregateMeasure, TrialScore, aggregate
from cuecard.core.scoring.trial_score import score_prediction
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import FAMILIES, Family, Task, content_hash
from cuecard.core.verdicts import Decision, Judgement, Measure, Prediction

if TYPE_CHECKING:
    from cuecard.core.archive import Archive
    from cuecard.core.formats.base import Response


Item = TypeVar("Item")
OnProgress = Callable[[int, int], None]
"""How many are done, failed ones included, of how many."""

_AT_A_TIME = 8


class Trouble(NamedTuple):
    """Why one was not judged. `halted`: not for a reason of its own, but because judging had to stop."""

    reason: str
    halted: bool = False


def at_a_time(judge: Judge) -> int:
    """How many trials are judged at once: one by an embedded judge, which waits for nobody."""
    return 1 if judge.ref.baseline else _AT_A_TIME


def trouble_of(error: Exception) -> Trouble:
    return Trouble(told(error), isinstance(error, Halt))


async def judge_each(
    items: Sequence[Item],
    judge: Callable[[Item], Awaitable[object]],
    limit: int,
    on_progress: OnProgress | None = None,
    control: RunControl | None = None,
) -> dict[int, Trouble]:
    """Have `judge` called with each item, `limit` at a time, in their order. Returns what was not judged,
    by position. After a `Halt` what is under way is finished and nothing more is begun; `control` stops it
    like any run.
    """
    waiting = iter(enumerate(items))
    troubles: dict[int, Trouble] = {}
    halts: list[Trouble] = []
    done = 0

    async def work() -> None:
        nonlocal done
        for position, item in waiting:
            if halts:
                troubles[position] = halts[0]
                continue
            try:
                await (judge(item) if control is None else control.hold(partial(judge, item)))
            except Exception as error:  # noqa: BLE001 - the boundary of a judge call: a failure is data
                troubles[position] = trouble_of(error)
                if troubles[position].halted:
                    halts.append(troubles[position])
            done += 1
            if on_progress:
                on_progress(done, len(items))

    if control is not None:
        control.attach()
    try:
        await asyncio.gather(*(work() for _worker in range(min(limit, len(items)))))
    finally:
        if control is not None:
            control.detach()
    return dict(sorted(troubles.items()))


OnCall = Callable[[RecordedCall], None]


class JudgeFailure(Frozen):
    """A judging that failed; the trial stays unjudged and can be judged again. `halted`: it was not
    tried, or not to its end, because judging had to stop (a model that keeps failing, a budget).
    """

    trial_id: int
    reason: str
    halted: bool = False


@dataclass(frozen=True)
class Subject:
    """What is judged: what was handed in for a task. `events`: the trial's effective log, if it is at hand."""

    task: Task
    prediction: Prediction
    events: tuple[Event, ...] = ()


def lexical_judge() -> Judge:
    """The embedded judge."""
    from cuecard.core.judges.lexical import LexicalJudge

    return LexicalJudge()


def hash_of(prediction: Prediction) -> str:
    """SHA-256 of what was handed in, as 64 hex digits: a judgement's `trial_hash`."""
    canonical = json.dumps(prediction.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


async def judge_trial(
    workspace: Archive,
    trial_id: int,
    judge: Judge | None = None,
    *,
    again: bool = True,
    on_call: OnCall | None = None,
    subject: Subject | None = None,
) -> JudgementRecord:
    """Judge an ended trial and record the judgement, beside all earlier ones.

    Every answer of the judge's model is recorded as soon as it is there. A judging that was killed or
    failed goes on from those. So does, without `again`, one whose newest judgement left items unjudged:
    only what got no answer is called again, and nothing is recorded where nothing changed. `again`, a
    judgement that is there is let stand and made a second time from the beginning. `on_call` is told
    of each call that was really made. `subject`: what the trial's log says, if it is at hand.

    Raises `NotAllowed` for an open trial, and what the judge raises.
    """
    chosen = judge or lexical_judge()
    subject = subject or await asyncio.to_thread(_load, workspace, trial_id)
    context: CallContext = FreshCalls()
    newest: JudgementRecord | None = None
    if not chosen.ref.baseline:
        context, newest = await asyncio.to_thread(
            recorded_calls, workspace, trial_id, chosen.ref, subject, again, on_call
        )
    judged = await chosen.judge(subject.task, subject.prediction, context)
    judgement = judged.model_copy(update={"trial_hash": hash_of(subject.prediction)})
    if newest and not again and newest.judgement == judgement:
        return newest
    return await asyncio.to_thread(record_judgement, workspace, trial_id, judgement, subject)


def record_judgement(
    workspace: Archive, trial_id: int, judgement: Judgement, subject: Subject
) -> JudgementRecord:
    """Keep a judgement, with the figures where they can be counted without reading the log again."""
    record = workspace.verdicts.add(trial_id, judgement)
    if subject.events:
        figures = kept_figures(subject.task, subject.events, judgement, record.id, trial_id)
        workspace.figures.keep([figures], current_language())
    return record


async def judge_run(
    workspace: Archive,
    run_id: int,
    judge: Judge | None = None,
    *,
    again: bool = False,
    concurrency: int | None = None,
    on_progress: OnProgress | None = None,
    on_call: OnCall | None = None,
    control: RunControl | None = None,
) -> tuple[JudgeFailure, ...]:
    """Judge the run's ended trials that this judge has not judged to the end, or all of them `again`.

    Several at a time where a model judges. Returns what failed; a failure leaves its trial unjudged and
    stops no other. A `Halt` is told as the failure of every trial that is left, and so is that of
    `control`. Raises `NotFound`.
    """
    chosen = judge or lexical_judge()

    def pending() -> list[int]:
        ended = [t for t in workspace.runs.trials(run_id) if _is_judgeable(t)]
        if again:
            return [trial.id for trial in ended]
        newest = {
            record.trial_id: record
            for record in workspace.verdicts.of_run(run_id)
            if record.judgement.judge.name == chosen.ref.name
        }
        return [trial.id for trial in ended if _is_open(trial, newest.get(trial.id))]

    trials = await asyncio.to_thread(pending)
    troubles = await judge_each(
        trials,
        lambda trial_id: judge_trial(workspace, trial_id, chosen, again=again, on_call=on_call),
        concurrency or at_a_time(chosen),
        on_progress,
        control,
    )
    return tuple(
        JudgeFailure(trial_id=trials[position], reason=trouble.reason, halted=trouble.halted)
        for position, trouble in troubles.items()
    )


async def try_judging(workspace: Archive, trial_id: int, judge: Judge) -> JudgeFailure | None:
    """`judge_trial`, with a failure as data."""
    try:
        await judge_trial(workspace, trial_id, judge)
    except Exception as error:  # noqa: BLE001 - the boundary of a judge call: a failure is data
        trouble = trouble_of(error)
        return JudgeFailure(trial_id=trial_id, reason=trouble.reason, halted=trouble.halted)
    return None


def _load(workspace: Archive, trial_id: int) -> Subject:
    trial = workspace.runs.trial(trial_id)
    if trial.termination is None:
        raise NotAllowed(_("This trial has not ended"), _("Play it to its end first."))
    task = workspace.tasks.revision(trial.task_id, trial.revision).task
    return Subject(task, load_prediction(workspace, trial_id))


def load_prediction(workspace: Archive, trial_id: int) -> Prediction:
    """What a trial handed in; of a long log only that is read whole. Raises `NotFound`."""
    outline = workspace.runs.outline(trial_id).events
    handed_in = next((e.seq for e in reversed(outline) if isinstance(e.body, Concluded)), None)
    events = outline if handed_in is None else workspace.runs.whole(trial_id, handed_in)
    return prediction_of(events)


def recorded_calls(
    workspace: Archive,
    trial_id: int,
    judge: PlayerRef,
    subject: Subject,
    again: bool,
    on_call: OnCall | None,
) -> tuple[KeyedCalls, JudgementRecord | None]:
    """The context of one attempt at a trial, and the judge's newest judgement. A new attempt has the number of its
    finished judgements, so that one that was killed is found again.
    """
    calls = workspace.judge_calls
    finished = [
        record
        for record in workspace.verdicts.of_trial(trial_id)
        if record.judgement.judge.name == judge.name
    ]
    attempt = len(finished) if again else max(calls.next_attempt(trial_id, judge.name) - 1, 0)

    async def record(call: RecordedCall) -> None:
        await asyncio.to_thread(calls.add, trial_id, judge.name, attempt, call)
        if on_call:
            on_call(call)

    # Another model, other prompts or another prediction: other questions, to which old answers are none.
    parts = (judge.model_dump_json(), content_hash(subject.task), hash_of(subject.prediction))
    scope = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    recorded = calls.of(trial_id, judge.name, attempt)
    return KeyedCalls(recorded, record, f"{scope}/"), (finished[0] if finished else None)


def _is_judgeable(trial: TrialRecord) -> bool:
    """An examiner's findings about a task are no answer to it."""
    return trial.termination is not None and trial.agent.kind != EXAMINER


def _is_open(trial: TrialRecord, newest: JudgementRecord | None) -> bool:
    """Whether there is no judgement, it left something open, or the trial has been taken again since."""
    if newest is None or (trial.ended_at and newest.created_at < trial.ended_at):
        return True
    return any(verdict.decision is Decision.UNJUDGED for verdict in newest.judgement.verdicts)


class JudgedResponse(Frozen):
    """One output with its scores. `usable`: it held triples, an answer, or a table whose columns map onto the
    required ones; else `reason` says why not.
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
    """An output that could not be judged; it is not in the means."""

    task_id: str
    sample: int
    reason: str
    halted: bool = False


class FamilyAggregate(Frozen):
    """Means over the tasks of one family, as `core.scoring.aggregate` defines them."""

    family: Family
    tasks: int
    responses: int
    measures: tuple[AggregateMeasure, ...]


class JudgedResponses(Frozen):
    """`unknown`: ids of responses without a task. `missing`: tasks without a response; they are not
    in the means, nor are `failed` ones.
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
