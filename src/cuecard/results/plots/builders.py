"""Every plot of a pool."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.results.plots.model import Plot
from cuecard.results.pool import Dimension, Pool

AGENTS: tuple[Dimension, ...] = ("agent",)


def plots_of(pool: Pool, by: Sequence[Dimension] = AGENTS) -> tuple[Plot, ...]:
    """All plots that the pool has something to say for, family by family; the same for the same pool. `by`: what
    makes a series; where there are several judges, each has series of its own. A plot that was to be expected
    and cannot be drawn (no prices) is there and says why in `missing`.
    """
    raise NotImplementedError
