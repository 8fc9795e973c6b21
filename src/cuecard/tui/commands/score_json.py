"""Scores as JSON: every measure by its name, undefined ones null, with the n of each beside, and every paper table as data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cuecard.core.engine.messages import Usage
from cuecard.core.verdicts import Measures

if TYPE_CHECKING:
    from cuecard.annotate.labelling.corrections import Correction, Corrections
    from cuecard.annotate.results.pool import Pool
    from cuecard.annotate.results.scores import IntervalScores, ScoreTable
    from cuecard.core.evaluation.scores import GroupScores, RunScores, TrialScores
    from cuecard.core.families.checkpoints.score import ProfileCount
    from cuecard.core.records import RunRecord, UsageRecord
    from cuecard.core.scoring.aggregate import AggregateMeasure
    from cuecard.core.scoring.breakdowns import Breakdown
    from cuecard.core.tables.table import Statistic
    from cuecard.core.verdicts import Measure


Json = dict[str, Any]


def measures_json(measures: Sequence[Measure]) -> Json:
    """`{name: value, ..., "n": {name: n}, "undefined": {name: reason}}`."""
    told = Measures.of(measures)
    return {
        **dict(zip(told.names, told.values, strict=True)),
        "n": dict(zip(told.names, told.counts, strict=True)),
        "undefined": {
            name: told.reasons.get(at, "")
            for at, name in enumerate(told.names)
            if told.values[at] is None
        },
    }


def aggregate_json(measures: Iterable[AggregateMeasure]) -> Json:
    """`{name: {"avg": value, "best": value, "n": {"avg": tasks, ...}, "trials", "undefined",
    "samples"}}`; which statistics there are follows from the measure. Of a pooled ratio `of` is what is below
    the line.
    """
    result: Json = {}
    for measure in measures:
        entry = result.setdefault(measure.name, {"n": {}})
        entry[measure.statistic.value] = measure.value
        entry["n"][measure.statistic.value] = measure.n
        entry.setdefault("trials", measure.trials)
        entry.setdefault("undefined", measure.undefined)
        entry.setdefault("samples", measure.samples)
        if measure.of is not None:
            entry["of"] = measure.of
    return result


def run_json(run: RunRecord) -> Json:
    return {**run.model_dump(mode="json"), "open": run.trials - run.finished}


def scores_json(scores: RunScores) -> Json:
    """`results`: an object for each trial that has ended; `groups`: one for each agent and family;
    `usage`: calls, tokens and cost by trial, payer and model; `totals` of the `run` and of `agents`.
    """
    agents = {scored.trial.id: scored.trial.agent.name for scored in scores.trials}
    return {
        "run": run_json(scores.run),
        "judge": scores.judge,
        "results": [trial_json(scored) for scored in scores.trials],
        "groups": [group_json(group) for group in scores.groups],
        **usage_json(scores.usage, agents),
    }


def usage_json(usage: Sequence[UsageRecord], agents: Mapping[int, str]) -> Json:
    """`agents`: who played, by trial."""
    return {
        "usage": [_used_json(used) for used in usage],
        "totals": totals_json(usage, agents),
    }


def _used_json(used: UsageRecord) -> Json:
    return {**used._asdict(), "usage": used.usage.model_dump()}


def totals_json(usage: Sequence[UsageRecord], agents: Mapping[int, str]) -> Json:
    return {
        "run": total_json(usage),
        "agents": {
            name: total_json([u for u in usage if agents.get(u.trial_id) == name])
            for name in dict.fromkeys(agents.values())
        },
    }


def total_json(usage: Sequence[UsageRecord]) -> Json:
    """`cost` is null where no call had a price."""
    total = {name: sum(getattr(used.usage, name) for used in usage) for name in Usage.model_fields}
    costs = [used.cost for used in usage if used.cost is not None]
    return {
        "calls": sum(used.calls for used in usage),
        **total,
        "cost": sum(costs) if costs else None,
    }


def trial_json(scored: TrialScores) -> Json:
    trial = scored.trial
    players = (trial.agent, trial.user, trial.world, *([scored.judge] if scored.judge else ()))
    return {
        "trial_id": trial.id,
        "task_id": trial.task_id,
        "revision": trial.revision,
        "family": trial.family,
        "agent": trial.agent.name,
        "model": trial.agent.model,
        "sample": trial.sample,
        "seed": trial.seed,
        "termination": trial.termination.value if trial.termination else None,
        "detail": trial.detail,
        "baseline": any(player.baseline for player in players),
        "judged": scored.judge is not None,
        "usable": not scored.unusable if scored.judge else None,
        "reason": scored.unusable,
        **measures_json(scored.measures),
    }


def group_json(group: GroupScores) -> Json:
    return {
        "agent": group.agent,
        "family": group.family,
        "trials": group.trials,
        "ended": group.ended,
        "judged": group.judged,
        "failed": group.failed,
        "baseline": group.baseline,
        "measures": aggregate_json(group.measures),
        "profiles": _profiles_json(group.breakdown.profiles),
        **_breakdown_json(group.breakdown),
    }


def _breakdown_json(found: Breakdown) -> Json:
    """`tools`, and what the family has: `fact_curve` and `fact_cohort`, `graph_errors`, profiles by kind of ambiguity and
    by difficulty.
    """
    result: Json = {"tools": found.tools}
    if found.fact_curve:
        result["fact_curve"] = [point.model_dump(mode="json") for point in found.fact_curve]
    if found.fact_cohort:
        result["fact_cohort"] = found.fact_cohort.model_dump(mode="json")
    if found.graph_errors:
        result["graph_errors"] = found.graph_errors.model_dump(mode="json")
    if found.by_ambiguity:
        result["profiles_by_ambiguity"] = {
            name: _profiles_json(profiles) for name, profiles in found.by_ambiguity.items()
        }
        result["profiles_by_difficulty"] = {
            name: _profiles_json(profiles) for name, profiles in found.by_difficulty.items()
        }
    return result


def _profiles_json(profiles: Sequence[ProfileCount]) -> Json:
    return {profile.profile.value: _profile_json(profile) for profile in profiles}


def _profile_json(profile: ProfileCount) -> Json:
    return {
        "count": profile.count,
        "share": profile.share.value,
        "pass_rate": profile.pass_rate.value,
        "n": profile.share.n,
    }


def results_json(
    pool: Pool,
    groups: Sequence[IntervalScores],
    usage: Sequence[UsageRecord],
    table: ScoreTable,
    corrections: Corrections | None = None,
) -> Json:
    """The shape of `scores_json`, and more: `runs`; in each measure `interval` by statistic (null, with the reason in
    `no_interval`), and the measures `cost` and `tokens`; `scores`, the table by what was asked for, whose lines have
    `corrected` where people labelled; `tables`, the paper tables by name. `run` is of a single run alone; with several, each result has its `run`.
    """
    from cuecard.annotate.results.papers import tables_json
    from cuecard.annotate.results.scores import trial_scores
    from cuecard.core.tables.texts import table_data

    scores, tables = table_json(table), tables_json(pool)
    if corrections:
        from cuecard.annotate.results.corrected import tables_of_labels

        _add_corrected(scores, table, pool, corrections)
        tables["corrected"] = [table_data(one) for one in tables_of_labels(pool, corrections)]
    judges = pool.values("judge")
    agents = {row.trial.id: row.trial.agent.name for row in pool.rows}
    several = len(pool.runs) > 1
    return {
        **({} if several else {"run": run_json(pool.runs[0])}),
        "runs": [run_json(run) for run in pool.runs],
        "judge": judges[0] if len(judges) == 1 else None,
        "judges": list(judges),
        # Made as they are written.
        "results": (
            {**trial_json(one), **({"run": one.trial.run_id} if several else {})}
            for one in trial_scores(pool)
        ),
        "groups": [_group_json(group, judges) for group in groups],
        "usage": (_used_json(used) for used in usage),
        "totals": totals_json(usage, agents),
        "scores": scores,
        "tables": tables,
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
                    column.key: {
                        **statistic_json(line.figures[column.key]),
                        **these_tasks_json(line.these.get(column.key)),
                    }
                    for column in table.columns
                    if column.key in line.figures
                },
            }
            for line in table.lines
        ],
        "notes": list(table.notes),
    }


def _add_corrected(data: Json, table: ScoreTable, pool: Pool, corrections: Corrections) -> None:
    """Put what labels say of a table's figures into its JSON."""
    from cuecard.annotate.results.corrected import corrected_figures

    lines = dict(zip(map(id, table.lines), data["lines"], strict=True))
    for one in corrected_figures(table, pool, corrections):
        entry = lines[id(one.line)].setdefault("corrected", {})
        entry[one.column.key] = _correction_json(one.correction, one.judge)


def _correction_json(one: Correction, judge: Statistic) -> Json:
    """Three figures (`judge` as the table has it) and the labels that they rest on, `tuning` the weight of the judge by
    stratum; without a corrected figure the reason.
    """
    if not one.corrected.defined:
        return {"corrected": statistic_json(one.corrected)}
    figures = ("corrected", "people", "here", "shift")
    return {
        "judge": statistic_json(judge),
        **{name: statistic_json(getattr(one, name)) for name in figures},
        **one.model_dump(mode="json", exclude={"judge", *figures}),
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


def these_tasks_json(one: Statistic | None) -> Json:
    """The interval on these tasks alone, beside that on tasks of this kind; of averages only."""
    if one is None:
        return {}
    return {
        "interval_these_tasks": list(one.interval) if one.interval else None,
        "no_interval_these_tasks": one.no_interval,
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
        if (these := group.these.get(f"{name}.{taken.value}")) is not None:
            for key, value in these_tasks_json(these).items():
                entry.setdefault(key, {})[taken.value] = value
    return {**data, **({"judge": group.judge} if len(judges) > 1 else {})}
