"""Judges a run again on corrected gold: verdicts on unchanged items are carried over, only the others are asked for."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal
from weakref import WeakKeyDictionary

from cuecard.core.engine.messages import PlayerRef
from cuecard.core.engine.step_context import Judge
from cuecard.core.errors import NotAllowed, NotFound
from cuecard.core.evaluation.judging import (
    JudgeFailure,
    OnCall,
    OnProgress,
    Subject,
    at_a_time,
    hash_of,
    judge_each,
    load_prediction,
    record_judgement,
    recorded_calls,
)
from cuecard.core.evaluation.plans import RunPlan, enter_run, free_name, settings_of
from cuecard.core.evaluation.run_trials import playing
from cuecard.core.i18n import _, listed
from cuecard.core.records import Revision, RunRecord, RunState, TrialCell, TrialRecord
from cuecard.core.rescoring import Carry, GoldChange, carry, changes_in_play, item_changes, whole
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Decision, Judgement

if TYPE_CHECKING:
    from cuecard.core.archive import Archive
    from cuecard.core.engine.run_control import RunControl
    from cuecard.core.worker_archive import Claim


Targets = Mapping[str, int]
"""The revision to judge on, by task; tasks that are not named are judged on their newest."""


class LeftTask(Frozen):
    """A task whose trials cannot be judged on the new revision. `changed`: the fields that shape the dialogue and differ
    from the revision that was played. `trials`: how many of the run's trials this leaves out.
    """

    task_id: str
    played: int
    revision: int
    changed: tuple[str, ...]
    trials: int


@dataclass(frozen=True)
class Moved:
    """The revision that a task's trials were played on (`old`), and the one they are judged on (`new`)."""

    old: Revision
    new: Revision

    @cached_property
    def same(self) -> bool:
        """Whether the gold that judges read is the same."""
        if self.old.hash == self.new.hash:
            return True
        return all(
            each.fate is GoldChange.SAME for each in item_changes(self.old.task, self.new.task)
        )


@dataclass(frozen=True)
class RescorePlan:
    """What rescoring a run would do. `trials`: the ended trials to be judged again, in the run's order; `left`: tasks
    that are left out; `open`: how many trials had not ended.
    """

    run: RunRecord
    judges: tuple[str, ...]
    tasks: dict[tuple[str, int], Moved]
    trials: tuple[TrialRecord, ...]
    left: tuple[LeftTask, ...]
    open: int

    def moved(self, trial: TrialRecord) -> Moved:
        """The revisions of a trial of the old run."""
        return self.tasks[trial.task_id, trial.revision]

    @property
    def changed(self) -> tuple[Moved, ...]:
        return tuple(moved for moved in self.tasks.values() if not moved.same)


@dataclass(frozen=True)
class RenewedTasks:
    """How many tasks have a newer revision: with other `gold`, by which trials on the older one can be judged; that is `played`
    otherwise, by which they cannot. What changes no scores is not counted.
    """

    gold: int = 0
    played: int = 0


_KNOWN: WeakKeyDictionary[
    Archive, dict[tuple[str, int, int], Literal["gold", "played", "neither"]]
] = WeakKeyDictionary()


def renewed_tasks(
    workspace: Archive, played: Mapping[str, int], newest: Mapping[str, int]
) -> RenewedTasks:
    """What became of the revisions that were played, by task. Two are compared once in a workspace: they never change."""
    known = _KNOWN.setdefault(workspace, {})
    found = Counter[str]()
    for task, number in played.items():
        if newest.get(task, 0) <= number:
            continue
        key = task, number, newest[task]
        if key not in known:
            moved = Moved(workspace.tasks.revision(task, number), workspace.tasks.revision(task))
            apart = changes_in_play(moved.old.task, moved.new.task)
            known[key] = "played" if apart else "neither" if moved.same else "gold"
        found[known[key]] += 1
    return RenewedTasks(gold=found["gold"], played=found["played"])


