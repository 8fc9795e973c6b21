"""Trials of the workspace with all that is told of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from cuecard.core.errors import NotFound
from cuecard.core.events import Event, ModelReplied, course_of
from cuecard.core.formats.trajectories.model import Judged, Payment, Trajectory
from cuecard.core.scoring.trial_score import score_trial
from cuecard.core.tasks import Task
from cuecard.core.trial import prediction_of
from cuecard.lab.decisions import decided_items, replies_in, turn_items
from cuecard.store.records import Revision, RunRecord, TrialRecord, UsageRecord

if TYPE_CHECKING:
    from cuecard.store.sight import Sight
    from cuecard.store.workspace import Workspace


class Gatherer:
    """Reads the trials of one run, one after the other. `judges`: whose judgements are told, in this order;
    without any, everybody's. `sight`: of whoever is given them.
    """

    def __init__(
        self,
        workspace: Workspace,
        run: RunRecord,
        judges: Sequence[str] = (),
        sight: Sight | None = None,
    ) -> None:
        self._workspace = workspace
        self._run = run
        self._judges = judges
        self._sight = sight
        self._revisions: dict[tuple[str, int], Revision] = {}
        self._prompts: dict[str, str | None] = {}
        self._usage = _by_trial(workspace.runs.usage(run.id))
        self._judgements: dict[int, list[int]] = {}
        for head in workspace.verdicts.heads(run.id):
            if not judges or head.judge.name in judges:
                self._judgements.setdefault(head.trial_id, []).append(head.id)

    def trajectory(self, trial: TrialRecord) -> Trajectory:
        """Of a trial that has ended. Raises `NotFound`."""
        if trial.termination is None or trial.ended_at is None:
            raise ValueError(f"trial {trial.id} has not ended")
        revision = self._revision(trial)
        log = self._workspace.runs.log(trial.id)
        events = course_of(log)
        judged = self._judged(trial.id, revision.task, events)
        if self._sight:
            prediction = prediction_of(events)
            decided = [decided_items(each.judgement, prediction) for each in judged]
            for item in chain(*decided, turn_items(replies_in(events))):
                self._sight.may_tell(trial.id, item)
        return Trajectory(
            run=self._run.name,
            run_uid=self._run.uid,
            uid=trial.uid,
            task=revision.task,
            revision=trial.revision,
            revision_hash=revision.hash,
            sample=trial.sample,
            seed=trial.seed,
            agent=trial.agent,
            user=trial.user,
            world=trial.world,
            termination=trial.termination,
            detail=trial.detail,
            created_at=trial.created_at,
            ended_at=trial.ended_at,
            events=events,
            takes=1 + max((event.take for event in log), default=0),
            judged=judged,
            payments=self._usage.get(trial.id, ()),
            prompts=self._texts(events),
        )

    def _revision(self, trial: TrialRecord) -> Revision:
        version = (trial.task_id, trial.revision)
        if version not in self._revisions:
            self._revisions[version] = self._workspace.tasks.revision(*version)
        return self._revisions[version]

    def _judged(self, trial_id: int, task: Task, events: Sequence[Event]) -> tuple[Judged, ...]:
        records = self._workspace.verdicts.judgements(self._judgements.get(trial_id, ()))
        found = [record.judgement for record in records]
        found.sort(key=lambda j: (_place(j.judge.name, self._judges), j.judge.name))
        return tuple(Judged(judgement=j, measures=score_trial(task, events, j)) for j in found)

    def _texts(self, events: Iterable[Event]) -> dict[str, str]:
        hashes = dict.fromkeys(e.body.prompt for e in events if isinstance(e.body, ModelReplied))
        texts = {digest: self._prompt(digest) for digest in hashes if digest}
        return {digest: text for digest, text in texts.items() if text is not None}

    def _prompt(self, digest: str) -> str | None:
        if digest not in self._prompts:
            try:
                self._prompts[digest] = self._workspace.prompts.get(digest)
            except NotFound:
                self._prompts[digest] = None
        return self._prompts[digest]


def _place(name: str, judges: Sequence[str]) -> int:
    return judges.index(name) if name in judges else len(judges)


def _by_trial(usage: Iterable[UsageRecord]) -> dict[int, tuple[Payment, ...]]:
    found: dict[int, tuple[Payment, ...]] = {}
    for used in usage:
        payment = Payment(
            payer=used.payer,
            model=used.model,
            calls=used.calls,
            usage=used.usage,
            cost=used.cost,
        )
        found[used.trial_id] = (*found.get(used.trial_id, ()), payment)
    return found
