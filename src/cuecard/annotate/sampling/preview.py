"""What a plan would draw, before it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuecard.annotate.sampling.draw import Stratum, Unit, strata_of
from cuecard.annotate.sampling.plan import SamplingPlan
from cuecard.annotate.sampling.size import design_effect, effective_size, n_in_tasks, width_of


@dataclass(frozen=True)
class Preview:
    """`population`, `trials` and `tasks`: how many items there are, of how many trials and tasks;
    `labels`: how many are to be given, in a draw of trials those that are expected.
    """

    strata: tuple[Stratum, ...]
    population: int
    trials: int
    tasks: int
    labels: float

    @property
    def items(self) -> float:
        """How many items are drawn; in a draw of trials those that are expected."""
        return sum(stratum.items for stratum in self.strata)

    @property
    def effective(self) -> float:
        """How many items drawn with equal chances would say as much, as far as weights go."""
        return effective_size((s.population, s.items) for s in self.strata)

    @property
    def left_out(self) -> int:
        """Strata from which nothing is drawn, for which the set will not speak."""
        return sum(not stratum.drawn for stratum in self.strata)

    def width(self, share: float, correlation: float = 0) -> float | None:
        """Of the 95% interval that is to be expected where about `share` agree and items of one task are
        correlated; None where nothing is drawn.
        """
        if not self.effective:
            return None
        effect = design_effect(self.items / self.tasks, correlation)
        return width_of(self.effective / effect, share)

    def n_for(self, width: float, share: float, correlation: float = 0) -> int | None:
        """How many items it takes, were they drawn with equal chances; None if there are too few. Raises
        `ValueError`.
        """
        return n_in_tasks(
            width, share, tasks=self.tasks, items=self.population, correlation=correlation
        )


def preview_of(units: Sequence[Unit], plan: SamplingPlan) -> Preview:
    """What `plan` would draw from these units."""
    strata = strata_of(units, plan)
    items = sum(stratum.items for stratum in strata)
    return Preview(
        strata=strata,
        population=len(units),
        trials=len({unit.trial_id for unit in units}),
        tasks=len({unit.task for unit in units}),
        labels=items * (1 + plan.overlap * (plan.raters - 1)),
    )
