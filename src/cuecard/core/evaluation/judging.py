"""Judges trials of a workspace. A judgement is added to earlier ones, never replaces one."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import count
from math import inf
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from cuecard.core.archive import outlast
from cuecard.core.engine.events import Concluded, Event
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.engine.run_control import RunControl
from cuecard.core.engine.step_context import (
    CallContext,
    FreshCalls,
    Judge,
    KeyedCalls,
    RecordedCall,
)
from cuecard.core.engine.trial import prediction_of
from cuecard.core.errors import Halt, NotAllowed, error_text
from cuecard.core.evaluation.scores import kept_figures
from cuecard.core.i18n import _, current_language
from cuecard.core.label_records import JudgementRecord
from cuecard.core.predictions import Prediction
from cuecard.core.probes.results import EXAMINER
from cuecard.core.records import TrialRecord
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task, content_hash
from cuecard.core.verdicts import Decision, Judgement

if TYPE_CHECKING:
    from cuecard.core.archive import Archive
    from cuecard.core.judges.jury import Jury
    from cuecard.core.worker_archive import Claim


Item = TypeVar("Item")
OnProgress = Callable[[int, int], None]
"""Called with how many are done, failed ones included, and how many there are."""

_AT_A_TIME = 8


class Trouble(NamedTuple):
    """Why an item was not judged. `halted`: not because of the item, but because all judging had to stop."""

    reason: str
    halted: bool = False


def at_a_time(judge: Judge) -> int:
    """How many trials are judged concurrently: 1 by a judge without a model, which never waits for a server."""
    return 1 if judge.ref.baseline else _AT_A_TIME


def trouble_of(error: Exception) -> Trouble:
    return Trouble(error_text(error), isinstance(error, Halt))


async def judge_each(
    items: Sequence[Item],
    judge: Callable[[Item], Awaitable[object]],
    limit: int,
    on_progress: OnProgress | None = None,
    control: RunControl | None = None,
) -> dict[int, Trouble]:
    """Call `judge` with each item in their order, at most `limit` at a time. Returns the troubles of those not judged,
    by their position. After a `Halt` calls under way are finished and no more are begun; `control` stops judging as it
    stops a run.
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
    """A trial whose judging failed; it stays unjudged and can be judged again. `halted`: it was not judged, or not
    to the end, because all judging had to stop (a model that keeps failing, a budget).
    """

    trial_id: int
    reason: str
    halted: bool = False


@dataclass(frozen=True)
class Subject:
    """What is judged: a prediction for a task. `events`: the trial's effective log, if the caller has it."""

    task: Task
    prediction: Prediction
    events: tuple[Event, ...] = ()


def lexical_judge() -> Judge:
    """The embedded judge."""
    from cuecard.core.judges.lexical import LexicalJudge

    return LexicalJudge()


def hash_of(prediction: Prediction) -> str:
    """SHA-256 of a prediction, as 64 hex digits: a judgement's `trial_hash`."""
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
    claim: Claim | None = None,
) -> JudgementRecord:
    """Judge an ended trial and record the judgement beside all earlier ones.

    Every answer of the judge's model is recorded at once, and a judging that was killed or failed goes on from
    those. Without `again`, a judgement that left items unjudged is continued in the same way: only unanswered calls
    are made, and nothing is recorded if nothing changes. With `again`, a second judgement is made from the beginning;
    the first stays. `on_call` is called with each call that was really made. `subject`: the prediction, if the caller
    has read it. `claim`: the worker's hold on the trial.

    Raises `NotAllowed` for an open trial, `ClaimLost`, and what the judge raises.
    """
    chosen = judge or lexical_judge()
    subject = subject or await outlast(workspace, _load, workspace, trial_id)
    if chosen.ref.kind == "jury":
        jury = cast("Jury", chosen)
        return await _judge_by_jury(workspace, trial_id, jury, again, on_call, subject, claim)
    context: CallContext = FreshCalls()
    newest: JudgementRecord | None = None
    if not chosen.ref.baseline:
        context, newest = await outlast(
            workspace,
            recorded_calls,
            workspace,
            trial_id,
            chosen.ref,
            subject,
            again,
            on_call,
            claim,
        )
    judged = await chosen.judge(subject.task, subject.prediction, context)
    judgement = judged.model_copy(update={"trial_hash": hash_of(subject.prediction)})
    if newest and not again and newest.judgement == judgement:
        return newest
    return await _recorded(workspace, trial_id, judgement, subject, claim)


async def _judge_by_jury(
    workspace: Archive,
    trial_id: int,
    jury: Jury,
    again: bool,
    on_call: OnCall | None,
    subject: Subject,
    claim: Claim | None,
) -> JudgementRecord:
    """As `judge_trial`, from what the members say. Each judges in its own name, unless the newest judgement that is recorded
    of it holds: by the same model, prompts and settings, of this prediction and this gold. So `again` combines anew and asks
    no member again.
    """
    made = await outlast(workspace, workspace.verdicts.of_trial, trial_id)
    said: list[Judgement] = []
    for member in jury.members:
        found = next((each for each in made if each.judgement.judge == member.ref), None)
        if found is None or not _holds(found.judgement, subject):
            found = await judge_trial(
                workspace,
                trial_id,
                member,
                again=False,
                on_call=on_call,
                subject=subject,
                claim=claim,
            )
        said.append(found.judgement)
    judgement = jury.combined(said).model_copy(update={"trial_hash": hash_of(subject.prediction)})
    newest = next((each for each in made if each.judgement.judge.name == jury.name), None)
    if newest and not again and newest.judgement == judgement:
        return newest
    return await _recorded(workspace, trial_id, judgement, subject, claim)