def plan_rescoring(
    workspace: Archive, run_id: int, *, targets: Targets | None = None, judges: Sequence[str] = ()
) -> RescorePlan:
    """The plan for rescoring a run. `judges`: whose judgements are brought up to date; by default those that the run was
    created with, if they have judged it, otherwise all that have.

    Raises `NotFound` for an unknown run, revision, or task in `targets`, `NotAllowed` for a play session and a
    probe, and for a judge that has judged nothing of the run.
    """
    run = workspace.runs.get(run_id)
    if run.kind != "grid":
        raise NotAllowed(_("Only runs of a grid can be rescored"), run.name)
    wanted = dict(targets or {})
    every = workspace.runs.trials(run_id)
    if unknown := sorted(wanted.keys() - {trial.task_id for trial in every}):
        raise NotFound(_("The run has no such task"), listed(unknown))
    judged = {head.judge.name for head in workspace.verdicts.heads(run_id)}
    entered = settings_of(run).judges
    usual = [name for name in entered if name in judged] or sorted(judged) or entered
    chosen = tuple(dict.fromkeys(judges or usual))
    if missing := [name for name in chosen if name not in judged]:
        raise NotAllowed(
            _("Nothing of this run was judged by {names}").format(names=listed(missing)),
            run.name,
            _("`cuecard judge --run {id}` judges it.").format(id=run_id),
        )
    ended = [trial for trial in every if trial.termination is not None]
    tasks: dict[tuple[str, int], Moved] = {}
    left: list[LeftTask] = []
    for version in dict.fromkeys((trial.task_id, trial.revision) for trial in ended):
        task_id, played = version
        old = workspace.tasks.revision(task_id, played)
        new = workspace.tasks.revision(task_id, wanted.get(task_id))
        changed = changes_in_play(old.task, new.task)
        if changed:
            count = sum((t.task_id, t.revision) == version for t in ended)
            left.append(
                LeftTask(
                    task_id=task_id,
                    played=played,
                    revision=new.number,
                    changed=changed,
                    trials=count,
                )
            )
        else:
            tasks[version] = Moved(old, new)
    return RescorePlan(
        run=run,
        judges=chosen,
        tasks=tasks,
        trials=tuple(t for t in ended if (t.task_id, t.revision) in tasks),
        left=tuple(left),
        open=len(every) - len(ended),
    )


def check_judges(workspace: Archive, plan: RescorePlan, judges: Iterable[PlayerRef]) -> None:
    """Raises `NotAllowed` if a judge's model or prompts changed, since its old and new verdicts must not be mixed."""
    ours = {judge.name: judge for judge in judges}
    ids = {trial.id for trial in plan.trials}
    for head in workspace.verdicts.heads(plan.run.id):
        now = ours.get(head.judge.name)
        if head.trial_id in ids and now is not None and now != head.judge:
            raise NotAllowed(
                _("The judge {name} is not what it was").format(name=now.name),
                _("its model, prompts or settings have changed since it judged this run"),
                _("--anew has everything judged again by what it is now."),
                in_app=_(
                    "`cuecard rescore {run} --anew` has everything judged again by what it is now."
                ).format(run=plan.run.id),
            )


def rescored_runs(workspace: Archive, plan: RescorePlan, *, anew: bool = False) -> list[RunRecord]:
    """The runs that rescored this one to the same revisions by the same judges, the newest first."""
    wanted = [cell_key(t, plan.moved(t).new.number) for t in plan.trials]
    return [
        run
        for run in workspace.runs.all("grid")
        if run.plan.get("rescored") == plan.run.uid
        and ((settings := settings_of(run)).judges, settings.anew) == (plan.judges, anew)
        and [cell_key(t, t.revision) for t in workspace.runs.trials(run.id)] == wanted
    ]


def rescored_already(workspace: Archive, plan: RescorePlan) -> RunRecord | None:
    """The newest run in which all of this was done."""
    every = rescored_runs(workspace, plan)
    return next((run for run in every if run.state is RunState.DONE), None)


