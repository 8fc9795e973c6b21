"""`cuecard score RUN… --json`: the scores of one or more runs with intervals, and every paper table as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuecard.cli.score_json import (
    Json,
    group_json,
    run_json,
    total_json,
    trial_json,
)

if TYPE_CHECKING:
    from cuecard.annotate.agreement import Statistic
    from cuecard.results.group_scores import IntervalScores
    from cuecard.results.pool import Pool
    from cuecard.results.score_table import ScoreTable
    from cuecard.store.records import UsageRecord


def results_json(
    pool: Pool,
    groups: Sequence[IntervalScores],
    usage: Sequence[UsageRecord],
    table: ScoreTable,
) -> Json:
    """The shape of `scores_json`, and more: `runs`; in each measure `interval` by statistic (null, with the reason in
    `no_interval`), and the measures `cost` and `tokens`; `scores`, the table by what was asked for; `tables`, the
    paper tables by name. `run` is of a single run alone; with several, each result has its `run`.
    """
    from cuecard.results.group_scores import trial_scores
    from cuecard.results.papers import tables_json

    judges = pool.values("judge")
    agents = {row.trial.id: row.trial.agent.name for row in pool.rows}
    several = len(pool.runs) > 1
    return {
        **({} if several else {"run": run_json(pool.runs[0])}),
        "runs": [run_json(run) for run in pool.runs],
        "judge": judges[0] if len(judges) == 1 else None,
        "judges": list(judges),
        "results": [
            {**trial_json(one), **({"run": one.trial.run_id} if several else {})}
            for one in trial_scores(pool)
        ],
        "groups": [_group_json(group, judges) for group in groups],
        "usage": [used.model_dump(mode="json") for used in usage],
        "totals": {
            "run": total_json(usage),
            "agents": {
                name: total_json([u for u in usage if agents.get(u.trial_id) == name])
                for name in dict.fromkeys(agents.values())
            },
        },
        "scores": table_json(table),
        "tables": tables_json(pool),
    }


def table_json(table: ScoreTable) -> Json:
    """`lines`: `group` by dimension, `counts`, and `figures` by `triplet_f1.avg`."""
    return {
        "by": list(table.by),
        "lines": [
            {
                "group": dict(line.group),
                "counts": line.counts.model_dump(),
                "figures": {
                    column.key: statistic_json(line.figures[column.key])
                    for column in table.columns
                    if column.key in line.figures
                },
            }
            for line in table.lines
        ],
        "notes": list(table.notes),
    }


def statistic_json(one: Statistic) -> Json:
    """`interval` is null where there is none, and `no_interval` says why."""
    return {
        "value": one.value,
        "n": one.n,
        "interval": list(one.interval) if one.interval else None,
        "reason": one.reason,
        "no_interval": one.no_interval,
    }


def _group_json(group: IntervalScores, judges: Sequence[str]) -> Json:
    data = group_json(group.scores)
    measures: Json = data["measures"]
    known = {(m.name, m.statistic) for m in group.scores.measures}
    for (name, taken), one in group.figures.items():
        entry: Json = measures.setdefault(name, {"n": {}})
        if (name, taken) not in known:
            entry[taken.value] = one.value
            entry["n"][taken.value] = one.n
        entry.setdefault("interval", {})[taken.value] = list(one.interval) if one.interval else None
        if not one.interval:
            why = one.reason or one.no_interval
            entry.setdefault("no_interval", {})[taken.value] = why
    return {**data, **({"judge": group.judge} if len(judges) > 1 else {})}
