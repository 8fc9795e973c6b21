"""How the facts of a world are found, call by call (Mind-ParaWorld's search behaviour analysis)."""

from __future__ import annotations

from collections import defaultdict

from cuecard.core.scoring.trial_figures import FactFigures
from cuecard.core.tasks.base import Frozen


class CurvePoint(Frozen):
    """At the k-th tool call, k from 1. `cohort`: trials that made at least k calls; `trials`: all.

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


class FactCurves:
    """Add trials one by one, then take the points."""

    def __init__(self) -> None:
        self._trials = 0
        self._cohort: dict[int, int] = defaultdict(int)
        self._new: dict[int, int] = defaultdict(int)
        self._precision: dict[int, float] = defaultdict(float)
        self._finals: list[tuple[int, list[float]]] = []

    def add(self, found: FactFigures) -> None:
        known = hits = 0
        coverage: list[float] = []
        for k, (hit, fresh) in enumerate(zip(found.hits, found.fresh, strict=True), start=1):
            known += fresh
            hits += hit
            self._cohort[k] += 1
            self._new[k] += fresh
            self._precision[k] += hits / k
            coverage.append(known / found.facts)
        self._trials += 1
        self._finals.append((len(coverage), coverage))

    def points(self) -> tuple[CurvePoint, ...]:
        """From the first call to the longest trial's last, at most `trial_figures.MAX_K`."""
        return tuple(
            CurvePoint(
                k=k,
                cohort=self._cohort[k],
                trials=self._trials,
                new_facts=self._new[k] / self._cohort[k],
                fcr=sum(c[min(k, n) - 1] if n else 0.0 for n, c in self._finals) / self._trials,
                hit_precision=self._precision[k] / self._cohort[k],
            )
            for k in sorted(self._cohort)
        )
