"""How the facts of closed worlds are found, call by call (Mind-ParaWorld's search behaviour analysis)."""

from __future__ import annotations

from cuecard.core.i18n import _
from cuecard.core.scoring.curves import FactCurves
from cuecard.core.scoring.trial_figures import FactFigures
from cuecard.core.tasks.base import Frozen
from cuecard.results.errors.groups import Judged
from cuecard.results.errors.rates import Plan, Rate, counted, plan
from cuecard.results.pool import Row


class CurveAt(Frozen):
    """At the k-th tool call; what it means is in `core.scoring.curves.CurvePoint`. `cohort`: trials that made at
    least k calls, of `trials`. New facts and hit precision are over the cohort, the coverage over all.
    """

    k: int
    cohort: int
    trials: int
    new_facts: Rate
    fcr: Rate
    hit_precision: Rate


class SearchErrors(Frozen):
    """`premature`: handed an answer in with facts still unfound, of trials that handed one in; the mean over tasks."""

    points: tuple[CurveAt, ...]
    premature: Rate


def search_errors(judged: Judged) -> SearchErrors:
    """Of one arm's trials on closed worlds."""
    worlds = [(row, figures.facts) for row, figures in judged if figures.facts]
    curves = FactCurves()
    for _row, facts in worlds:
        curves.add(facts)
    plans: dict[tuple[str, int], Plan] = {}
    points = curves.points()
    for point in points:
        k = point.k
        cohort = [(row, facts) for row, facts in worlds if len(facts.hits) >= k]
        plans["new_facts", k] = plan(
            "new_facts", ((row, facts.fresh[k - 1], 1.0) for row, facts in cohort), share=False
        )
        plans["fcr", k] = plan("fcr", ((row, _coverage(facts, k), 1.0) for row, facts in worlds))
        plans["hit_precision", k] = plan(
            "hit_precision", ((row, sum(facts.hits[:k]) / k, 1.0) for row, facts in cohort)
        )
    rates = counted(plans)
    return SearchErrors(
        points=tuple(
            CurveAt(
                k=point.k,
                cohort=point.cohort,
                trials=point.trials,
                new_facts=rates["new_facts", point.k],
                fcr=rates["fcr", point.k],
                hit_precision=rates["hit_precision", point.k],
            )
            for point in points
        ),
        premature=counted({"": _premature(judged)})[""],
    )


def _premature(judged: Judged) -> Plan:
    parts: list[tuple[Row, float, float]] = []
    for row, figures in judged:
        value = figures.value("premature_stop")
        if value is not None:
            parts.append((row, value, 1.0))
    return plan(
        "premature_stop", parts, hits=True, empty=_("the agent handed nothing in"), each_task=True
    )


def _coverage(facts: FactFigures, k: int) -> float:
    return sum(facts.fresh[:k]) / facts.facts
