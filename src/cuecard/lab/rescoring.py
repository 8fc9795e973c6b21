"""Judging a run again on corrected gold, where only what changed is asked about.

A trial points at the revision that it was played on, and verdicts at that revision's items: both stay as they are.
What comes of rescoring is a run of its own. Its trials have the courses of the old ones, copied without playing
anything, and point at the corrected revisions; each judgement is put together from verdicts that still hold and from
what the judge says of the rest. `RunSettings.rescored` names the run that it came from.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import _
from cuecard.core.parts import Judge
from cuecard.core.rescoring.carrying import Carry, carry
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Decision, Judgement
from cuecard.lab.judging import (
    JudgeFailure,
    OnCall,
    Subject,
    hash_of,
    load_prediction,
    record_judgement,
    recorded_calls,
)
from cuecard.lab.judging_pool import OnProgress, at_a_time, judge_each
from cuecard.lab.plans import RunPlan, enter_run, settings_of
from cuecard.lab.playing import playing
from cuecard.lab.rescore_plan import RescorePlan, carried, check_judges, pairs_of, rescored_runs
from cuecard.store.records import RunRecord, RunState, TrialCell, TrialRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class RescoreOutcome(Frozen):
    """`run`: the new one. `failed`: trials of it that are left unjudged."""

    run: RunRecord
    failed: tuple[JudgeFailure, ...] = ()


async def rescore_run(
    workspace: Workspace,
    plan: RescorePlan,
    judges: Sequence[Judge],
    *,
    by: str,
    anew: bool = False,
    on_progress: Callable[[str], OnProgress] | None = None,
    on_call: OnCall | None = None,
) -> RescoreOutcome:
    """Enter the rescored run, or go on with the one that was begun to the same revisions, and judge what is open.

    `anew`: ask about everything, as is needed where a judge is not what it was. Nothing is recorded twice, and a
    call that was answered is not made again. Raises `NotAllowed` where a judge's model or prompts have changed,
    and where nothing has, and `BeingPlayed` while somebody else rescores it so.
    """
    if not plan.changed:
        raise NotAllowed(_("No gold has changed since this run"), plan.run.name)
    if not anew:
        await asyncio.to_thread(check_judges, workspace, plan, [judge.ref for judge in judges])
    run = await asyncio.to_thread(_entered, workspace, plan, by, anew)
    async with playing(workspace, run.id, by):
        pairs = await asyncio.to_thread(pairs_of, workspace, plan, run.id)
        for old, new in pairs:
            if new.termination is None:
                await asyncio.to_thread(_copy, workspace, old.id, new.id)
        failed: list[JudgeFailure] = []
        for judge in judges:
            work = _Work(workspace, plan, judge, anew, on_call)
            told = on_progress(judge.ref.name) if on_progress else None
            troubles = await judge_each(pairs, work.judge, at_a_time(judge), told)
            failed += [
                JudgeFailure(trial_id=pairs[place][1].id, reason=t.reason, halted=t.halted)
                for place, t in troubles.items()
            ]
        if not failed:
            await asyncio.to_thread(workspace.runs.set_state, run.id, RunState.DONE)
    run = await asyncio.to_thread(workspace.runs.get, run.id)
    return RescoreOutcome(run=run, failed=tuple(failed))


@dataclass(frozen=True)
class _Work:
    """One judge's part."""

    workspace: Workspace
    plan: RescorePlan
    judge_: Judge
    anew: bool
    on_call: OnCall | None

    async def judge(self, pair: tuple[TrialRecord, TrialRecord]) -> None:
        held = await asyncio.to_thread(self._held, *pair)
        if held is None:
            return
        part, before, subject, again = held
        judged = None
        if part.asked is not None:
            asked = Subject(part.asked.task, part.asked.prediction)
            desk, _newest = await asyncio.to_thread(
                recorded_calls,
                self.workspace,
                pair[1].id,
                self.judge_.ref,
                asked,
                False,
                self.on_call,
            )
            judged = await self.judge_.judge(asked.task, asked.prediction, desk)
        made = part.composed(
            before,
            judged,
            revision_hash=self.plan.moved(pair[0]).new.hash,
            trial_hash=hash_of(subject.prediction),
        )
        if not again or made != before:
            await asyncio.to_thread(record_judgement, self.workspace, pair[1].id, made, subject)

    def _held(
        self, old: TrialRecord, new: TrialRecord
    ) -> tuple[Carry, Judgement | None, Subject, bool] | None:
        """What is to be done for a trial, and whether it was begun before; None where its judgement is complete."""
        task = self.plan.moved(old).new.task
        events = tuple(self.workspace.runs.outline(new.id).events)
        prediction = load_prediction(self.workspace, new.id)
        subject = Subject(task, prediction, events)
        mine = self._newest(new)
        if mine is None:
            before = self._newest(old)
            part = carried(self.workspace, self.plan, old, before, anew=self.anew)
            return part, before, subject, False
        if all(verdict.decision is not Decision.UNJUDGED for verdict in mine.verdicts):
            return None
        # An earlier attempt was left with open items: only these are asked about.
        return carry(task, task, prediction, mine), mine, subject, True

    def _newest(self, trial: TrialRecord) -> Judgement | None:
        found = self.workspace.verdicts.of_trial(trial.id)
        mine = (r.judgement for r in found if r.judgement.judge.name == self.judge_.ref.name)
        return next(mine, None)


def _entered(workspace: Workspace, plan: RescorePlan, by: str, anew: bool) -> RunRecord:
    if there := rescored_runs(workspace, plan, anew=anew):
        return there[0]
    settings = settings_of(plan.run).model_copy(
        update={
            "judges": plan.judges,
            "rescored": plan.run.uid,
            "anew": anew,
            "replay": None,
            "budget": None,
        }
    )
    grid = RunPlan(
        tasks=tuple(dict.fromkeys(trial.task_id for trial in plan.trials)),
        agents=tuple(dict.fromkeys(trial.agent.name for trial in plan.trials)),
        name=_("{name}, rescored").format(name=plan.run.name),
        samples=plan.run.samples,
        limits=plan.run.limits,
        settings=settings,
    )
    cells = [
        TrialCell(
            task_id=trial.task_id,
            revision=plan.moved(trial).new.number,
            agent=trial.agent,
            user=trial.user,
            world=trial.world,
            sample=trial.sample,
            seed=trial.seed,
        )
        for trial in plan.trials
    ]
    return enter_run(workspace, grid, cells, by)


def _copy(workspace: Workspace, old: int, new: int) -> None:
    """The course of a trial as that of another, in one piece. Its beginning still says what it was played on."""
    course = workspace.runs.events(old)
    events = [
        event.model_copy(update={"seq": number, "take": 0}) for number, event in enumerate(course)
    ]
    workspace.runs.append_events([(new, event) for event in events])
