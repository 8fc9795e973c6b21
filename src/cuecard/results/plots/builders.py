"""Every plot of a pool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cuecard.annotate.effect.ranking import MAIN
from cuecard.core.tasks import FAMILIES, Family
from cuecard.results.plots.arms import Arm, arms_of
from cuecard.results.plots.curves import curve_plots
from cuecard.results.plots.distributions import distribution
from cuecard.results.plots.model import Plot
from cuecard.results.plots.scores import against, by_domain, by_user_turns, means
from cuecard.results.pool import Dimension, Pool

AGENTS: tuple[Dimension, ...] = ("agent",)


def plots_of(pool: Pool, by: Sequence[Dimension] = AGENTS) -> tuple[Plot, ...]:
    """All plots that the pool has something to say for, family by family; the same for the same pool. `by`: what
    makes a series; where there are several judges, each has series of its own. A plot that was to be expected
    and cannot be drawn (no prices) is there and says why in `missing`.
    """
    arms = arms_of(pool, by)
    return tuple(
        plot
        for family in FAMILIES
        if any(arm.judged for arm in arms.get(family, ()))
        for plot in _of_family(family, arms[family])
    )


def _of_family(family: Family, arms: Sequence[Arm]) -> Iterator[Plot]:
    measure = MAIN[family]
    yield means(family, measure, arms)
    yield against("cost", family, measure, arms)
    yield against("tokens", family, measure, arms)
    yield distribution(family, measure, arms)
    yield by_domain(family, measure, arms)
    turns = by_user_turns(family, measure, arms)
    if turns:
        yield turns
    yield from curve_plots(family, arms)
