"""Every plot of a pool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cuecard.annotate.effect.ranking import MAIN
from cuecard.results.plots.arms import Field, fields_of
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
    return tuple(plot for field in fields_of(pool, by) for plot in _of_family(field))


def _of_family(field: Field) -> Iterator[Plot]:
    measure = MAIN[field.family]
    yield means(field, measure)
    yield against("cost", field, measure)
    yield against("tokens", field, measure)
    yield distribution(field, measure)
    yield by_domain(field, measure)
    turns = by_user_turns(field, measure)
    if turns:
        yield turns
    yield from curve_plots(field)
