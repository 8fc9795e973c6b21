"""Coefficients of several raters put together over the same items: their difference, their mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.coefficient import Coefficient
from cuecard.core.i18n import _

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def difference(one: Coefficient, other: Coefficient) -> Coefficient:
    """`one` minus `other`, as a coefficient over the same items: every resample draws the same items for
    both (a paired bootstrap), so what they have in common does not widen the interval.

    Raises `ValueError` if they are not over the same items.
    """
    import numpy as np

    if len(one.terms) != len(other.terms):
        raise ValueError("not over the same items")
    width = one.terms.shape[1]

    def apart(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return one.of(sums[..., :width]) - other.of(sums[..., width:])

    return Coefficient(
        name=f"{one.name}-{other.name}",
        terms=np.hstack([one.terms, other.terms]),
        of=apart,
        n=min(one.n, other.n),
        undefined=one.statistic.reason or other.statistic.reason or _("nothing to compare"),
        bounds=(one.bounds[0] - other.bounds[1], one.bounds[1] - other.bounds[0]),
        entered=min((c.entered for c in (one, other) if c.entered is not None), default=None),
    )


def mean_of(parts: Sequence[Coefficient]) -> Coefficient:
    """The plain mean of coefficients over the same items, such as those of several pairs of raters, over
    those that are defined. `n` is of the one that has most.

    Raises `ValueError` for none, or if they are not over the same items.
    """
    import numpy as np

    if len({len(part.terms) for part in parts}) != 1:
        raise ValueError("not over the same items")
    # A pair without a value in the sample would come and go with the resamples.
    known = [part for part in parts if part.statistic.defined]
    used = known or list(parts)
    ends = np.cumsum([part.terms.shape[1] for part in used])[:-1]

    def mean(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        split = np.split(sums, ends, axis=-1)
        return np.mean([part.of(own) for part, own in zip(used, split, strict=True)], axis=0)

    return Coefficient(
        name=used[0].name,
        terms=np.hstack([part.terms for part in used]),
        of=mean,
        n=max(part.n for part in used),
        undefined=used[0].undefined,
        bounds=used[0].bounds,
    )
