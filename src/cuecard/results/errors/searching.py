"""How the facts of closed worlds are found, call by call (Mind-ParaWorld's search behaviour analysis)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from cuecard.core.i18n import _
from cuecard.core.scoring.curves import CurvePoint, FactCurves, Rule
from cuecard.core.scoring.trial_figures import FactFigures
from cuecard.core.tasks.base import Frozen
from cuecard.results.errors.groups import Judged
from cuecard.results.errors.rates import Plan, Rate, counted, plan
from cuecard.results.pool import Row

World = tuple[Row, FactFigures]


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


class CohortAt(Frozen):
    """`core.scoring.curves.CohortCurve` with intervals."""

    k_trunc: int
    trials: int
    rule: Rule
    points: tuple[CurveAt, ...]


class SearchErrors(Frozen):
    """`points` over all trials (ours), `cohort` over a fixed cohort (the paper's). `premature`: handed an answer in with
    facts still unfound, of trials that handed one in; the mean over tasks.
    """

    points: tuple[CurveAt, ...]
    cohort: CohortAt
    premature: Rate


def search_errors(judged: Judged, k_trunc: int | None = None) -> SearchErrors:
    """Of one arm's trials on closed worlds. `k_trunc`: the last call of the fixed cohort's curves."""
    worlds = [(row, figures.facts) for row, figures in judged if figures.facts]
    curves = FactCurves()
    for _row, facts in worlds:
        curves.add(facts)
    whole, cohort = curves.points(), curves.cohort(k_trunc)
    kept = [(row, facts) for row, facts in worlds if len(facts.hits) >= cohort.k_trunc]
    return SearchErrors(
        points=_points(worlds, whole),
        cohort=CohortAt(
            k_trunc=cohort.k_trunc,
            trials=cohort.trials,
            rule=cohort.rule,
            points=_points(kept, cohort.points),
        ),
        premature=counted({"": _premature(judged)})[""],
    )


def _points(worlds: Sequence[World], points: Sequence[CurvePoint]) -> tuple[CurveAt, ...]:
    plans: dict[tuple[str, int], Plan] = {}
    # What each trial had found by its k-th call; one that stopped keeps what it had.
    found = [list(accumulate(facts.fresh, initial=0)) for _row, facts in worlds]
    hits = [list(accumulate(facts.hits, initial=0)) for _row, facts in worlds]
    for point in points:
        k = point.k
        cohort = [at for at, (_row, facts) in enumerate(worlds) if len(facts.hits) >= k]
        plans["new_facts", k] = plan(
            "new_facts",
            ((worlds[at][0], worlds[at][1].fresh[k - 1], 1.0) for at in cohort),
            share=False,
        )
        plans["fcr", k] = plan(
            "fcr",
            (
                (row, own[min(k, len(own) - 1)] / facts.facts, 1.0)
                for own, (row, facts) in zip(found, worlds, strict=True)
            ),
        )
        plans["hit_precision", k] = plan(
            "hit_precision", ((worlds[at][0], hits[at][k] / k, 1.0) for at in cohort)
        )
    rates = counted(plans)
    return tuple(
        CurveAt(
            k=point.k,
            cohort=point.cohort,
            trials=point.trials,
            new_facts=rates["new_facts", point.k],
            fcr=rates["fcr", point.k],
            hit_precision=rates["hit_precision", point.k],
        )
        for point in points
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