def _holds(judgement: Judgement, subject: Subject) -> bool:
    """Whether a judgement rests on this prediction and this gold, and leaves nothing open that a model could still decide."""
    return (
        judgement.trial_hash == hash_of(subject.prediction)
        and judgement.revision_hash == content_hash(subject.task)
        and (
            judgement.judge.baseline
            or all(verdict.decision is not Decision.UNJUDGED for verdict in judgement.verdicts)
        )
    )


async def _recorded(
    workspace: Archive,
    trial_id: int,
    judgement: Judgement,
    subject: Subject,
    claim: Claim | None,
) -> JudgementRecord:
    """The judgement as it is stored, once, also where the database goes away."""
    began, tries = datetime.now(UTC), count()

    def record() -> JudgementRecord:
        if next(tries):  # The database went away, but perhaps not before it was written.
            for made in workspace.verdicts.of_trial(trial_id):
                if made.created_at >= began and made.judgement == judgement:
                    return made
        return record_judgement(workspace, trial_id, judgement, subject, claim)

    return await outlast(workspace, record)


def record_judgement(
    workspace: Archive,
    trial_id: int,
    judgement: Judgement,
    subject: Subject,
    claim: Claim | None = None,
) -> JudgementRecord:
    """Store a judgement, with the trial's figures if `subject.events` allows computing them without reading the log."""
    record = workspace.verdicts.add(trial_id, judgement, claim)
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
    """Judge the run's ended trials that this judge has not fully judged, or all of them `again`.

    Returns the failures; a failure leaves its trial unjudged and stops no other. After a `Halt`, of a judge or of
    `control`, every remaining trial is a failure with this reason. Raises `NotFound`.
    """
    chosen = judge or lexical_judge()
    after = inf if again else None
    trials = await asyncio.to_thread(to_judge, workspace, run_id, chosen.ref.name, after)
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


def to_judge(workspace: Archive, run_id: int, judge: str, after: float | None = None) -> list[int]:
    """The ended trials of the run that this judge has not fully judged, or (with `after`) not since the judgement with that
    id. Raises `NotFound`.
    """
    newest = {
        record.trial_id: record
        for record in (workspace.verdicts.of_run(run_id) if after != inf else ())
        if record.judgement.judge.name == judge
    }
    return [
        trial.id
        for trial in workspace.runs.trials(run_id)
        if _is_judgeable(trial) and is_due(trial, newest.get(trial.id), after)
    ]


def is_due(trial: TrialRecord, newest: JudgementRecord | None, after: float | None) -> bool:
    """See `to_judge`."""
    return is_unjudged(trial, newest) or (
        after is not None and newest is not None and newest.id <= after
    )


async def try_judging(workspace: Archive, trial_id: int, judge: Judge) -> JudgeFailure | None:
    """`judge_trial`; returns its failure, or None where it succeeded."""
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
    """A trial's prediction; the large texts of other events are not read. Raises `NotFound`."""
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
    claim: Claim | None = None,
) -> tuple[KeyedCalls, JudgementRecord | None]:
    """The call context for judging a trial, and the judge's newest judgement of it. With `again`, the attempt's number
    is the number of finished judgements, so that an attempt that was killed is continued.
    """
    calls = workspace.judge_calls
    finished = [
        record
        for record in workspace.verdicts.of_trial(trial_id)
        if record.judgement.judge.name == judge.name
    ]
    attempt = len(finished) if again else max(calls.next_attempt(trial_id, judge.name) - 1, 0)

    async def record(call: RecordedCall) -> None:
        await outlast(workspace, calls.add, trial_id, judge.name, attempt, call, claim)
        if on_call:
            on_call(call)

    # Calls are keyed by judge, task and prediction: old answers are not used after one of them has changed.
    parts = (judge.model_dump_json(), content_hash(subject.task), hash_of(subject.prediction))
    scope = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    recorded = calls.of(trial_id, judge.name, attempt)
    return KeyedCalls(recorded, record, f"{scope}/"), (finished[0] if finished else None)


def _is_judgeable(trial: TrialRecord) -> bool:
    """Whether the trial has ended and is an attempt at the task: an examiner's trial is not."""
    return trial.termination is not None and trial.agent.kind != EXAMINER


def is_unjudged(trial: TrialRecord, newest: JudgementRecord | None) -> bool:
    """Whether there is no judgement, it left items unjudged, or the trial was retried since."""
    if newest is None or (trial.ended_at and newest.created_at < trial.ended_at):
        return True
    return any(verdict.decision is Decision.UNJUDGED for verdict in newest.judgement.verdicts)
