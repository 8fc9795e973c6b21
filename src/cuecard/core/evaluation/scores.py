"""Scores of a run from its logs and newest judgements. Figures of judged trials are stored, so as to be computed once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from cuecard import __version__
from cuecard.core.engine.events import Event
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.errors import CuecardError, NotFound
from cuecard.core.evaluation.plans import no_exam, settings_of
from cuecard.core.i18n import _, current_language, listed
from cuecard.core.label_records import JudgementHead
from cuecard.core.players import DEFAULT_JUDGE
from cuecard.core.probes.results import EXAMINER
from cuecard.core.records import KeptFigures, RunRecord, TrialRecord, UsageRecord
from cuecard.core.scoring.aggregate import AggregateMeasure, TrialScore, aggregate
from cuecard.core.scoring.breakdowns import Breakdown, BreakdownCounts
from cuecard.core.scoring.measures import MEASURES
from cuecard.core.scoring.trial_score import SCHEME, TrialFigures, figures_of
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import FAMILIES, Family, Task
from cuecard.core.verdicts import Judgement, Measure

if TYPE_CHECKING:
    from cuecard.core.archive import Archive


OnCount = Callable[[int, int], None]
"""Called with how many trials have been counted, and how many there are."""
_BATCH = 16
_TASKS = 32
_PATIENCE = 0.25
"""Seconds to wait for the database in order to store figures; after that they are not stored, so that readers need
not wait for a writer."""


class Judged(NamedTuple):
    """A trial with its newest judgement by one judge and the figures that follow."""

    trial: TrialRecord
    head: JudgementHead
    figures: TrialFigures


def judged_nothing(judge: str, here: Iterable[str]) -> NotFound:
    """That this judge judged none of some trials; `here`: those that did."""
    return NotFound(
        _("None of these trials is judged by {judge}").format(judge=judge),
        _("judges here: {names}").format(names=listed(sorted(here)) or "-"),
        _("`cuecard judge --run N --judge {judge}` has it judge them.").format(judge=judge),
    )


def judged_trials(
    workspace: Archive,
    run_id: int,
    judge: str | None = None,
    *,
    trials: Sequence[TrialRecord] | None = None,
    on_count: OnCount | None = None,
) -> list[Judged]:
    """Every ended trial of the run that `judge` (None: any) has judged, by trial and judge.

    `trials`: the run's trials to be read, by default all. Reads logs only of trials without stored figures; call it in
    a thread. Raises `NotFound`.
    """
    wanted = workspace.runs.trials(run_id) if trials is None else trials
    by_id = {trial.id: trial for trial in wanted if trial.termination is not None}
    heads = [
        head
        for head in workspace.verdicts.heads(run_id)
        if head.trial_id in by_id and judge in (None, head.judge.name)
    ]
    kept = workspace.figures.of_run(run_id, current_language())
    stamps = {events: stamp_of(events) for events in {trial.events for trial in by_id.values()}}
    found: dict[int, TrialFigures] = {}
    missing: list[JudgementHead] = []
    for head in heads:
        known = kept.get(head.id)
        if known and known.stamp == stamps[by_id[head.trial_id].events]:
            found[head.id] = TrialFigures.read(known.body)
        else:
            missing.append(head)
    _count(workspace, by_id, missing, found, on_count)
    return [Judged(by_id[head.trial_id], head, found[head.id]) for head in heads]


def stamp_of(events: int) -> str:
    """The stamp of figures computed by this version, and by those of packages with measures of their own, over a log of
    `events` events; others are computed again.
    """
    return f"{__version__}/{SCHEME}{MEASURES.stamp}/{events}"


def kept_figures(
    task: Task, events: Sequence[Event], judgement: Judgement, judgement_id: int, trial_id: int
) -> KeptFigures:
    """Figures to store; `events` is the effective log of a trial that has ended."""
    figures = figures_of(task, events, judgement)
    return KeptFigures(
        judgement_id=judgement_id,
        trial_id=trial_id,
        stamp=stamp_of(events[-1].seq + 1 if events else 0),
        body=figures.kept,
    )


def _count(
    workspace: Archive,
    trials: dict[int, TrialRecord],
    missing: Sequence[JudgementHead],
    found: dict[int, TrialFigures],
    on_count: OnCount | None,
) -> None:
    # Trials come task by task, and all tasks of a run may be more than memory holds.
    revision = lru_cache(_TASKS)(workspace.tasks.revision)
    keeps = True
    for start in range(0, len(missing), _BATCH):
        batch = missing[start : start + _BATCH]
        records = {r.id: r for r in workspace.verdicts.judgements([head.id for head in batch])}
        ready: list[KeptFigures] = []
        for head in batch:
            trial = trials[head.trial_id]
            task = revision(trial.task_id, trial.revision).task
            events = workspace.runs.outline(trial.id).events
            judgement = records[head.id].judgement
            figures = figures_of(task, events, judgement)
            found[head.id] = figures
            ready.append(
                KeptFigures(
                    judgement_id=head.id,
                    trial_id=trial.id,
                    stamp=stamp_of(trial.events),
                    body=figures.kept,
                )
            )
        # With a full disk or a busy or read-only workspace, the next count has to compute these figures again.
        if keeps:
            try:
                workspace.figures.keep(ready, current_language(), patience=_PATIENCE)
            except CuecardError:
                keeps = False
        if on_count:
            on_count(start + len(batch), len(missing))


@dataclass(frozen=True)
class TrialScores:
    """One ended trial's measures. Until it is judged, `judge` is None and there are no measures. `unusable`: why nothing
    of the prediction could be scored (such as columns that do not map); empty if something could.
    """

    trial: TrialRecord
    judge: PlayerRef | None
    measures: Sequence[Measure]
    unusable: str = ""

    @property
    def scores(self) -> dict[str, float | None]:
        return {measure.name: measure.value for measure in self.measures}


class GroupScores(Frozen):
    """One agent on the tasks of one family. `trials`: all trials of the grid, of which `ended` and `judged` are
    counted; `failed`: those ended by a failure, which are scored like any other. `baseline`: agent, user, world or judge
    is an offline player.
    """

    agent: str
    family: Family
    trials: int
    ended: int
    judged: int
    failed: int
    baseline: bool
    measures: tuple[AggregateMeasure, ...]
    breakdown: Breakdown = Breakdown()


class RunScores(Frozen):
    """The scores of a run. `judge`: whose judgements were scored. `usage`: tokens and cost of the run's calls by trial,
    payer and model, over all attempts.
    """

    run: RunRecord
    judge: str
    trials: tuple[TrialScores, ...]
    groups: tuple[GroupScores, ...]
    usage: tuple[UsageRecord, ...] = ()


def score_run(
    workspace: Archive, run_id: int, judge: str = DEFAULT_JUDGE, on_count: OnCount | None = None
) -> RunScores:
    """Score every trial that ended and was judged by `judge`, and aggregate by agent and family. Trials of examiners
    are no attempts at a task and have no score.

    Reads the logs of trials without stored figures; call it in a thread. Raises `NotFound`.
    """
    run = no_exam(workspace.runs.get(run_id))
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


def score_as_judged(workspace: Archive, run_id: int) -> RunScores:
    """`score_run` by the first of the judges that the run was created with."""
    settings = settings_of(workspace.runs.get(run_id))
    return score_run(workspace, run_id, next(iter(settings.judges), DEFAULT_JUDGE))


class _Group:
    """Gathers the trials of one agent and family."""

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
        return GroupScores(
            agent=agent,
            family=family,
            trials=len(self.trials),
            ended=len(ends),
            judged=len(self.scored),
            failed=sum(end.is_failure for end in ends),
            baseline=self.baseline_judge or any(ref.baseline for ref in players),
            measures=aggregate(self.scored),
            breakdown=self.counts.result(),
        )
