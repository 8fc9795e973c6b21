"""Two raters compared on the same items: the difference of their coefficients, resampled together."""

from __future__ import annotations

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
    )