def rescored_on_newest(workspace: Archive, run: RunRecord) -> RunRecord | None:
    """The run that has the trials of this one on the newest gold. Cheap for a run that was never rescored."""
    if all(other.plan.get("rescored") != run.uid for other in workspace.runs.all("grid")):
        return None
    return rescored_already(workspace, plan_rescoring(workspace, run.id))


def pairs_of(
    workspace: Archive, plan: RescorePlan, run_id: int
) -> list[tuple[TrialRecord, TrialRecord]]:
    """Pairs of an old trial and its copy in the rescored run."""
    return list(zip(plan.trials, workspace.runs.trials(run_id), strict=True))


def carried(
    workspace: Archive,
    plan: RescorePlan,
    trial: TrialRecord,
    judgement: Judgement | None,
    *,
    anew: bool = False,
) -> Carry:
    """Which verdicts on the old trial can be carried over, and which items the judge is to be asked about."""
    moved = plan.moved(trial)
    prediction = load_prediction(workspace, trial.id)
    if anew:
        return whole(moved.new.task, prediction, item_changes(moved.old.task, moved.new.task))
    return carry(moved.old.task, moved.new.task, prediction, judgement)


def cell_key(trial: TrialRecord, revision: int) -> tuple[object, ...]:
    return (trial.task_id, revision, trial.agent, trial.user, trial.world, trial.sample, trial.seed)


class RescoreOutcome(Frozen):
    """`run`: the rescored run. `failed`: its trials that are left unjudged."""

    run: RunRecord
    failed: tuple[JudgeFailure, ...] = ()


async def rescore_run(
    workspace: Archive,
    plan: RescorePlan,
    judges: Sequence[Judge],
    *,
    by: str,
    anew: bool = False,
    on_progress: Callable[[str], OnProgress] | None = None,
    on_call: OnCall | None = None,
    control: RunControl | None = None,
) -> RescoreOutcome:
    """Create the rescored run, or go on with one begun earlier to the same revisions, and judge its unjudged trials.

    `anew`: ask about all items, which is necessary if a judge's model or prompts have changed. Nothing is recorded
    twice, and answered calls are not made again. `control` stops it as it stops a run. Raises `NotAllowed` if a judge has
    changed (without `anew`) or if no gold has, and `AlreadyPlayed` while another process rescores the run in the same way.
    """
    async with _copied(workspace, plan, judges, by, anew) as run:
        pairs = await asyncio.to_thread(pairs_of, workspace, plan, run.id)
        failed: list[JudgeFailure] = []
        for judge in judges:
            work = Rescoring(workspace, plan, judge, anew, on_call)
            told = on_progress(judge.ref.name) if on_progress else None
            troubles = await judge_each(pairs, work.judge, at_a_time(judge), told, control)
            failed += [
                JudgeFailure(trial_id=pairs[place][1].id, reason=t.reason, halted=t.halted)
                for place, t in troubles.items()
            ]
        if not failed:
            await asyncio.to_thread(workspace.runs.set_state, run.id, RunState.DONE)
    run = await asyncio.to_thread(workspace.runs.get, run.id)
    return RescoreOutcome(run=run, failed=tuple(failed))


async def enter_rescoring(
    workspace: Archive, plan: RescorePlan, judges: Sequence[Judge], *, by: str, anew: bool = False
) -> RunRecord:
    """The rescored run, as `rescore_run` makes it or goes on with it; nothing is judged yet. Raises what that raises."""
    async with _copied(workspace, plan, judges, by, anew) as run:
        return run


