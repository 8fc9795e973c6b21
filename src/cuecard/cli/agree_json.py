"""Agreement as JSON: a figure is `{value, low, high, n}`, null where undefined, with the reason beside it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cuecard.annotate.agreement import AgreementTable, ConfusionMatrix, Row, Statistic
    from cuecard.annotate.labelling.comparison import Comparison, Pair, Rater, Scope

Json = dict[str, Any]


def table_json(table: AgreementTable) -> Json:
    """`items`, `raters` and the like, then each coefficient's value by its name, null where undefined; `figures`
    has them with their intervals.
    """
    return {
        "items": table.items,
        "paired": table.paired,
        "raters": list(table.raters),
        "labels": list(table.labels),
        "ratings": table.ratings,
        "groups": table.groups,
        "weighted": table.weighted,
        "level": table.level,
        **{row.name: row.value for row in table.rows},
        "n": {row.name: row.statistic.n for row in table.rows},
        "undefined": {r.name: r.statistic.reason for r in table.rows if r.value is None},
        "figures": figures(table.rows),
        "by_label": [
            {
                "label": row.label,
                "first": figure(row.first),
                "reference": figure(row.reference),
                "either": figure(row.either),
            }
            for row in table.label_rows
        ],
        "prevalence": {each.label: each.share for each in table.prevalence},
        "confusion": matrix_json(table.confusion),
        "notes": [{"code": note.code, "text": note.text} for note in table.notes],
    }


def comparison_json(found: Comparison, scope: Scope) -> Json:
    """`pairs`: every judge against every reference, then every two people; a rater is its role and name."""
    return {
        "runs": list(scope.runs),
        "set": scope.set_id,
        "kind": found.subject,
        "kinds": dict(found.subjects),
        "verdicts": found.population,
        "labelled": found.labelled,
        "tasks": found.tasks,
        "unsure": found.unsure,
        "unjudged": found.unjudged,
        "weighted": found.weighted,
        "unlabelled_strata": dict(found.bare),
        "judges": list(found.judges),
        "baselines": list(found.baselines),
        "people": list(found.people),
        "pairs": [pair_json(pair) for pair in found.pairs],
        "people_together": table_json(found.humans) if found.humans else None,
        "ceilings": [
            {
                "judge": _name(each.judge),
                "items": each.n,
                "tasks": each.groups,
                "judge_people": figures(each.judge_people),
                "people_people": figures(each.people_people),
                "difference": figures(each.difference),
            }
            for each in found.ceilings
        ],
        "differences": [
            {
                "one": _name(each.one),
                "other": _name(each.other),
                "reference": each.reference,
                "items": each.n,
                "tasks": each.groups,
                "ones": figures(each.ones),
                "others": figures(each.others),
                "difference": figures(each.rows),
            }
            for each in found.differences
        ],
        "groups": [
            {
                "by": group.by,
                "value": group.value,
                "judge": group.judge,
                "reference": rater_json(group.reference),
                "items": group.n,
                "tasks": group.tasks,
                "figures": {s.name: figure(s) for s in group.statistics},
            }
            for group in found.groups
        ],
        "anchoring": [
            {
                "person": each.person or None,
                "looked": each.looked,
                "changed": figure(each.changed),
                "towards_judge": figure(each.towards),
                "away_from_judge": figure(each.away),
            }
            for each in found.anchoring
        ],
        "adjudicated": found.adjudicated,
        "causes": dict(found.causes),
    }


def pair_json(pair: Pair) -> Json:
    rows = (*pair.table.rows, *(pair.reference.rows if pair.reference else ()))
    return {
        "left": rater_json(pair.left),
        "right": rater_json(pair.right),
        "items": pair.n,
        "tasks": pair.table.groups,
        "figures": figures(rows),
        "prevalence": {each.label: each.share for each in pair.table.prevalence},
        "confusion": matrix_json(pair.table.confusion),
        "notes": [{"code": note.code, "text": note.text} for note in pair.table.notes],
    }


def rater_json(rater: Rater) -> Json:
    return {"role": rater.role, "name": rater.name or None}


def figures(rows: Iterable[Row]) -> Json:
    """By name, with the interval by resampling (`low`, `high`) and by linearisation (`analytic`)."""
    return {
        row.name: {
            **(figure(row.statistic) or {}),
            "analytic": list(row.analytic.interval)
            if row.analytic and row.analytic.interval
            else None,
        }
        for row in rows
    }


def figure(statistic: Statistic | None) -> Json | None:
    if statistic is None:
        return None
    found: Json = {
        "value": statistic.value,
        "low": statistic.low,
        "high": statistic.high,
        "n": statistic.n,
    }
    if statistic.reason:
        found["undefined"] = statistic.reason
    if statistic.no_interval:
        found["no_interval"] = statistic.no_interval
    return found


def matrix_json(matrix: ConfusionMatrix | None) -> Json | None:
    return matrix.model_dump(mode="json") if matrix else None


def _name(key: str) -> str:
    return key.partition(":")[2]
