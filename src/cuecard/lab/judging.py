"""Judging trials of the workspace. Judging adds, it never replaces, and never plays a trial again."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.core.calls import FreshCalls, KeyedCalls, RecordedCall
from cuecard.core.errors import NotAllowed
from cuecard.core.events import Concluded, Event
from cuecard.core.i18n import _, current_language
from cuecard.core.parts import CallDesk, Judge, PlayerRef
from cuecard.core.prediction import Prediction
from cuecard.core.probes.settings import EXAMINER
from cuecard.core.run import RunControl
from cuecard.core.tasks import Task, content_hash
from cuecard.core.tasks.base import Frozen
from cuecard.core.trial import prediction_of
from cuecard.core.verdicts import Decision, Judgement
from cuecard.lab.figures import kept_figures
from cuecard.lab.judging_pool import OnProgress, at_a_time, judge_each, trouble_of
from cuecard.store.label_records import JudgementRecord
from cuecard.store.records import TrialRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

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
    """What is judged: what was handed in for a task. `events`: the trial's course, if it is at hand."""

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
    workspace: Workspace,
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
    desk: CallDesk = FreshCalls()
    newest: JudgementRecord | None = None
    if not chosen.ref.baseline:
        desk, newest = await asyncio.to_thread(
            recorded_calls, workspace, trial_id, chosen.ref, subject, again, on_call
        )
    judged = await chosen.judge(subject.task, subject.prediction, desk)
    judgement = judged.model_copy(update={"trial_hash": hash_of(subject.prediction)})
    if newest and not again and newest.judgement == judgement:
        return newest
    return await asyncio.to_thread(record_judgement, workspace, trial_id, judgement, subject)


def record_judgement(
    workspace: Workspace, trial_id: int, judgement: Judgement, subject: Subject
) -> JudgementRecord:
    """Keep a judgement, with the figures where they can be counted without reading the log again."""
    record = workspace.verdicts.add(trial_id, judgement)
    if subject.events:
        figures = kept_figures(subject.task, subject.events, judgement, record.id, trial_id)
        workspace.figures.keep([figures], current_language())
    return record


async def judge_run(
    workspace: Workspace,
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


async def try_judging(workspace: Workspace, trial_id: int, judge: Judge) -> JudgeFailure | None:
    """`judge_trial`, with a failure as data."""
    try:
        await judge_trial(workspace, trial_id, judge)
    except Exception as error:  # noqa: BLE001 - the boundary of a judge call: a failure is data
        trouble = trouble_of(error)
        return JudgeFailure(trial_id=trial_id, reason=trouble.reason, halted=trouble.halted)
    return None


def _load(workspace: Workspace, trial_id: int) -> Subject:
    trial = workspace.runs.trial(trial_id)
    if trial.termination is None:
        raise NotAllowed(_("This trial has not ended"), _("Play it to its end first."))
    task = workspace.tasks.revision(trial.task_id, trial.revision).task
    return Subject(task, load_prediction(workspace, trial_id))


def load_prediction(workspace: Workspace, trial_id: int) -> Prediction:
    """What a trial handed in; of a long log only that is read whole. Raises `NotFound`."""
    outline = workspace.runs.outline(trial_id).events
    handed_in = next((e.seq for e in reversed(outline) if isinstance(e.body, Concluded)), None)
    events = outline if handed_in is None else workspace.runs.whole(trial_id, handed_in)
    return prediction_of(events)


def recorded_calls(
    workspace: Workspace,
    trial_id: int,
    judge: PlayerRef,
    subject: Subject,
    again: bool,
    on_call: OnCall | None,
) -> tuple[KeyedCalls, JudgementRecord | None]:
    """The desk of one attempt at a trial, and the judge's newest judgement. A new attempt has the number of its
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