def rescored_from(workspace: Archive, run: RunRecord) -> tuple[RescorePlan, dict[int, TrialRecord]]:
    """The plan by which the run rescores another, and that one's trial by the id of each of its own. Raises `NotFound`."""
    settings, trials = settings_of(run), workspace.runs.trials(run.id)
    old = next((r for r in workspace.runs.all("grid") if r.uid == settings.rescored), None)
    if old is None:
        raise NotFound(_("The run that was rescored is not here"), run.name)
    targets = {trial.task_id: trial.revision for trial in trials}
    plan = plan_rescoring(workspace, old.id, targets=targets, judges=settings.judges)
    there = {cell_key(trial, plan.moved(trial).new.number): trial for trial in plan.trials}
    return plan, {trial.id: there[cell_key(trial, trial.revision)] for trial in trials}


@asynccontextmanager
async def _copied(
    workspace: Archive, plan: RescorePlan, judges: Sequence[Judge], by: str, anew: bool
) -> AsyncGenerator[RunRecord]:
    """Hold the rescored run, with all logs in it."""
    if not plan.changed:
        raise NotAllowed(_("No gold has changed since this run"), plan.run.name)
    if not anew:
        await asyncio.to_thread(check_judges, workspace, plan, [judge.ref for judge in judges])
    run = await asyncio.to_thread(_entered, workspace, plan, by, anew)
    async with playing(workspace, run.id, by):
        for old, new in await asyncio.to_thread(pairs_of, workspace, plan, run.id):
            if new.termination is None:
                await asyncio.to_thread(_copy, workspace, old.id, new.id)
        yield run


@dataclass(frozen=True)
class Rescoring:
    """The judging of all trials by one judge, or of one that a worker holds by its `claim`."""

    workspace: Archive
    plan: RescorePlan
    judge_: Judge
    anew: bool
    on_call: OnCall | None
    claim: Claim | None = None

    async def judge(self, pair: tuple[TrialRecord, TrialRecord]) -> None:
        held = await asyncio.to_thread(self._held, *pair)
        if held is None:
            return
        part, before, subject, again = held
        judged = None
        if part.asked is not None:
            asked = Subject(part.asked.task, part.asked.prediction)
            context, _newest = await asyncio.to_thread(
                recorded_calls,
                self.workspace,
                pair[1].id,
                self.judge_.ref,
                asked,
                False,
                self.on_call,
                self.claim,
            )
            judged = await self.judge_.judge(asked.task, asked.prediction, context)
        made = part.composed(
            before,
            judged,
            revision_hash=self.plan.moved(pair[0]).new.hash,
            trial_hash=hash_of(subject.prediction),
        )
        if not again or made != before:
            await asyncio.to_thread(
                record_judgement, self.workspace, pair[1].id, made, subject, self.claim
            )

    def _held(
        self, old: TrialRecord, new: TrialRecord
    ) -> tuple[Carry, Judgement | None, Subject, bool] | None:
        """What is left to do for a trial, and whether it was begun before; None if its judgement is complete."""
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
        # An earlier attempt left items unjudged: only these are asked about.
        return carry(task, task, prediction, mine), mine, subject, True

    def _newest(self, trial: TrialRecord) -> Judgement | None:
        found = self.workspace.verdicts.of_trial(trial.id)
        mine = (r.judgement for r in found if r.judgement.judge.name == self.judge_.ref.name)
        return next(mine, None)


def _entered(workspace: Archive, plan: RescorePlan, by: str, anew: bool) -> RunRecord:
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
        name=free_name(workspace, _("{name}, rescored").format(name=plan.run.name)),
        samples=plan.run.samples,
        limits=plan.run.limits,
        settings=settings,
    )
    cells = [
        TrialCell.from_fields(trial, revision=plan.moved(trial).new.number) for trial in plan.trials
    ]
    return enter_run(workspace, grid, cells, by)


def _copy(workspace: Archive, old: int, new: int) -> None:
    """Copy the effective log of a trial to another. Its first event still names the revision that was played."""
    effective = workspace.runs.events(old)
    events = [
        event.model_copy(update={"seq": number, "take": 0})
        for number, event in enumerate(effective)
    ]
    workspace.runs.append_events([(new, event) for event in events])
