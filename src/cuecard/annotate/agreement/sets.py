"""Agreement of two sets that were built freely, such as the triples or cells of two annotators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.coefficient import Coefficient, ratio
from cuecard.core.i18n import _

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def set_agreement(counts: Sequence[tuple[int, int, int]]) -> tuple[Coefficient, ...]:
    """`precision`, `recall` and `f1` of first sets against second ones, pooled. `counts`, for each pair of sets
    (a task's two golds): how many elements mean the same, how many the first has, and the second. F1 does
    not depend on which of them is the reference (Hripcsak & Rothschild 2005, who show that kappa comes near
    it as what neither took grows without end; kappa itself is not defined here).

    Each row of the terms is a pair of sets, so that resampling draws tasks.
    """
    import numpy as np

    terms = np.array(counts, dtype=float).reshape(len(counts), 3)

    def precision(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return ratio(sums[..., 0], sums[..., 1])

    def recall(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return ratio(sums[..., 0], sums[..., 2])

    def f1(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return ratio(2 * sums[..., 0], sums[..., 1] + sums[..., 2])

    n = int(terms[:, 1:].sum() - terms[:, 0].sum()) if len(terms) else 0
    empty = _("both sets are empty")
    return (
        Coefficient("precision", terms, precision, n, _("the first set is empty")),
        Coefficient("recall", terms, recall, n, _("the second set is empty")),
        Coefficient("f1", terms, f1, n, empty),
    )
