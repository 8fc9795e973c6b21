"""Scores by agent and family of any pool: what `lab.scores.score_run` says of a run, with intervals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from cuecard.annotate.agreement import Statistic
from cuecard.core.scoring.aggregate import Key
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.scoring.breakdowns import BreakdownCounts
from cuecard.core.tasks import FAMILIES, Family
from cuecard.core.tasks.base import Frozen
from cuecard.lab.scores import GroupScores, RunScores, TrialScores
from cuecard.results.pool import Pool, Row
from cuecard.results.score_table import counts_of
from cuecard.results.taking import SPENT, scores_of, with_task_intervals
from cuecard.store.records import UsageRecord


class IntervalScores(Frozen):
    """`scores` of the trials that `judge` judged, and `figures` by measure and way of taking samples: theirs with
    intervals, and those of `taking.SPENT`.
    """

    scores: GroupScores
    judge: str
    figures: dict[tuple[str, Taken], Statistic]


def interval_groups(pool: Pool) -> tuple[IntervalScores, ...]:
    """By agent, then family, then judge where several judged."""
    groups: dict[tuple[str, Family, str], list[Row]] = defaultdict(list)
    for row in pool.rows:
        groups[row.trial.agent.name, row.family, row.judged_by].append(row)
    ordered = sorted(groups, key=lambda key: (key[0], FAMILIES.index(key[1]), key[2]))
    return tuple(_group(*key, groups[key]) for key in ordered)


def trial_scores(pool: Pool) -> tuple[TrialScores, ...]:
    """Of every ended trial, in the pool's order."""
    return tuple(
        TrialScores(
            trial=row.trial, judge=row.judge, measures=row.figures.measures if row.figures else ()
        )
        for row in pool.rows
        if row.trial.termination is not None
    )


def run_scores(
    pool: Pool, groups: Sequence[IntervalScores], usage: Sequence[UsageRecord]
) -> RunScores:
    """Of the first run of a pool by one judge."""
    judges = pool.values("judge")
    return RunScores(
        run=pool.runs[0],
        judge=judges[0] if judges else "",
        trials=trial_scores(pool),
        groups=tuple(group.scores for group in groups),
        usage=tuple(usage),
    )


def _group(agent: str, family: Family, judge: str, rows: Sequence[Row]) -> IntervalScores:
    found = with_task_intervals(scores_of(rows))
    figures: dict[Key, Statistic] = {key: one for key, (_total, one) in found.items()}
    totals = tuple(total for (name, _taken), (total, _one) in found.items() if name not in SPENT)
    counts = counts_of(rows)
    told = BreakdownCounts()
    for row in rows:
        if row.figures is not None:
            told.add(row.figures, row.traits.difficulty)
    breakdown = told.result()
    return IntervalScores(
        scores=GroupScores(
            agent=agent,
            family=family,
            trials=counts.trials,
            ended=counts.ended,
            judged=counts.judged,
            failed=counts.failed,
            baseline=counts.baseline,
            measures=totals,
            profiles=breakdown.profiles,
            breakdown=breakdown,
        ),
        judge=judge,
        figures=figures,
    )
