"""Numbers of a run, from its logs and its newest judgements."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from cuecard.core.parts import PlayerRef
from cuecard.core.probes.settings import EXAMINER
from cuecard.core.scoring.aggregate import AggregateMeasure, TrialScore, aggregate
from cuecard.core.scoring.breakdowns import Breakdown, BreakdownCounts
from cuecard.core.scoring.measures import Measure
from cuecard.core.scoring.profiles import ProfileCount
from cuecard.core.tasks import FAMILIES, Family
from cuecard.core.tasks.base import Frozen
from cuecard.lab.figures import Judged, OnCount, judged_trials
from cuecard.lab.plans import settings_of
from cuecard.store.records import RunRecord, TrialRecord, UsageRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

LEXICAL = "lexical"


class TrialScores(Frozen):
    """One ended trial's measures. `judge` is None while it is not judged: then no measures. `unusable`: why nothing
    of what was handed in could be scored, such as columns that do not map; else empty.
    """

    trial: TrialRecord
    judge: PlayerRef | None
    measures: tuple[Measure, ...]
    unusable: str = ""

    @property
    def scores(self) -> dict[str, float | None]:
        return {measure.name: measure.value for measure in self.measures}


class GroupScores(Frozen):
    """One agent on the tasks of one family. `trials`: all of the grid; `ended` and `judged` of them;
    `failed`: ended by a failure, which scores like any other outcome. `baseline`: agent, user, world
    or judge is an embedded offline player. `profiles` for checkpoint tasks only.
    """

    agent: str
    family: Family
    trials: int
    ended: int
    judged: int
    failed: int
    baseline: bool
    measures: tuple[AggregateMeasure, ...]
    profiles: tuple[ProfileCount, ...] = ()
    breakdown: Breakdown = Breakdown()


class RunScores(Frozen):
    """`judge`: whose judgements were scored. `usage`: what the run's calls took, by trial, payer and
    model, over all takes.
    """

    run: RunRecord
    judge: str
    trials: tuple[TrialScores, ...]
    groups: tuple[GroupScores, ...]
    usage: tuple[UsageRecord, ...] = ()


def score_run(
    workspace: Workspace, run_id: int, judge: str = LEXICAL, on_count: OnCount | None = None
) -> RunScores:
    """Score every trial that ended and was judged by `judge`, and aggregate by agent and family. What an
    examiner said of a task is no attempt at it and has no score.

    Reads the logs of trials that were not counted before; call it off the screen's thread. Raises
    `NotFound`.
    """
    run = workspace.runs.get(run_id)
    every = [t for t in workspace.runs.trials(run_id) if t.agent.kind != EXAMINER]
    judged = {
        one.trial.id: one
        for one in judged_trials(workspace, run_id, judge, trials=every, on_count=on_count)
    }
    traits = workspace.runs.traits(run_id)
    groups: dict[tuple[str, Family], _Group] = defaultdict(_Group)
    trials: list[TrialScores] = []
    for trial in every:
        group = groups[trial.agent.name, trial.family]
        group.trials.append(trial)
        if trial.termination is None:
            continue
        found = judged.get(trial.id)
        if found:
            group.add(found, traits[trial.task_id, trial.revision].difficulty)
        measures = found.figures.measures if found else ()
        judge_ref = found.head.judge if found else None
        unusable = found.figures.unusable if found else ""
        trials.append(
            TrialScores(trial=trial, judge=judge_ref, measures=measures, unusable=unusable)
        )
    ordered = sorted(groups.items(), key=lambda item: (item[0][0], FAMILIES.index(item[0][1])))
    return RunScores(
        run=run,
        judge=judge,
        trials=tuple(trials),
        groups=tuple(group.scores(agent, family) for (agent, family), group in ordered),
        usage=tuple(workspace.runs.usage(run_id)),
    )


def score_as_judged(workspace: Workspace, run_id: int) -> RunScores:
    """`score_run` by the first of the judges that the run was entered with."""
    settings = settings_of(workspace.runs.get(run_id))
    return score_run(workspace, run_id, next(iter(settings.judges), LEXICAL))


class _Group:
    """What is gathered of one agent and family."""

    def __init__(self) -> None:
        self.trials: list[TrialRecord] = []
        self.scored: list[TrialScore] = []
        self.counts = BreakdownCounts()
        self.baseline_judge = False

    def add(self, found: Judged, difficulty: str | None) -> None:
        trial, figures = found.trial, found.figures
        self.scored.append(TrialScore(trial.task_id, trial.sample, figures.measures))
        self.baseline_judge |= found.head.judge.baseline
        self.counts.add(figures, difficulty)

    def scores(self, agent: str, family: Family) -> GroupScores:
        players = [ref for t in self.trials for ref in (t.agent, t.user, t.world)]
        ends = [t.termination for t in self.trials if t.termination is not None]
        breakdown = self.counts.result()
        return GroupScores(
            agent=agent,
            family=family,
            trials=len(self.trials),
            ended=len(ends),
            judged=len(self.scored),
            failed=sum(end.is_failure for end in ends),
            baseline=self.baseline_judge or any(ref.baseline for ref in players),
            measures=aggregate(self.scored),
            profiles=breakdown.profiles,
            breakdown=breakdown,
        )
