"""Coefficients made into rows of a report: weighted, with both intervals."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.bootstrap import RESAMPLES, Method, with_intervals
from cuecard.annotate.agreement.linearised import linearised
from cuecard.annotate.agreement.tables import Row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cuecard.annotate.agreement.coefficient import Coefficient


@dataclass(frozen=True)
class Frame:
    """What the items of a table share: `groups` (the task of each, None: each is its own), `weights` (the
    inverse of the chance with which each was drawn, None: equal), and how intervals are made.
    """

    groups: Sequence[Hashable] | None = None
    weights: Sequence[float] | None = None
    resamples: int = RESAMPLES
    seed: int = 0
    method: Method = "percentile"

    def rows(self, coefficients: Sequence[Coefficient]) -> tuple[Row, ...]:
        """In their order, all from the same resamples. Raises `ValueError` unless coefficients, groups and
        weights are over the same items, and for weights that are not above 0.
        """
        weights = self._scaled()
        if weights is not None:
            coefficients = [coefficient.weighted(weights) for coefficient in coefficients]
        found = with_intervals(
            coefficients,
            self.groups,
            resamples=self.resamples,
            seed=self.seed,
            method=self.method,
        )
        return tuple(
            Row(
                name=coefficient.name,
                statistic=statistic,
                analytic=linearised(coefficient, self.groups) if statistic.defined else None,
            )
            for coefficient, statistic in zip(coefficients, found, strict=True)
        )

    def groups_of(self, used: NDArray[np.bool_]) -> int | None:
        """How many groups the used items belong to."""
        if self.groups is None:
            return None
        return len({group for group, is_used in zip(self.groups, used, strict=True) if is_used})

    def _scaled(self) -> NDArray[np.float64] | None:
        """Weights with mean 1: alpha corrects for the number of ratings, so their sum matters."""
        import numpy as np

        if self.weights is None:
            return None
        weights = np.asarray(self.weights, dtype=np.float64)
        if not np.isfinite(weights).all() or (weights <= 0).any():
            raise ValueError("weights are finite and above 0")
        return weights / weights.mean() if len(weights) else weights
