"""What rescoring a run would be of: which trials on which revisions, and what of their judgements holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.core.errors import NotAllowed, NotFound
from cuecard.core.i18n import _
from cuecard.core.parts import PlayerRef
from cuecard.core.rescoring.carrying import Carry, carry, whole
from cuecard.core.rescoring.course import course_changes
from cuecard.core.rescoring.items import item_changes
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Judgement
from cuecard.lab.judging import (
    load_prediction,
)
from cuecard.lab.plans import settings_of
from cuecard.store.records import Revision, RunRecord, TrialRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

Targets = Mapping[str, int]
"""Revisions by task; the newest for those that are not named."""


class LeftTask(Frozen):
    """A task whose trials cannot be judged on the new revision: `changed` would have led to other courses."""

    task_id: str
    played: int
    revision: int
    changed: tuple[str, ...]
    trials: int


@dataclass(frozen=True)
class Moved:
    """A task's revisions: what the trials were played on, and what they are judged on."""

    old: Revision
    new: Revision

    @property
    def same(self) -> bool:
        return self.old.hash == self.new.hash


@dataclass(frozen=True)
class RescorePlan:
    """`trials`: the ended trials that are judged again, in their run's order; `open`: how many had no end."""

    run: RunRecord
    judges: tuple[str, ...]
    tasks: dict[tuple[str, int], Moved]
    trials: tuple[TrialRecord, ...]
    left: tuple[LeftTask, ...]
    open: int

    def moved(self, trial: TrialRecord) -> Moved:
        """Of a trial of the old run."""
        return self.tasks[trial.task_id, trial.revision]

    @property
    def changed(self) -> tuple[Moved, ...]:
        return tuple(moved for moved in self.tasks.values() if not moved.same)


def plan_rescoring(
    workspace: Workspace, run_id: int, *, targets: Targets | None = None, judges: Sequence[str] = ()
) -> RescorePlan:
    """What rescoring would be of. `judges`: whose judgements are brought up to date, unless named those that the
    run was entered with, as far as they have judged it, else all that have.

    Raises `NotFound` for an unknown run, revision, or task in `targets`, `NotAllowed` for a play session and a
    probe, and for a judge that has judged nothing of the run: there is nothing to carry over from.
    """
    run = workspace.runs.get(run_id)
    if run.kind != "grid":
        raise NotAllowed(_("Only runs of a grid can be rescored"), run.name)
    wanted = dict(targets or {})
    every = workspace.runs.trials(run_id)
    if unknown := sorted(wanted.keys() - {trial.task_id for trial in every}):
        raise NotFound(_("The run has no such task"), ", ".join(unknown))
    judged = {head.judge.name for head in workspace.verdicts.heads(run_id)}
    entered = settings_of(run).judges
    usual = [name for name in entered if name in judged] or sorted(judged) or entered
    chosen = tuple(dict.fromkeys(judges or usual))
    if missing := [name for name in chosen if name not in judged]:
        raise NotAllowed(
            _("Nothing of this run was judged by {names}").format(names=", ".join(missing)),
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
        changed = course_changes(old.task, new.task)
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


def check_judges(workspace: Workspace, plan: RescorePlan, judges: Iterable[PlayerRef]) -> None:
    """Raises `NotAllowed` where verdicts would be put together that two different judges gave."""
    ours = {judge.name: judge for judge in judges}
    ids = {trial.id for trial in plan.trials}
    for head in workspace.verdicts.heads(plan.run.id):
        now = ours.get(head.judge.name)
        if head.trial_id in ids and now is not None and now != head.judge:
            raise NotAllowed(
                _("The judge {name} is not what it was").format(name=now.name),
                _("its model, prompts or settings have changed since it judged this run"),
                _("--anew has everything judged again by what it is now."),
            )


def rescored_runs(
    workspace: Workspace, plan: RescorePlan, *, anew: bool = False
) -> list[RunRecord]:
    """Runs that came of rescoring this one to the same revisions by the same judges, the newest first."""
    wanted = [cell_key(t, plan.moved(t).new.number) for t in plan.trials]
    return [
        run
        for run in workspace.runs.all("grid")
        if (settings := settings_of(run)).rescored == plan.run.uid
        and (settings.judges, settings.anew) == (plan.judges, anew)
        and [cell_key(t, t.revision) for t in workspace.runs.trials(run.id)] == wanted
    ]


def pairs_of(
    workspace: Workspace, plan: RescorePlan, run_id: int
) -> list[tuple[TrialRecord, TrialRecord]]:
    """The trials of a rescored run beside those that they came from."""
    return list(zip(plan.trials, workspace.runs.trials(run_id), strict=True))


def carried(
    workspace: Workspace,
    plan: RescorePlan,
    trial: TrialRecord,
    judgement: Judgement | None,
    *,
    anew: bool = False,
) -> Carry:
    """What holds of a judgement of the old trial, and what is to be asked."""
    moved = plan.moved(trial)
    prediction = load_prediction(workspace, trial.id)
    if anew:
        return whole(moved.new.task, prediction, item_changes(moved.old.task, moved.new.task))
    return carry(moved.old.task, moved.new.task, prediction, judgement)


def cell_key(trial: TrialRecord, revision: int) -> tuple[object, ...]:
    return (trial.task_id, revision, trial.agent, trial.user, trial.world, trial.sample, trial.seed)
