"""How the facts of a world are found, call by call (Mind-ParaWorld's search behaviour analysis)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import ceil
from typing import Literal

from cuecard.core.scoring.trial_figures import MAX_K, FactFigures
from cuecard.core.tasks.base import Frozen

LEAST = 50
"""So many trials make a cohort."""
FEWEST = 20
"""The percent of trials that make one where fewer than `LEAST` made a call."""

Rule = Literal["asked", "least", "share"]
"""Why a cohort ends where it does: it was asked for, `LEAST` trials go so far, or `FEWEST` percent of them do."""


class CurvePoint(Frozen):
    """At the k-th tool call, k from 1. `cohort`: trials that made at least k calls; `trials`: all that the
    curve is of. In a fixed cohort the two are the same.

    `new_facts`: facts matched for the first time by the k-th call, mean over the cohort. `fcr`: facts
    matched by the first k calls / facts, mean over all trials (one that stopped keeps what it had).
    `hit_precision`: hits among the first k calls / k, mean over the cohort.
    """

    k: int
    cohort: int
    trials: int
    new_facts: float
    fcr: float
    hit_precision: float


class CohortCurve(Frozen):
    """The paper's curves: over the `trials` that made at least `k_trunc` calls, the same at every k from 1 to
    there. `rule`: why there. Without a trial there are no points.
    """

    k_trunc: int
    trials: int
    rule: Rule
    points: tuple[CurvePoint, ...]


class FactCurves:
    """Add trials one by one, then take the points."""

    def __init__(self) -> None:
        self._found: list[FactFigures] = []

    def add(self, found: FactFigures) -> None:
        self._found.append(found)

    def points(self) -> tuple[CurvePoint, ...]:
        """Over all trials, from the first call to the longest trial's last, at most `trial_figures.MAX_K`."""
        longest = max((len(found.hits) for found in self._found), default=0)
        return _points(self._found, longest)

    def cohort(self, k_trunc: int | None = None) -> CohortCurve:
        """Over a fixed cohort; `k_trunc`: instead of the one that `truncation` finds."""
        k, rule = truncation([len(found.hits) for found in self._found], k_trunc)
        fixed = [found for found in self._found if k and len(found.hits) >= k]
        points = _points(fixed, k if fixed else 0)
        return CohortCurve(k_trunc=k, trials=len(fixed), rule=rule, points=points)


def truncation(calls: Sequence[int], asked: int | None = None) -> tuple[int, Rule]:
    """Up to which call a fixed cohort goes: the largest k with at least `LEAST` trials of k or more calls
    (Mind-ParaWorld), or if there is none the largest that `FEWEST` percent of the trials reach; 0 where
    not even so many made a call. `calls`: of each trial, of which figures keep the first `MAX_K`.
    """
    if asked is not None:
        return asked, "asked"
    ranked = sorted((min(each, MAX_K) for each in calls), reverse=True)
    if len(ranked) >= LEAST and ranked[LEAST - 1] > 0:
        return ranked[LEAST - 1], "least"
    enough = ceil(len(ranked) * FEWEST / 100)
    return ranked[enough - 1] if ranked else 0, "share"


def _points(trials: Sequence[FactFigures], last: int) -> tuple[CurvePoint, ...]:
    known = [list(accumulate(found.fresh)) for found in trials]
    hits = [list(accumulate(found.hits)) for found in trials]
    points: list[CurvePoint] = []
    for k in range(1, last + 1):
        cohort = [at for at, found in enumerate(trials) if len(found.hits) >= k]
        points.append(
            CurvePoint(
                k=k,
                cohort=len(cohort),
                trials=len(trials),
                new_facts=sum(trials[at].fresh[k - 1] for at in cohort) / len(cohort),
                fcr=sum(
                    own[min(k, len(own)) - 1] / found.facts if own else 0.0
                    for own, found in zip(known, trials, strict=True)
                )
                / len(trials),
                hit_precision=sum(hits[at][k - 1] / k for at in cohort) / len(cohort),
            )
        )
    return tuple(points)
